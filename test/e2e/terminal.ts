import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { afterwards } from '../cleanups.js';
import { cli, type TestProject } from './running.js';

/** A command that runs in a terminal of its own, with somebody before it. */
interface Sitting {
  /** What the screen shows and what scrolled off it, a line each, without the spaces at their ends. */
  screen(): string;
  /** All that was written, with its control sequences. */
  written(): string;
  /** Resolves when the screen shows such a text; fails where the command ends without it. */
  shown(text: string | RegExp): Promise<void>;
  /** Presses keys. */
  type(keys: string): void;
  /** The process's exit code, when it has ended and the screen shows all of it. */
  readonly ended: Promise<number>;
}

interface TerminalOptions {
  readonly env?: { readonly [name: string]: string };
  /** A file that standard output goes to, in the place of the terminal. */
  readonly into?: string;
}

/** Runs the built command in a real terminal. */
export function sit(
  { folder, sandbox }: Pick<TestProject, 'folder' | 'sandbox'>,
  args: readonly string[],
  { env = {}, into }: TerminalOptions = {},
): Sitting {
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
  // What a program asks of its terminal, such as where the cursor is, is answered by the terminal.
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
