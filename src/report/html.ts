import { shardText } from '../base/shard.js';
import type { NamedSample } from '../mail/samples.js';
import { isDrifted } from '../plan/drift.js';
import { type Action, type Plan, summarize } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { type ChangeContext, changeBox, type Entry, showsEmail, Unfolding, warningLine } from './changes.js';
import { aboutEmails, contents, controls, countsList, factsList } from './contents.js';
import { Emails } from './emails.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { labelBeside } from './names.js';
import { pageText } from './page.js';
import {
  allWarnings,
  destructiveCount,
  headline,
  isDestructive,
  reviewGroups,
  shareNotes,
  shownPart,
} from './review.js';
import { actionWords, plural } from './words.js';

export interface HtmlOptions {
  /** What emails are rendered with, by the template's address; made up where there is nothing. */
  readonly samples: ReadonlyMap<string, readonly NamedSample[]>;
  /** Unchanged objects and requests too. */
  readonly debug: boolean;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
}

/** A plan as one page in one file, which loads nothing and runs no script. Emails are rendered in frames that may do neither. */
export function planHtml(plan: Plan, options: HtmlOptions): string {
  const groups = numbered(plan, options);
  const entries = groups.flatMap((group) => group.entries);
  const shown = entries.map(({ change }) => change);
  const emails = new Emails();
  const context = { ...options, emails, unfolding: new Unfolding(shown.length) };
  const summary = summarize(plan);
  const told = (Object.keys(actionWords) as Action[]).filter(
    (action) => summary[action] > 0 || action === 'update' || action === 'unchanged',
  );
  return pageText({
    title: `Plan: ${headline(plan)}`,
    content: markup`<header>
<h1>idops plan for ${plan.server}</h1>
${factsList([
  markup`Profile <code>${plan.profile}</code>`,
  markup`Environment ${plan.environment === null ? 'none' : markup`<code>${plan.environment}</code>`}`,
  ...(plan.shard === undefined ? [] : [`Shard ${shardText(plan.shard)}`]),
  `Made at ${plan.createdAt} by idops ${plan.toolVersion}`,
])}
${countsList(told.map((action) => ({ count: summary[action], words: actionWords[action] })))}
</header>
<main id="main">
${notices(plan, options.only)}
${shown.some(showsEmail) ? aboutEmails : null}
${
  shown.length > 1
    ? [
        controls(
          [
            { name: 'kind', legend: 'Kind', values: shown.map(({ kind }) => kind) },
            { name: 'action', legend: 'Action', values: shown.map(({ action }) => action) },
          ],
          [
            { name: 'destructive', label: 'destructive', some: shown.some(isDestructive) },
            { name: 'drift', label: 'changed on the server', some: shown.some(isDrifted) },
            {
              name: 'warnings',
              label: 'with warnings',
              some: shown.some(({ warnings }) => warnings.length > 0),
            },
          ],
        ),
        contents(groups),
      ]
    : null
}
${groups.map((group) => section(group, context))}
${shown.length === 0 && options.only === undefined ? markup`<p class="note">There is nothing to review: ${headline(plan)}.</p>` : null}
</main>
<footer>
<p>Required scopes: ${plan.requiredScopes.join(', ') || 'none'}</p>
<p>Digest: <code>${plan.digest}</code></p>
</footer>`,
  });
}

interface Group {
  readonly title: string;
  /** The attribute that a group of one kind, or of one action, goes with when it is filtered out. */
  readonly filter: Markup | null;
  readonly entries: readonly (Entry & {
    readonly address: string;
    readonly badge: { readonly word: string; readonly className: string };
  })[];
}

function numbered(plan: Plan, options: HtmlOptions): Group[] {
  let number = 0;
  return reviewGroups(plan, options).map(({ title, rank, changes }) => {
    const [first] = changes;
    return {
      title,
      filter:
        rank === 1
          ? markup` data-kind="${first?.kind ?? ''}"`
          : title === 'Destructive'
            ? null
            : markup` data-action="${first?.action ?? ''}"`,
      entries: changes.map((change) => {
        number += 1;
        const { address, action } = change;
        return {
          number,
          change,
          address: `${address}${labelBeside(change)}`,
          badge: { word: action, className: action },
        };
      }),
    };
  });
}

function notices(plan: Plan, only: Share | undefined): Insertable {
  const shown = shownPart(plan, only);
  const { count, inAll } = destructiveCount(shown);
  const warnings = allWarnings(shown);
  return [
    ...(count > 0
      ? [
          markup`<p class="loss"><strong>${plural(count, 'destructive change')}</strong>${inAll}, shown first.</p>\n`,
        ]
      : []),
    ...shareNotes(plan, only).map((note) => markup`<p class="note">${note}</p>\n`),
    ...plan.warnings.map(warningLine),
    ...(warnings.length > plan.warnings.length
      ? [
          markup`<p class="warning">${plural(warnings.length - plan.warnings.length, 'warning')} about single changes, shown with them.</p>\n`,
        ]
      : []),
  ];
}

function section({ title, filter, entries }: Group, context: ChangeContext): Markup {
  return markup`<section class="group"${filter}>
<h2>${title} (${entries.length})</h2>
${entries.map((entry) => changeBox(entry, context))}</section>
`;
}
