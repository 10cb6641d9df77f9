import type { RecordSummary } from '../apply/find-records.js';
import { escapeText, quoteIfNeeded } from '../base/escape.js';
import { type Fields, mapValues, withoutUndefined } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { jsonOf } from './json.js';
import { nameOf } from './names.js';
import type { TextOptions } from './text.js';
import { inline, plain, shorten, textOf } from './values.js';
import { colors, plural, wrap } from './words.js';

export interface ShownState {
  readonly place: string;
  readonly server: string;
  readonly lineage: string;
  readonly serial: number;
  readonly lastRun: string | null;
  readonly openRun: string | null;
  readonly records: readonly RecordSummary[];
  /** Whether the recorded fields are shown. */
  readonly withFields: boolean;
}

export function stateText(state: ShownState | undefined, options: TextOptions): string {
  if (state === undefined) return 'There is no state yet.\n';
  const paint = colors(options.color);
  const { records, withFields } = state;
  const lines = [
    `State:    ${escapeText(state.place)} (serial ${state.serial}, lineage ${quoteIfNeeded(state.lineage)})`,
    `Server:   ${escapeText(state.server)}`,
    `Last run: ${state.lastRun === null ? 'none' : escapeText(state.lastRun)}`,
    ...(state.openRun === null
      ? []
      : [`Open run: ${escapeText(state.openRun)}, which the next apply settles`]),
    '',
    ...records.flatMap((record) => [
      ...wrap('', nameOf(record)).map((line) => paint.bold(line)),
      ...remarks(record).flatMap((remark) => wrap('    ', remark)),
      ...(withFields ? [...recordedLines(record, options), ''] : []),
    ]),
    ...(withFields ? [] : ['', `${plural(records.length, 'record')}.`]),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function remarks(record: RecordSummary): string[] {
  const { managed, uncertain = [], did_generation: generation, owed, pending_regeneration: open } = record;
  return [
    `recorded ${record.recorded_at} ${record.run === null ? 'as the server had it' : `by run ${quoteIfNeeded(record.run)}`}`,
    ...(record.deleted === undefined ? [] : ['deleted by that run']),
    ...(managed.length === 0 ? [] : [`declared then: ${managed.map(quoteIfNeeded).join(', ')}`]),
    ...(generation === undefined ? [] : [`${kindOf(record.kind).regeneration?.counter ?? ''} ${generation}`]),
    ...(uncertain.length === 0 ? [] : [`outcome unknown: ${uncertain.map(quoteIfNeeded).join(', ')}`]),
    ...(owed === undefined
      ? []
      : [`run ${quoteIfNeeded(owed.run)} took something away from it, which apply restores`]),
    ...(open === undefined
      ? []
      : [`the outcome of the regeneration of run ${quoteIfNeeded(open)} is unknown`]),
  ];
}

function recordedLines({ fields, left }: RecordSummary, options: TextOptions): string[] {
  return [
    ...fieldLines(fields, options),
    ...(left === undefined
      ? []
      : [
          left.run === null
            ? '    as the server showed it:'
            : `    as run ${quoteIfNeeded(left.run)} left it:`,
          ...fieldLines(left.fields, options).map((line) => `  ${line}`),
        ]),
  ];
}

function fieldLines(fields: Fields, { debug }: TextOptions): string[] {
  return Object.entries(fields).map(([name, value]) => {
    const text = inline(value);
    return `    ${quoteIfNeeded(name)}: ${debug ? text : textOf(shorten([plain(text)]))}`;
  });
}

export function stateJson(state: ShownState | undefined): object {
  if (state === undefined) {
    const none = { state: null, server: null, lineage: null, serial: 0, last_run: null, open_run: null };
    return { format_version: 1, ...none, records: [] };
  }
  return {
    format_version: 1,
    state: state.place,
    server: state.server,
    lineage: state.lineage,
    serial: state.serial,
    last_run: state.lastRun,
    open_run: state.openRun,
    records: state.records.map((record) => ({
      address: record.address,
      ...withoutUndefined({ label: record.label }),
      kind: record.kind,
      recorded_at: record.recorded_at,
      run: record.run,
      managed: [...record.managed],
      fields: mapValues(record.fields, jsonOf),
      left: record.left ? { run: record.left.run, fields: mapValues(record.left.fields, jsonOf) } : null,
      did_generation: record.did_generation ?? null,
      uncertain: record.uncertain ?? [],
      owed_by: record.owed?.run ?? null,
      regenerated_by: record.pending_regeneration ?? null,
      deleted: record.deleted !== undefined,
    })),
  };
}
