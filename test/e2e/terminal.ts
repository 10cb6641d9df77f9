import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { afterwards } from '../cleanups.js';
import { cli, type TestProject } from './running.js';

/** A command in a terminal. */
interface TerminalSession {
  /** The lines of the screen, including those that scrolled off, without trailing spaces. */
  screen(): string;
  /** Everything written, with control sequences. */
  written(): string;
  /** Resolves when the screen shows a text; rejects if the command ends first. */
  shown(text: string | RegExp): Promise<void>;
  /** Types keys. */
  type(keys: string): void;
  /** The exit code, after the process has ended and the screen shows all its output. */
  readonly ended: Promise<number>;
}

interface TerminalOptions {
  readonly env?: { readonly [name: string]: string };
  /** A file for standard output instead of the terminal. */
  readonly into?: string;
}

/** Runs the built command in a pseudoterminal. */
export function runInTerminal(
  { folder, sandbox }: Pick<TestProject, 'folder' | 'sandbox'>,
  args: readonly string[],
  { env = {}, into }: TerminalOptions = {},
): TerminalSession {
  const terminal = new Terminal({ cols: 100, rows: 40, scrollback: 20_000, allowProposedApi: true });
  const given = [process.execPath, cli, ...args];
  const [program = '', ...words] =
    into === undefined
      ? given
      : ['/bin/sh', '-c', 'into=$1; shift; exec "$@" > "$into"', 'sh', into, ...given];
  const child = spawn(program, words, {
    cols: 100,
    rows: 40,
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      TERM: 'xterm-256color',
      IDOPS_BASE_URL: sandbox.url,
      IDOPS_TOKEN: sandbox.token,
      ...env,
    },
  });
  let written = '';
  let over = false;
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const waiter of [...waiting]) waiter();
  };
  const screen = (): string => {
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  };
  child.onData((data) => {
    written += data;
    terminal.write(data, look);
  });
  // The terminal answers queries of the program, such as the cursor position.
  terminal.onData((answer) => child.write(answer));
  const ended = new Promise<number>((done) => {
    child.onExit(({ exitCode, signal }) => {
      over = true;
      terminal.write('', () => {
        look();
        done(signal ? 128 + signal : exitCode);
      });
    });
  });
  afterwards(() => {
    if (!over) child.kill('SIGKILL');
    terminal.dispose();
  });
  return {
    screen,
    written: () => written,
    shown: (text) =>
      new Promise((done, failed) => {
        const waiter = (): void => {
          const seen = screen();
          if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) done();
          else if (over) failed(new Error(`ended without showing ${text}:\n${seen}`));
          else return;
          waiting.delete(waiter);
        };
        waiting.add(waiter);
        waiter();
      }),
    type: (keys) => child.write(keys),
    ended,
  };
}
