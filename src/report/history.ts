import type { PastChange, PastRun } from '../apply/history.js';
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
export function historyText({ past }: History, options: TextOptions): string {
  const paint = colors(options.color);
  const lines = past.flatMap(({ run, change }) => [
    ...wrap('', `${run.run}  ${run.command} by ${who(run)}`).map((line) => paint.bold(line)),
    ...pastLines(change, options),
    '',
  ]);
  return lines.join('\n');
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
