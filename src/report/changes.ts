import type { Status } from '../apply/result.js';
import { type Fields, Sensitive } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Email } from '../kinds/kind.js';
import type { TemplateBodies } from '../mail/checks.js';
import type { NamedSample } from '../mail/samples.js';
import { isDrifted } from '../plan/drift.js';
import type { Change, PlanWarning } from '../plan/plan.js';
import { type EmailSide, type Emails, emailViews, samplesText } from './emails.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { labelBeside } from './names.js';
import { scrollable, tabs } from './page.js';
import { bodyNotes, isDestructive, located, observedNote, placeText, shortValue } from './review.js';
import type { Span } from './spans.js';
import { shorten } from './values.js';
import { type BodyView, type FieldView, fateText, requestTexts, viewField } from './view.js';
import { plural } from './words.js';

/** What changes are shown with. */
export interface ChangeContext {
  /** What emails are rendered with, by the template's address; made up where there is nothing. */
  readonly samples: ReadonlyMap<string, readonly NamedSample[]>;
  /** Requests too. */
  readonly debug: boolean;
  readonly emails: Emails;
  /** Says how many changes are unfolded already. */
  readonly unfolding: Unfolding;
}

/** So many changes are shown unfolded: a page of few, and of many those that matter most. */
const unfoldedChanges = 12;

/** A longer value is folded, with its ends and what differs in it in sight; an element of a set, of which parts are marked, later. */
const longValue = 500;
const longElement = 2000;
const shownCharacters = 120;

/** Which changes of a page are shown unfolded. */
export class Unfolding {
  readonly #all: boolean;
  #left = unfoldedChanges;

  constructor(changes: number) {
    this.#all = changes <= unfoldedChanges;
  }

  next(matters: boolean): boolean {
    if (this.#all) return true;
    if (!matters || this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/** One change of a page, as the list of contents and the filters know it. */
export interface Entry {
  /** Its place in the page, from 1. */
  readonly number: number;
  readonly change: Change;
}

/** One change of a page, folded or not: what it is about, and in it all that a reviewer should see. */
export function changeBox({ number, change }: Entry, context: ChangeContext): Markup {
  const { kind, action, warnings } = change;
  return foldBox({
    number,
    open: context.unfolding.next(isDestructive(change) || action === 'blocked'),
    classes: changeClasses(change),
    data: markup`data-kind="${kind}" data-action="${action}"`,
    summary: markup`<span class="badge ${action}">${action}</span> ${changeTitle(change)}
${isDrifted(change) ? markup`<span class="badge adopt">drift</span>` : null}
${warnings.length > 0 ? markup`<span class="badge update">${plural(warnings.length, 'warning')}</span>` : null}
${changePlace(change)}`,
    inside: changeDetails(change, context),
  });
}

/** What the filters look for, beside kind and action. */
export function changeClasses(change: Change): string[] {
  return [
    ...(isDestructive(change) ? ['destructive'] : []),
    ...(isDrifted(change) ? ['drifted'] : []),
    ...(change.warnings.length > 0 ? ['warns'] : []),
  ];
}

/** What a change is about, and whether something is lost by it. */
export function changeTitle(change: Change): Markup {
  const { address, destructions } = change;
  return markup`<code class="address">${address}</code>${labelBeside(change)}${destructions.length > 0 ? markup` <span class="badge loses">destructive</span>` : null}`;
}

/** Which fields change, and where that is declared. */
export function changePlace(change: Change): Markup {
  const { declaredAt } = change;
  return markup`<span class="quiet place">${fieldNames(change)}${declaredAt === null ? null : markup`<code>${placeText(declaredAt)}</code>`}</span>`;
}

/** A part of the page that can be folded. A link leads to what is inside of it, since a browser unfolds that. */
export function foldBox(box: {
  readonly number: number;
  readonly open: boolean;
  readonly classes: readonly string[];
  readonly data: Markup;
  readonly summary: Insertable;
  readonly inside: Insertable;
}): Markup {
  const { number, open, classes, data, summary, inside } = box;
  const attributes = markup`class="${['change', ...classes].join(' ')}" ${data}`;
  const start = open ? markup`<details ${attributes} open>` : markup`<details ${attributes}>`;
  return markup`${start}
<summary>${summary}</summary>
<div class="inside" id="change-${number}">
${inside}
</div>
</details>
`;
}

function fieldNames(change: Change): Insertable {
  const { action, fields } = change;
  if (action === 'delete' || fields.length === 0) return null;
  const value = shortValue(change, true);
  if (value !== undefined)
    return markup`${value.path} <code>${value.before}</code> → <code>${value.after}</code> · `;
  const paths = fields.slice(0, 4).map(({ path }) => path);
  const more = fields.length - paths.length;
  return `${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''} · `;
}

/**
 * All that a reviewer should see of a change: its differences, what is lost, warnings, emails. `became` says what a run has made of
 * it, where one has.
 */
export function changeDetails(change: Change, context: ChangeContext, became?: Status): Insertable {
  const { reason, destructions, warnings, fields } = change;
  const note = observedNote(change, became);
  const views = fields.map((field) => viewField(field, { whole: true, room: 'page' }));
  const rows = views.filter(({ view }) => view !== 'body');
  const { email: bodies } = kindOf(change.kind);
  const diffs = views.flatMap((view) => (view.view === 'body' ? [bodyDiff(view, became)] : []));
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
${rows.map((view) => markup`<tr><th scope="row"><code>${view.path}</code>${driftLine(view)}</th>${cells(view)}</tr>\n`)}</tbody>
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
      return markup`<td class="${view.unknown || view.lacks === 'before' ? 'unknown' : 'before'}"><code>${wholeValue(view.before, view.after)}</code></td><td class="${view.lacks === 'after' ? 'before' : 'after'}"><code>${wholeValue(view.after, view.before)}</code></td>`;
    case 'set':
      return markup`<td colspan="2">${view.head === null ? null : markup`<p>${view.head}</p>`}<ul class="set">${view.elements.map(
        ({ mark, text, spans }) =>
          markup`<li class="${setClasses[mark]}">${setMarks[mark]} ${text.length > longElement ? wholeValue(text) : (spans?.map(word) ?? text)}</li>`,
      )}${view.kept > 0 ? markup`<li class="quiet">(${view.kept} unchanged)</li>` : null}</ul></td>`;
    default:
      return null;
  }
}

/** A value whole: as it is, or folded if it is long. `other` is what it is compared with. */
function wholeValue(text: string, other = ''): Insertable {
  if (text.length <= longValue) return text;
  return markup`<details class="long"><summary>${shorten(text, other, shownCharacters)}</summary>${text}</details>`;
}

function driftLine({ drift }: FieldView): Insertable {
  return drift === null ? null : markup`<p class="drift">${wholeValue(drift)}</p>`;
}

function bodyDiff(view: BodyView, became: Status | undefined): Markup {
  const { path, hunks } = view;
  const lines = hunks.flatMap((hunk) => [
    markup`<span class="at">${hunk.head}</span>`,
    ...hunk.lines.map(
      ({ mark, text, spans }) =>
        markup`<span class="${lineClasses[mark]}">${mark}${spans?.map(word) ?? text}</span>`,
    ),
  ]);
  return markup`<h3><code>${path}</code></h3>
${driftLine(view)}<p class="quiet">${bodyNotes(view, became).join('; ')}</p>
${hunks.length === 0 ? null : scrollable('diff', `Difference of ${path}`, lines)}
`;
}

/** A part of a line: marked where it is what changed in it. */
function word({ text, change }: Span): Insertable {
  if (change === null) return text;
  return change === '+' ? markup`<ins>${text}</ins>` : markup`<del>${text}</del>`;
}

const lineClasses = { '+': 'added', '-': 'removed', ' ': 'same' } as const;

/** A changed template: as users get it, as text, and what changes in its source. */
function email(
  change: Change,
  bodies: Email,
  diffs: readonly Markup[],
  { samples, emails }: ChangeContext,
): Markup {
  const { before, expected } = change.apply;
  const deleted = change.action === 'delete';
  const sides: readonly EmailSide[] = [
    side('Before', bodies, before, 'there is none, or it is not known'),
    side(
      'After',
      bodies,
      deleted ? {} : { ...before, ...expected },
      deleted ? (change.fields.map(fateText)[0] ?? 'deleted') : absenceOf(bodies, { ...before, ...expected }),
    ),
  ];
  const given = samples.get(change.address) ?? [];
  const { rendered, text } = emailViews(sides, given, emails);
  return tabs(
    `view ${change.address}`,
    'email',
    'Show',
    [
      { name: 'rendered', label: 'as email', content: rendered },
      { name: 'text', label: 'as text', content: text },
      { name: 'source', label: 'changes of the source', content: diffs },
    ],
    markup`<p class="quiet">Rendered with sample data, ${samplesText(given)}; pictures are blocked.</p>\n`,
  );
}

/** What is said of a body that isn't shown: whether there is none, or nobody says. */
function absenceOf(email: Email, fields: Fields): string {
  const known = [email.txt, email.html].every((body) => Object.hasOwn(fields, body));
  return known ? 'there is none' : 'there is none, or it is not known here';
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

/** Whether emails are shown of a change. */
export function showsEmail({ kind, fields }: Change): boolean {
  return kindOf(kind).email !== undefined && fields.some(({ type }) => type === 'body');
}

/** A warning on a line of its own. */
export function warningLine(warning: PlanWarning): Markup {
  return markup`<p class="warning"><strong>Warning:</strong> ${located(warning)} <span>(${warning.code})</span></p>\n`;
}
