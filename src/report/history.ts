import type { PastChange, PastRun } from '../apply/history.js';
import { bare } from '../base/escape.js';
import { pastChangeJson, pastLines, who } from './runs.js';
import type { TextOptions } from './text.js';
import { colors, wrap } from './words.js';

/** What runs did to one object, the newest last. */
export interface History {
  /** As it is asked for. */
  readonly address: string;
  readonly past: readonly { readonly run: PastRun['run']; readonly change: PastChange }[];
}

/** The history of one object: which run, by whom, and what it changed. */
export function historyText({ address, past }: History, options: TextOptions): string {
  const paint = colors(options.color);
  const lines = past.flatMap(({ run, change }) => [
    ...wrap('', `${run.run}  ${run.command} by ${who(run)}`).map((line) => paint.bold(line)),
    ...pastLines(change, options),
    '',
  ]);
  const closing = sums(past).map((sum) => `${sum} ${bare(address)}.`);
  return `${[...lines, ...closing.flatMap((line) => wrap('', line))].join('\n')}\n`;
}

/** How many runs wrote the object, and how many only recorded it. */
function sums(past: History['past']): string[] {
  const count = (some: History['past']) => {
    const { size } = new Set(some.map(({ run }) => run.run));
    return size === 1 ? '1 run' : `${size} runs`;
  };
  const recorded = past.filter(({ change }) => change.change.action === 'adopt');
  const wrote = past.filter(({ change }) => change.change.action !== 'adopt');
  return [
    ...(wrote.length > 0 ? [`${count(wrote)} of this state wrote`] : []),
    ...(recorded.length > 0 ? [`${count(recorded)} of this state recorded, without sending anything,`] : []),
  ];
}

/** The same as `runs --address --format json` gives it. */
export function historyJson({ address, past }: History): object {
  return {
    format_version: 1,
    address,
    changes: past.map(({ run, change }) => ({
      run: run.run,
      command: run.command,
      user: run.user,
      host: run.host,
      server: run.server,
      environment: run.environment,
      ...pastChangeJson(change),
    })),
  };
}
