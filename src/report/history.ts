import { identify } from '../base/identifiers.js';
import { problemError } from '../base/problems.js';
import type { PastChange, PastRun } from './past.js';
import { commandOf, messageLines, originJson, pastChangeJson, pastLines, runAuthor } from './runs.js';
import type { TextOptions } from './text.js';
import { colors, wrap } from './words.js';

/** The changes of an object by runs, newest last. */
export interface History {
  readonly address: string;
  readonly past: readonly { readonly run: PastRun['run']; readonly change: PastChange }[];
}

export function historyText({ past }: History, options: TextOptions): string {
  if (past.length === 0) return 'No run matches.\n';
  const paint = colors(options.color);
  const lines = past.flatMap(({ run, change }) => [
    ...wrap('', `${run.run}  ${commandOf(run)} by ${runAuthor(run)}`).map((line) => paint.bold(line)),
    ...messageLines(run),
    ...pastLines(change, options),
    '',
  ]);
  return lines.join('\n');
}

export function historyJson({ address, past }: History): object {
  return {
    format_version: 1,
    address,
    changes: past.map(({ run, change }) => ({
      run: run.run,
      command: run.command,
      user: run.user,
      host: run.host,
      ...originJson(run),
      server: run.server,
      environment: run.environment,
      ...pastChangeJson(change),
    })),
  };
}

/** The changes of an object under all its names, oldest first. Throws a ProblemsError (`no-such-address`) if there are none. */
export function historyOf(
  runs: readonly PastRun[],
  address: string,
  recorded: readonly string[],
): History['past'] {
  const all = runs.flatMap(({ run, changes }) => changes.map((change) => ({ run, change })));
  const changes = all.map(({ change }) => change);
  const found = [address, ...recorded].map((one) => identify(changes, one, [addresses, ids, names]));
  const keys = new Set(found.find((matches) => matches.length > 0)?.map(({ key }) => key));
  if (keys.size > 0) return all.filter(({ change }) => keys.has(change.key));
  throw problemError(
    'no-such-address',
    `no run of this state wrote ${address}`,
    'an address is KIND/ID, such as User/9b1d…, as plans and idops runs show write it; an id or a name without the kind works too; idops runs lists the runs',
  );
}

function addresses({ change: { address }, key }: PastChange): string[] {
  return [address, key];
}

/** The ids after the kind: all of them, and only the first one. */
function ids({ change: { kind }, key }: PastChange): string[] {
  const whole = key.slice(kind.length + 1);
  const [first = '', ...rest] = whole.split('/');
  return rest.length === 0 ? [whole] : [whole, first, `${kind}/${first}`];
}

function names({ change: { kind, label, address }, key, nameAfter }: PastChange): string[] {
  const [, ...rest] = key.slice(kind.length + 1).split('/');
  return [address.slice(kind.length + 1), label, nameAfter]
    .flatMap((name) =>
      name === undefined ? [] : rest.length === 0 ? [name] : [name, [name, ...rest].join('/')],
    )
    .flatMap((name) => [name, `${kind}/${name}`]);
}
