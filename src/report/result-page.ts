import {
  type ChangeResult,
  type Result,
  type Status,
  statusWords,
  summarizeResult,
} from '../apply/result.js';
import { shellWord } from '../base/escape.js';
import type { Change, Plan } from '../plan/plan.js';
import { changeBox, changeDetails, warningLine } from './changes.js';
import { changesPage } from './changes-page.js';
import { Emails } from './emails.js';
import { type HtmlOptions, planFacts } from './html.js';
import { type Insertable, markup } from './markup.js';
import { labelBeside } from './names.js';
import { nextSteps } from './next-steps.js';
import { notesOf } from './result-text.js';
import { isDestructive } from './review.js';
import { capitalized, plural } from './words.js';

/** Statuses with their badges and meanings, the most urgent first. */
const looks: {
  readonly [status in Status]: { readonly className: string; readonly meaning: string };
} = {
  failed: { className: 'failed', meaning: 'The server refused it, or could not be reached.' },
  not_converged: { className: 'failed', meaning: 'The server accepted it, but keeps another value.' },
  unknown: { className: 'doubtful', meaning: 'It was sent; the outcome is unknown.' },
  skipped: { className: 'doubtful', meaning: 'It was not sent.' },
  applied: { className: 'applied', meaning: '' },
};

const order = Object.keys(looks) as Status[];

/** A page that loads nothing and runs no script: failures first, with the differences of the plan. */
export function resultHtml(result: Result, plan: Plan, options: HtmlOptions): string {
  const { results } = result;
  const groups = groupsOf(result, plan);
  const changes = groups.flatMap(({ entries }) => entries.flatMap(({ change }) => change ?? []));
  const { profile } = plan;
  const context = {
    ...options,
    emails: new Emails(),
    profile,
    all: plan.changes,
    changes: results.length,
    done: true,
  };
  const summary = summarizeResult(result);
  const counts = order
    .toReversed()
    .filter((status) => summary[status] > 0 || status === 'applied')
    .map((status) => ({ count: summary[status], words: statusWords(status) }));
  const what = plan.undoes === undefined ? 'idops apply' : 'idops undo';
  return changesPage({
    title: `${what}: ${counts.map(({ count, words }) => `${count} ${words}`).join(', ')}`,
    heading: `${what} on ${plan.server}`,
    facts: [
      ...planFacts(plan),
      ...(result.run === null ? [] : [markup`Run <code>${result.run}</code>`]),
      `Planned at ${plan.createdAt} by idops ${plan.toolVersion}`,
    ],
    counts,
    notices: notices(result, plan),
    filters: [
      {
        name: 'status',
        legend: 'Status',
        values: results.map(({ status }) => status),
        words: Object.fromEntries(order.map((status) => [status, statusWords(status)])),
      },
      { name: 'kind', legend: 'Kind', values: changes.map(({ kind }) => kind) },
      { name: 'action', legend: 'Action', values: results.map(({ action }) => action) },
    ],
    only: [{ name: 'destructive', label: 'destructive', some: changes.some(isDestructive) }],
    groups,
    box: ({ number, badge, change, result: one }) => {
      const { status, action, unverified } = one;
      return changeBox({
        number,
        named: change ?? one,
        fold: change && { change, changes: [change] },
        matters: status !== 'applied',
        data: markup`data-status="${status}" data-action="${action}"`,
        badges: markup`<span class="badge ${badge.className}">${badge.word}</span> <span class="badge ${action}">${action}</span>`,
        notes: unverified.length > 0 ? markup`<span class="badge update">unverified</span>` : null,
        inside: [outcome(one), change === undefined ? null : changeDetails(change, context)],
        context,
      });
    },
    footer: markup`<p>Digest of the plan: <code>${plan.digest}</code></p>`,
  });
}

function groupsOf({ results }: Result, plan: Plan) {
  const changes = new Map<string, Change>(plan.changes.map((change) => [change.address, change]));
  let number = 0;
  return order.flatMap((status) => {
    const { className, meaning } = looks[status];
    const word = statusWords(status);
    const entries = results
      .filter((one) => one.status === status)
      .map((one) => {
        number += 1;
        const title = `${one.address}${labelBeside(one)}`;
        const badge = { word, className };
        return { number, objects: 1, title, badge, result: one, change: changes.get(one.address) };
      });
    if (entries.length === 0) return [];
    return [{ title: capitalized(word), meaning, filter: markup` data-status="${status}"`, entries }];
  });
}

function notices(result: Result, plan: Plan): Insertable {
  const { interrupted, results } = result;
  const wrong = results.filter(({ status }) => status !== 'applied').length;
  const unverified = results.filter((one) => one.unverified.length > 0).length;
  const where = plan.environment === null ? '' : ` --env ${shellWord(plan.environment)}`;
  return [
    results.length === 0 ? markup`<p class="note">There was nothing to do, so nothing was sent.</p>\n` : null,
    interrupted
      ? markup`<p class="loss"><strong>Interrupted</strong>: requests in flight were finished and recorded, and no more were sent.</p>\n`
      : null,
    wrong > 0
      ? markup`<p class="loss"><strong>${plural(wrong, 'change')} of ${results.length}</strong> did not end as planned, shown first.</p>\n`
      : null,
    unverified > 0
      ? markup`<p class="warning">The answers about ${plural(unverified, 'object')} did not carry all that was sent: those fields are unverified.</p>\n`
      : null,
    plan.undoes === undefined
      ? null
      : markup`<p class="note">This put back what run <code>${plan.undoes}</code> had changed.</p>\n`,
    nextSteps(result, plan).map(
      ({ before, command }) =>
        markup`<p class="note">${before}${command === null ? null : markup`<code>idops ${command}${where}</code>`}</p>\n`,
    ),
    plan.warnings.map(warningLine),
  ];
}

function outcome({ status, error, httpStatus, attempts, unverified, ...rest }: ChangeResult): Insertable {
  const asked = [
    ...(httpStatus === null ? [] : [`the last answer was HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [plural(attempts, 'request')] : []),
  ];
  return [
    error === null
      ? null
      : markup`<p class="${status === 'applied' || status === 'skipped' ? 'warning' : 'loss'}"><strong>${capitalized(statusWords(status))}:</strong> ${error}</p>\n`,
    status !== 'applied' && asked.length > 0 ? markup`<p class="quiet">${asked.join(', ')}</p>\n` : null,
    unverified.length === 0
      ? null
      : markup`<p class="warning"><strong>Unverified:</strong> not in the answer: ${unverified.join(', ')}</p>\n`,
    notesOf(rest).map((note) => markup`<p class="note">${note}</p>\n`),
  ];
}
