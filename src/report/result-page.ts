import { type ChangeResult, type Result, type Status, summarizeResult } from '../apply/result.js';
import { shardText } from '../base/shard.js';
import { shellWord } from '../base/shell.js';
import type { NamedSample } from '../mail/samples.js';
import type { Change, Plan } from '../plan/plan.js';
import {
  type ChangeContext,
  changeClasses,
  changeDetails,
  changePlace,
  changeTitle,
  foldBox,
  showsEmail,
  Unfolding,
  warningLine,
} from './changes.js';
import { aboutEmails, contents, controls, countsList, factsList } from './contents.js';
import { Emails } from './emails.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { labelBeside } from './names.js';
import { nextSteps } from './next.js';
import { pageText } from './page.js';
import { isDestructive } from './review.js';
import { plural } from './words.js';

/** What a page of a result is made with. */
export interface ResultHtmlOptions {
  /** The plan that was followed; null where nobody has it, so that no differences are shown. */
  readonly plan: Plan | null;
  /** What emails are rendered with, by the template's address; made up where there is nothing. */
  readonly samples: ReadonlyMap<string, readonly NamedSample[]>;
  /** Requests too. */
  readonly debug: boolean;
}

/** What each status is called, the class of its badge, and what it means; those that a person has to look at first. */
const statuses: {
  readonly [status in Status]: {
    readonly word: string;
    readonly className: string;
    readonly meaning: string;
  };
} = {
  failed: {
    word: 'failed',
    className: 'failed',
    meaning: 'The server refused it, or could not be reached.',
  },
  not_converged: {
    word: 'not converged',
    className: 'failed',
    meaning: 'The server answered well, and keeps another value.',
  },
  unknown: {
    word: 'unknown',
    className: 'doubtful',
    meaning: 'It was sent, and nobody can tell whether it was done.',
  },
  skipped: { word: 'not sent', className: 'doubtful', meaning: 'It was not sent.' },
  applied: { word: 'applied', className: 'applied', meaning: '' },
};

const order = Object.keys(statuses) as Status[];

/** One result, the change that it is of, and its place in the page. */
interface Entry {
  readonly number: number;
  readonly address: string;
  readonly badge: { readonly word: string; readonly className: string };
  readonly result: ChangeResult;
  readonly change: Change | undefined;
}

/**
 * What a run did as one page in one file, which loads nothing and runs no script: what went wrong first, each with the
 * differences that the plan showed.
 */
export function resultHtml(result: Result, { plan, samples, debug }: ResultHtmlOptions): string {
  const groups = grouped(result, plan);
  const entries = groups.flatMap((group) => group.entries);
  const emails = new Emails();
  const context: ChangeContext = {
    samples,
    debug,
    emails,
    unfolding: new Unfolding(entries.length),
  };
  const summary = summarizeResult(result);
  const counted = order.toReversed().filter((status) => summary[status] > 0 || status === 'applied');
  const what = plan?.undoes === undefined ? 'idops apply' : 'idops undo';
  return pageText({
    title: `${what}: ${counted.map((status) => `${summary[status]} ${statuses[status].word}`).join(', ')}`,
    content: markup`<header>
<h1>${what}${plan === null ? null : ` on ${plan.server}`}</h1>
${factsList(facts(result, plan))}
${countsList(counted.map((status) => ({ count: summary[status], words: statuses[status].word })))}
</header>
<main id="main">
${notices(result, plan)}
${entries.some(({ change }) => change !== undefined && showsEmail(change)) ? aboutEmails : null}
${
  entries.length > 1
    ? [
        controls(
          [
            {
              name: 'status',
              legend: 'Status',
              values: entries.map(({ result: { status } }) => status),
              words: Object.fromEntries(order.map((status) => [status, statuses[status].word])),
            },
            { name: 'kind', legend: 'Kind', values: entries.flatMap(({ change }) => change?.kind ?? []) },
            { name: 'action', legend: 'Action', values: entries.map(({ result: { action } }) => action) },
          ],
          [
            {
              name: 'destructive',
              label: 'destructive',
              some: entries.some(({ change }) => change !== undefined && isDestructive(change)),
            },
          ],
        ),
        contents(groups),
      ]
    : null
}
${groups.map(
  ({ title, status, meaning, entries: inGroup }) => markup`<section class="group" data-status="${status}">
<h2>${title} (${inGroup.length})</h2>
${meaning === '' ? null : markup`<p class="quiet">${meaning}</p>\n`}
${inGroup.map((entry) => resultBox(entry, context))}</section>
`,
)}
</main>${
      plan === null
        ? null
        : markup`
<footer>
<p>Digest of the plan: <code>${plan.digest}</code></p>
</footer>`
    }`,
  });
}

interface Group {
  readonly title: string;
  readonly status: Status;
  readonly meaning: string;
  readonly entries: readonly Entry[];
}

function grouped({ results }: Result, plan: Plan | null): Group[] {
  const changes = new Map(plan?.changes.map((change) => [change.address, change]));
  let number = 0;
  return order.flatMap((status) => {
    const { word, className, meaning } = statuses[status];
    const entries = results
      .filter((one) => one.status === status)
      .map((one): Entry => {
        number += 1;
        return {
          number,
          address: `${one.address}${labelBeside(one)}`,
          badge: { word, className },
          result: one,
          change: changes.get(one.address),
        };
      });
    const title = word.charAt(0).toUpperCase() + word.slice(1);
    return entries.length === 0 ? [] : [{ title, status, meaning, entries }];
  });
}

function facts({ run, shard }: Result, plan: Plan | null): Insertable[] {
  const started = run === null ? undefined : startOf(run);
  return [
    ...(plan === null
      ? []
      : [
          markup`Profile <code>${plan.profile}</code>`,
          markup`Environment ${plan.environment === null ? 'none' : markup`<code>${plan.environment}</code>`}`,
        ]),
    ...(run === null ? [] : [markup`Run <code>${run}</code>`]),
    ...(shard === undefined ? [] : [`Shard ${shardText(shard)}`]),
    ...(started === undefined ? [] : [`Started at ${started}`]),
    ...(plan === null ? [] : [`Planned at ${plan.createdAt} by idops ${plan.toolVersion}`]),
  ];
}

/** When a run began, as its name tells it. */
function startOf(run: string): string | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(run) ?? [];
  if (parts.length === 0) return undefined;
  const [year, month, day, hour, minute, second] = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

function notices(result: Result, plan: Plan | null): Insertable {
  const { interrupted, results } = result;
  const { failed, not_converged, unknown, skipped } = summarizeResult(result);
  const wrong = failed + not_converged + unknown + skipped;
  const unverified = results.filter((one) => one.unverified.length > 0).length;
  const environment = plan?.environment ?? null;
  const where = environment === null ? '' : ` --env ${shellWord(environment)}`;
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
    plan?.undoes === undefined
      ? null
      : markup`<p class="note">This put back what run <code>${plan.undoes}</code> had changed.</p>\n`,
    nextSteps(result, plan ?? {}).map(
      ({ before, command }) =>
        markup`<p class="note">${before}${command === null ? null : markup`<code>idops ${command}${where}</code>`}</p>\n`,
    ),
    plan?.warnings.map(warningLine) ?? null,
  ];
}

function resultBox({ number, result, change, badge }: Entry, context: ChangeContext): Markup {
  const { address, action, status, unverified } = result;
  const kind = change === undefined ? null : markup` data-kind="${change.kind}"`;
  return foldBox({
    number,
    open: context.unfolding.next(status !== 'applied'),
    classes: change === undefined ? [] : changeClasses(change),
    data: markup`data-status="${status}" data-action="${action}"${kind}`,
    summary: markup`<span class="badge ${badge.className}">${badge.word}</span> <span class="badge ${action}">${action}</span> ${
      change === undefined
        ? markup`<code class="address">${address}</code>${labelBeside(result)}`
        : changeTitle(change)
    }
${unverified.length > 0 ? markup`<span class="badge update">unverified</span>` : null}
${change === undefined ? null : changePlace(change)}`,
    inside: [outcome(result), change === undefined ? null : changeDetails(change, context, status)],
  });
}

/** What became of a change, in full. */
function outcome({ status, error, httpStatus, attempts, unverified, notes = [] }: ChangeResult): Insertable {
  const { word } = statuses[status];
  const heading = word.charAt(0).toUpperCase() + word.slice(1);
  const asked = [
    ...(httpStatus === null ? [] : [`the last answer was HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [plural(attempts, 'request')] : []),
  ];
  return [
    error === null
      ? null
      : markup`<p class="${status === 'applied' || status === 'skipped' ? 'warning' : 'loss'}"><strong>${heading}:</strong> ${error}</p>\n`,
    status !== 'applied' && asked.length > 0 ? markup`<p class="quiet">${asked.join(', ')}</p>\n` : null,
    unverified.length === 0
      ? null
      : markup`<p class="warning"><strong>Unverified:</strong> not in the answer: ${unverified.join(', ')}</p>\n`,
    notes.map((note) => markup`<p class="note">${note}</p>\n`),
  ];
}
