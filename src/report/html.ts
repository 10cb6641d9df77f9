import type { SampleData } from '../mail/samples.js';
import { isDrifted, type Share } from '../plan/drift.js';
import { type Action, type Change, type Plan, summarize } from '../plan/plan.js';
import { countDestructions } from '../plan/safety.js';
import { type ChangeContext, changeBox, warningLine } from './changes.js';
import { FrameRoom } from './emails.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { pageText } from './page.js';
import {
  allWarnings,
  headline,
  isDestructive,
  type ReviewGroup,
  reviewGroups,
  shareNotes,
} from './review.js';
import { plural } from './words.js';

/** A plan of so few changes is shown unfolded. */
const unfoldedChanges = 12;

export interface HtmlOptions {
  /** What emails are rendered with, by the template's address; made up where there is nothing. */
  readonly samples: ReadonlyMap<string, SampleData>;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
}

/**
 * A plan as one page in one file, which loads nothing and runs nothing. Emails are rendered in frames that may do
 * neither as well.
 */
export function planHtml(plan: Plan, options: HtmlOptions): string {
  const groups = reviewGroups(plan, options);
  const shown = groups.flatMap(({ changes }) => changes);
  const context = { ...options, room: new FrameRoom(), unfolded: shown.length <= unfoldedChanges };
  return pageText({
    title: `Plan: ${headline(plan)}`,
    content: markup`<header>
<h1>idops plan for ${plan.server}</h1>
<ul class="facts quiet">
<li>Profile <code>${plan.profile}</code></li>
<li>Environment ${plan.environment === null ? 'none' : markup`<code>${plan.environment}</code>`}</li>
<li>Made at ${plan.createdAt} by idops ${plan.toolVersion}</li>
</ul>
${counts(plan)}
</header>
<main id="main">
${notices(plan, options.only)}
${shown.length > 1 ? filters(shown) : null}
${groups.map((group) => section(group, context))}
${shown.length === 0 && options.only === undefined ? markup`<p class="note">There is nothing to review: ${headline(plan)}.</p>` : null}
</main>
<footer>
<p>Required scopes: ${plan.requiredScopes.join(', ') || 'none'}</p>
<p>Digest: <code>${plan.digest}</code></p>
</footer>`,
  });
}

const actionWords: { readonly [action in Action]: string } = {
  update: 'to update',
  delete: 'to delete',
  regenerate: 'to regenerate',
  adopt: 'to adopt',
  blocked: 'blocked',
  unchanged: 'unchanged',
};

function counts(plan: Plan): Markup {
  const summary = summarize(plan);
  const actions = (Object.keys(actionWords) as Action[]).filter(
    (action) => summary[action] > 0 || action === 'update' || action === 'unchanged',
  );
  return markup`<ul class="counts">${actions.map(
    (action) => markup`<li><strong>${summary[action]}</strong> ${actionWords[action]}</li>`,
  )}</ul>`;
}

function notices(plan: Plan, only: Share | undefined): Insertable {
  const destructive = countDestructions(plan);
  const warnings = allWarnings(plan);
  return [
    ...(destructive > 0
      ? [
          markup`<p class="loss"><strong>${plural(destructive, 'destructive change')}</strong>, shown first.</p>\n`,
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

function filters(shown: readonly Change[]): Markup {
  const kinds = [...new Set(shown.map(({ kind }) => kind))];
  const actions = [...new Set(shown.map(({ action }) => action))];
  const boxes = (name: string, legend: string, values: readonly string[]) =>
    markup`<fieldset><legend>${legend}</legend>${values.map((value) => {
      const count = shown.filter(
        (change) => (name === 'kind' ? change.kind : change.action) === value,
      ).length;
      return markup`<label><input type="checkbox" name="${name}" value="${value}" checked>${value} (${count})</label>`;
    })}</fieldset>`;
  const only = [
    { name: 'destructive', label: 'destructive', some: shown.some(isDestructive) },
    { name: 'drift', label: 'changed on the server', some: shown.some(isDrifted) },
    { name: 'warnings', label: 'with warnings', some: shown.some(({ warnings }) => warnings.length > 0) },
  ].filter(({ some }) => some);
  return markup`<div class="filters">
${boxes('kind', 'Kind', kinds)}
${boxes('action', 'Action', actions)}
${
  only.length === 0
    ? null
    : markup`<fieldset><legend>Only</legend>${only.map(
        ({ name, label }) =>
          markup`<label><input type="checkbox" name="only" value="${name}">${label}</label>`,
      )}</fieldset>`
}
</div>`;
}

function section({ title, rank, changes }: ReviewGroup, context: ChangeContext): Markup {
  const [first] = changes;
  // A group of one kind, or of one action, goes with its filter.
  const filter =
    rank === 1
      ? markup` data-kind="${first?.kind ?? ''}"`
      : title === 'Destructive'
        ? null
        : markup` data-action="${first?.action ?? ''}"`;
  return markup`<section${filter}>
<h2>${title} (${changes.length})</h2>
${changes.map((change) => changeBox(change, context))}</section>
`;
}
