import type { PrunePlan } from '../apply/prune.js';
import { summarizeResult } from '../apply/result.js';
import { escapeText, quoteIfNeeded } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { withoutUndefined } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { fieldJson } from './json.js';
import { type NamedObject, nameOf } from './names.js';
import type { PastChange, PastPart, PastRun } from './past.js';
import { outcomeCounts } from './result-text.js';
import { changeForDisplay } from './stored.js';
import { changeLines, type TextOptions, textStyle } from './text.js';
import { colors, plural, wrap } from './words.js';

export interface ShownRuns {
  readonly runs: readonly PastRun[];
  /** Objects of these kinds are listed first. */
  readonly kinds: readonly string[];
  /** The sentence that is shown if there are no runs. */
  readonly none: string;
}

export function runsText({ runs, kinds, none }: ShownRuns, { color }: TextOptions): string {
  if (runs.length === 0) return `${none}\n`;
  const paint = colors(color);
  const lines = runs.flatMap((past) => {
    const { run, ended, changes, parts } = past;
    const suffix = ended === 'finished' ? '' : ` (${ended})`;
    const when = run.at.slice(0, 16).replace('T', ' ');
    return [
      `${paint.bold(escapeText(run.run))}  ${escapeText(when)}  ${commandOf(run)}${shardsSuffix(parts)} by ${runAuthor(run)}: ${countsText(changes)}${suffix}`,
      ...wrap('    ', firstFew(objectsOf(past, kinds).map(nameOf), maxNamed)),
      ...messageLines(run),
    ];
  });
  return `${lines.join('\n')}\n`;
}

const maxNamed = 3;

/** The objects of a run, those of these kinds first. */
function objectsOf({ changes }: PastRun, kinds: readonly string[]): NamedObject[] {
  const rank = ({ change }: PastChange) => (kinds.includes(change.kind) ? 0 : 1);
  const ordered = changes.toSorted((a, b) => rank(a) - rank(b));
  return ordered.map(({ change: { address, label } }) => ({ address, label }));
}

export function messageLines({ message }: PastRun['run']): string[] {
  return message === undefined ? [] : wrap('    message: ', message);
}

export function runText(past: PastRun, options: TextOptions): string {
  const paint = colors(options.color);
  const { run, ended, changes, parts = [] } = past;
  const lines = [
    `Run:         ${paint.bold(escapeText(run.run))} (${ended})`,
    `Command:     ${commandOf(run)}, idops ${escapeText(run.tool_version)}`,
    `When:        ${escapeText(run.at)}`,
    ...(run.now === undefined ? [] : [`As of:       ${escapeText(run.now)} (--now)`]),
    `Who:         ${runAuthor(run)}, process ${run.pid}${run.actor === undefined ? '' : ` of ${userAndHost(run)}`}`,
    ...(run.commit === undefined ? [] : [`Commit:      ${escapeText(run.commit)}`]),
    ...(run.run_url === undefined ? [] : [`CI:          ${escapeText(run.run_url)}`]),
    ...(run.message === undefined ? [] : [`Message:     ${escapeText(run.message)}`]),
    `Server:      ${escapeText(run.server)}`,
    `Profile:     ${escapeText(run.profile)}`,
    `Environment: ${run.environment === null ? 'none' : escapeText(run.environment)}`,
    ...(parts.length === 0
      ? [`Digest:      ${escapeText(run.digest)}`]
      : ['Shards:', ...parts.flatMap((part) => wrap('  ', shardLine(part)))]),
    '',
    ...changes.flatMap((change) => [...pastLines(change, options), '']),
  ];
  return `${[...lines, countsText(changes)].join('\n')}\n`;
}

function shardsSuffix(parts: PastRun['parts']): string {
  const [first] = parts ?? [];
  if (parts === undefined || first === undefined) return '';
  const { count } = first.shard;
  const started = new Set(parts.map(({ shard }) => shard.index)).size;
  return started === count ? ` of ${count} shards` : ` of ${started} of ${count} shards`;
}

function shardLine({ shard, run, ended, changes }: PastPart): string {
  const { run: journal, at, pid, digest } = run;
  return `${shardText(shard)} (${ended}): ${countsText(changes)}; ${journal}, ${at}, by ${runAuthor(run)}, process ${pid}, ${digest}`;
}

export function pastLines({ change, result, at }: PastChange, options: TextOptions): string[] {
  const pen = textStyle(options);
  const { paint } = pen;
  const status = result === null ? 'no answer yet' : result.status;
  const error = result?.error ?? null;
  return [
    ...changeLines(changeForDisplay(change), pen),
    ...(change.action === 'adopt' ? ['    recorded, nothing was sent'] : []),
    `    ${result?.status === 'applied' ? paint.green(status) : paint.red(status)} ${escapeText(at)}`,
    ...(error === null ? [] : wrap('    error: ', error)),
    ...(result?.notes ?? []).flatMap((note) => wrap('    note: ', note)),
  ];
}

/** Who started a run: the actor that CI names, or else the user and host, and the commit's author; with the pull request, if any. */
export function runAuthor(run: PastRun['run']): string {
  const { actor, author, pull_request } = run;
  const request = pull_request === undefined ? '' : ` (pull request ${pull_request})`;
  if (actor !== undefined) return `${quoteIfNeeded(actor)}${request}`;
  return `${userAndHost(run)}${author === undefined ? '' : `, commit by ${quoteIfNeeded(author)}`}${request}`;
}

/** `apply`, or `undo of RUN`. */
export function commandOf({ command, undoes }: PastRun['run']): string {
  return quoteIfNeeded(undoes === undefined ? command : `${command} of ${undoes}`);
}

function userAndHost({ user, host }: PastRun['run']): string {
  return `${quoteIfNeeded(user)} on ${quoteIfNeeded(host)}`;
}

function countsText(changes: readonly PastChange[]): string {
  const results = changes.flatMap(({ result }) => result ?? []);
  const open = changes.length - results.length;
  return `${outcomeCounts(results)}${open > 0 ? `, ${open} without an answer` : ''}`;
}

export function runsJson({ runs, kinds }: ShownRuns): object {
  return {
    format_version: 1,
    runs: runs.map((past) => {
      const objects = objectsOf(past, kinds);
      const first = objects.slice(0, maxNamed);
      return { ...runJsonHeader(past), objects: { first, more: objects.length - first.length } };
    }),
  };
}

export function runJson(past: PastRun): object {
  return { format_version: 1, ...runJsonHeader(past), changes: past.changes.map(pastChangeJson) };
}

export function pastChangeJson({ change, at, result }: PastChange): object {
  return {
    address: change.address,
    ...withoutUndefined({ label: change.label }),
    kind: change.kind,
    action: change.action,
    at,
    fields: change.fields.map(fieldJson),
    status: result?.status ?? null,
    http_status: result?.httpStatus ?? null,
    attempts: result?.attempts ?? null,
    unverified: [...(result?.unverified ?? [])],
    error: result?.error ?? null,
    ...withoutUndefined({ notes: result?.notes && [...result.notes] }),
  };
}

function runJsonHeader({ parts, ...past }: PastRun): object {
  return {
    ...headerFields(past),
    ...withoutUndefined({ shards: parts?.map(({ shard, ...part }) => ({ shard, ...headerFields(part) })) }),
  };
}

function headerFields({ run, ended, changes }: PastRun): object {
  const results = changes.flatMap(({ result }) => result ?? []);
  return {
    run: run.run,
    command: run.command,
    ...withoutUndefined({ undoes: run.undoes }),
    at: run.at,
    ended,
    user: run.user,
    host: run.host,
    pid: run.pid,
    ...originJson(run),
    server: run.server,
    profile: run.profile,
    environment: run.environment,
    tool_version: run.tool_version,
    ...withoutUndefined({ now: run.now }),
    digest: run.digest,
    summary: summarizeResult({ results }),
  };
}

export function originJson(run: PastRun['run']): object {
  const { actor = null, author = null, commit = null, pull_request = null } = run;
  const { run_url = null, message = null } = run;
  return { actor, author, commit, pull_request, run_url, message };
}

export function journalLines(runs: readonly PrunePlan['remove'][number][]): string[] {
  return runs.map(({ run, command, at }) => escapeText(`- ${run}  ${command} at ${at}`));
}

export function pruningText({ remove, keep }: PrunePlan): string {
  const summary = `${plural(remove.length, 'journal')} removed, ${keep.length} kept.`;
  return `${[...journalLines(remove), summary].join('\n')}\n`;
}

export function pruningJson({ remove, keep, needed }: PrunePlan): object {
  const journalJson = ({ run, command, at }: PrunePlan['remove'][number]) => ({ run, command, at });
  const reasons = new Map(needed.map(({ run, why }) => [run.run, why]));
  return {
    format_version: 1,
    removed: remove.map(journalJson),
    kept: keep.map((run) => ({ ...journalJson(run), reason: reasons.get(run.run) ?? null })),
  };
}
