import { type Fields, Sensitive } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Email } from '../kinds/kind.js';
import type { TemplateBodies } from '../mail/checks.js';
import type { SampleData } from '../mail/samples.js';
import { type Action, type Change, type Plan, type PlanWarning, summarize } from '../plan/plan.js';
import { countDestructions } from '../plan/safety.js';
import { type EmailSide, emailViews, FrameRoom } from './emails.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { pageText, scrollable, tabs } from './page.js';
import {
  allWarnings,
  bodyNotes,
  headline,
  isDestructive,
  observedNote,
  placeText,
  type ReviewGroup,
  reviewGroups,
  shortValue,
} from './review.js';
import { type BodyView, type FieldView, fateText, requestTexts, viewField } from './view.js';
import { plural } from './words.js';

/** A plan of so few changes is shown unfolded. */
const unfoldedChanges = 12;

export interface HtmlOptions {
  /** What emails are rendered with, by the template's address; made up where there is nothing. */
  readonly samples: ReadonlyMap<string, SampleData>;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
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
${notices(plan)}
${shown.length > 1 ? filters(shown) : null}
${groups.map((group) => section(group, context))}
${shown.length === 0 ? markup`<p class="note">There is nothing to review: ${headline(plan)}.</p>` : null}
</main>
<footer>
<p>Required scopes: ${plan.requiredScopes.join(', ') || 'none'}</p>
<p>Digest: <code>${plan.digest}</code></p>
</footer>`,
  });
}

interface PageContext extends HtmlOptions {
  readonly room: FrameRoom;
  readonly unfolded: boolean;
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

function notices(plan: Plan): Insertable {
  const destructive = countDestructions(plan);
  const warnings = allWarnings(plan);
  return [
    ...(destructive > 0
      ? [
          markup`<p class="loss"><strong>${plural(destructive, 'destructive change')}</strong>, shown first.</p>\n`,
        ]
      : []),
    ...plan.warnings.map(warningLine),
    ...(warnings.length > plan.warnings.length
      ? [
          markup`<p class="warning">${plural(warnings.length - plan.warnings.length, 'warning')} about single changes, shown with them.</p>\n`,
        ]
      : []),
  ];
}

function warningLine({ code, message }: PlanWarning): Markup {
  return markup`<p class="warning"><strong>Warning:</strong> ${message} <span>(${code})</span></p>\n`;
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

function section({ title, rank, changes }: ReviewGroup, context: PageContext): Markup {
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

function changeBox(change: Change, context: PageContext): Markup {
  const { address, kind, action, declaredAt, warnings, destructions } = change;
  const open = context.unfolded || isDestructive(change) || action === 'blocked';
  const classes = [
    'change',
    ...(isDestructive(change) ? ['destructive'] : []),
    ...(warnings.length > 0 ? ['warns'] : []),
  ].join(' ');
  const attributes = markup`class="${classes}" data-kind="${kind}" data-action="${action}"`;
  const start = open ? markup`<details ${attributes} open>` : markup`<details ${attributes}>`;
  return markup`${start}
<summary><span class="badge ${action}">${action}</span> <code class="address">${address}</code>
${destructions.length > 0 ? markup`<span class="badge loses">destructive</span>` : null}
${warnings.length > 0 ? markup`<span class="badge update">${plural(warnings.length, 'warning')}</span>` : null}
<span class="quiet place">${fieldNames(change)}${declaredAt === null ? null : markup`<code>${placeText(declaredAt)}</code>`}</span></summary>
<div class="inside">
${inside(change, context)}
</div>
</details>
`;
}

function fieldNames(change: Change): Insertable {
  const { action, fields } = change;
  if (action === 'delete' || fields.length === 0) return null;
  const value = shortValue(change);
  if (value !== undefined)
    return markup`${value.path} <code>${value.before}</code> → <code>${value.after}</code> · `;
  const paths = fields.slice(0, 4).map(({ path }) => path);
  const more = fields.length - paths.length;
  return `${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''} · `;
}

function inside(change: Change, context: PageContext): Insertable {
  const { reason, destructions, warnings, fields } = change;
  const note = observedNote(change);
  const views = fields.map((field) => viewField(field, { whole: context.debug, room: 'page' }));
  const rows = views.filter(({ view }) => view !== 'body');
  const { email: bodies } = kindOf(change.kind);
  const diffs = views.flatMap((view) => (view.view === 'body' ? [bodyDiff(view)] : []));
  return [
    ...(reason === null ? [] : [markup`<p class="loss"><strong>Blocked:</strong> ${reason}</p>\n`]),
    ...destructions.map((loss) => markup`<p class="loss"><strong>Destructive:</strong> ${loss}</p>\n`),
    ...warnings.map(warningLine),
    ...(note === null ? [] : [markup`<p class="note">${note}</p>\n`]),
    ...(rows.length === 0 ? [] : [table(rows)]),
    ...(bodies !== undefined && diffs.length > 0 ? [email(change, bodies, diffs, context)] : diffs),
    ...(context.debug
      ? requestTexts(change).map((request) => markup`<p class="quiet">Sends <code>${request}</code></p>\n`)
      : []),
  ];
}

function table(rows: readonly FieldView[]): Markup {
  return markup`<table>
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>
${rows.map((view) => markup`<tr><th scope="row"><code>${view.path}</code></th>${cells(view)}</tr>\n`)}</tbody>
</table>
`;
}

const setClasses = { '+': 'added', '-': 'removed', '~': 'changed', '=': 'changed' } as const;
const setMarks = { '+': '+', '-': '−', '~': '~', '=': '=' } as const;

function cells(view: FieldView): Insertable {
  switch (view.view) {
    case 'secret':
      return markup`<td class="unknown">${view.unknown ? '(unknown)' : '(sensitive)'}</td><td class="unknown">(sensitive)</td>`;
    case 'value':
      return markup`<td class="${view.unknown ? 'unknown' : 'before'}"><code>${view.before}</code></td><td class="after"><code>${view.after}</code></td>`;
    case 'set':
      return markup`<td colspan="2">${view.head === null ? null : markup`<p>${view.head}</p>`}<ul class="set">${view.elements.map(
        ({ mark, text }) => markup`<li class="${setClasses[mark]}">${setMarks[mark]} ${text}</li>`,
      )}${view.kept > 0 ? markup`<li class="quiet">(${view.kept} unchanged)</li>` : null}</ul></td>`;
    default:
      return null;
  }
}

function bodyDiff(view: BodyView): Markup {
  const { path, hunks } = view;
  const lines = hunks.flatMap((hunk) => [
    markup`<span class="at">${hunk.head}</span>`,
    ...hunk.lines.map(({ mark, text }) => markup`<span class="${lineClasses[mark]}">${mark}${text}</span>`),
  ]);
  return markup`<h3><code>${path}</code></h3>
<p class="quiet">${bodyNotes(view).join('; ')}</p>
${hunks.length === 0 ? null : scrollable('diff', `Difference of ${path}`, lines)}
`;
}

const lineClasses = { '+': 'added', '-': 'removed', ' ': 'same' } as const;

/** A changed template: as users get it, as text, and what changes in its source. */
function email(
  change: Change,
  bodies: Email,
  diffs: readonly Markup[],
  { samples, room }: PageContext,
): Markup {
  const { before, expected } = change.apply;
  const deleted = change.action === 'delete';
  const sides: readonly EmailSide[] = [
    side('Before', bodies, before, 'there is none, or it is not known'),
    side(
      'After',
      bodies,
      deleted ? {} : { ...before, ...expected },
      deleted ? (change.fields.map(fateText)[0] ?? 'deleted') : 'there is none',
    ),
  ];
  const views = emailViews(sides, samples.get(change.address) ?? {}, room);
  return tabs(`view ${change.address}`, 'Show', [
    { name: 'rendered', label: 'as email', content: views.rendered },
    { name: 'text', label: 'as text', content: views.text },
    { name: 'source', label: 'changes of the source', content: diffs },
  ]);
}

function side(label: string, email: Email, fields: Fields, none: string): EmailSide {
  const { [email.txt]: txt, [email.html]: html } = fields;
  const held = txt instanceof Sensitive || html instanceof Sensitive;
  const bodies: TemplateBodies = {
    txt: typeof txt === 'string' ? txt : null,
    html: typeof html === 'string' ? html : null,
  };
  return { label, bodies, none: held ? 'held back, since it holds a secret' : none };
}
