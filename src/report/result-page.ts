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
import { labelSuffix } from './names.js';
import { nextSteps } from './next-steps.js';
import { notesOf } from './result-text.js';
import { isDestructive } from './review.js';
import { capitalized, plural } from './words.js';

/** Badges and meanings of statuses, the most urgent first. */
const statusStyles: {
  readonly [status in Status]: { readonly className: string; readonly meaning: string };
} = {
  failed: { className: 'failed', meaning: 'The server refused it, or could not be reached.' },
  not_converged: { className: 'failed', meaning: 'The server accepted it, but keeps another value.' },
  unknown: { className: 'doubtful', meaning: 'It was sent; the outcome is unknown.' },
  skipped: { className: 'doubtful', meaning: 'It was not sent.' },
  applied: { className: 'applied', meaning: '' },
};

const order = Object.keys(statusStyles) as Status[];

/** A result as a page that loads nothing and runs no script: failures first, with the differences of the plan. */
export function resultHtml(result: Result, plan: Plan, options: HtmlOptions): string {
  const { results } = result;
  const groups = groupsOf(result, plan);
  const changes = groups.flatMap(({ entries }) => entries.flatMap(({ change }) => change ?? []));
  const { profile } = plan;
  const context = {
    ...options,
    emails: new Emails(),
    profile,
    allChanges: plan.changes,
    boxCount: results.length,
    isResult: true,
  };
  const summary = summarizeResult(result);
  const counts = order
    .toReversed()
    .filter((status) => summary[status] > 0 || status === 'applied')
    .map((status) => ({ count: summary[status], words: statusWords(status) }));
  const command = plan.undoes === undefined ? 'idops apply' : 'idops undo';
  return changesPage({
    title: `${command}: ${counts.map(({ count, words }) => `${count} ${words}`).join(', ')}`,
    heading: `${command} on ${plan.server}`,
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
        labels: Object.fromEntries(order.map((status) => [status, statusWords(status)])),
      },
      { name: 'kind', legend: 'Kind', values: changes.map(({ kind }) => kind) },
      { name: 'action', legend: 'Action', values: results.map(({ action }) => action) },
    ],
    toggles: [{ name: 'destructive', label: 'destructive', hasMatch: changes.some(isDestructive) }],
    groups,
    renderEntry: ({ number, badge, change, result: one }) => {
      const { status, action, unverified } = one;
      return changeBox({
        number,
        named: change ?? one,
        fold: change && { change, changes: [change] },
        isImportant: status !== 'applied',
        attributes: markup`data-status="${status}" data-action="${action}"`,
        badges: markup`<span class="badge ${badge.className}">${badge.word}</span> <span class="badge ${action}">${action}</span>`,
        notes: unverified.length > 0 ? markup`<span class="badge update">unverified</span>` : null,
        content: [outcome(one), change === undefined ? null : changeDetails(change, context)],
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
    const { className, meaning } = statusStyles[status];
    const word = statusWords(status);
    const entries = results
      .filter((one) => one.status === status)
      .map((one) => {
        number += 1;
        const title = `${one.address}${labelSuffix(one)}`;
        const badge = { word, className };
        return { number, objects: 1, title, badge, result: one, change: changes.get(one.address) };
      });
    if (entries.length === 0) return [];
    return [{ title: capitalized(word), meaning, filter: markup` data-status="${status}"`, entries }];
  });
}

function notices(result: Result, plan: Plan): Insertable {
  const { interrupted, results } = result;
  const notApplied = results.filter(({ status }) => status !== 'applied').length;
  const unverified = results.filter((one) => one.unverified.length > 0).length;
  const env = plan.environment === null ? '' : ` --env ${shellWord(plan.environment)}`;
  return [
    results.length === 0 ? markup`<p class="note">There was nothing to do, so nothing was sent.</p>\n` : null,
    interrupted
      ? markup`<p class="loss"><strong>Interrupted</strong>: requests in flight were finished and recorded, and no more were sent.</p>\n`
      : null,
    notApplied > 0
      ? markup`<p class="loss"><strong>${plural(notApplied, 'change')} of ${results.length}</strong> did not end as planned, shown first.</p>\n`
      : null,
    unverified > 0
      ? markup`<p class="warning">The answers about ${plural(unverified, 'object')} did not contain all that was sent: the missing fields are unverified.</p>\n`
      : null,
    plan.undoes === undefined
      ? null
      : markup`<p class="note">This put back what run <code>${plan.undoes}</code> had changed.</p>\n`,
    nextSteps(result, plan).map(
      ({ before, command }) =>
        markup`<p class="note">${before}${command === null ? null : markup`<code>idops ${command}${env}</code>`}</p>\n`,
    ),
    plan.warnings.map(warningLine),
  ];
}

function outcome({ status, error, httpStatus, attempts, unverified, ...rest }: ChangeResult): Insertable {
  const requests = [
    ...(httpStatus === null ? [] : [`the last answer was HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [plural(attempts, 'request')] : []),
  ];
  return [
    error === null
      ? null
      : markup`<p class="${status === 'applied' || status === 'skipped' ? 'warning' : 'loss'}"><strong>${capitalized(statusWords(status))}:</strong> ${error}</p>\n`,
    status !== 'applied' && requests.length > 0
      ? markup`<p class="quiet">${requests.join(', ')}</p>\n`
      : null,
    unverified.length === 0
      ? null
      : markup`<p class="warning"><strong>Unverified:</strong> not in the answer: ${unverified.join(', ')}</p>\n`,
    notesOf(rest).map((note) => markup`<p class="note">${note}</p>\n`),
  ];
}
