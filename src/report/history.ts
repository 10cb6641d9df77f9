import type { PastChange, PastRun } from '../apply/history.js';
import { nameOf } from './names.js';
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
  const label = past.findLast(({ change }) => change.change.label !== undefined)?.change.change.label;
  const lines = past.flatMap(({ run, change }) => [
    ...wrap('', `${run.run}  ${run.command} by ${who(run)}`, options.columns).map((line) => paint.bold(line)),
    ...pastLines(change, options),
    '',
  ]);
  const runs = past.length === 1 ? '1 run' : `${past.length} runs`;
  return `${[...lines, ...wrap('', `${runs} of this state wrote ${nameOf({ address, label })}.`, options.columns)].join('\n')}\n`;
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
