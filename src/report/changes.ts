import { type Fields, Sensitive, same } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { kindOf, layoutOf } from '../kinds/index.js';
import type { Email } from '../kinds/kind.js';
import { type ChangedLink, changedLinks } from '../mail/links.js';
import type { NamedSample } from '../mail/samples.js';
import { serverMail } from '../mail/servers.js';
import type { TemplateBodies } from '../mail/template.js';
import { isDrifted } from '../plan/drift.js';
import { type Change, isPrivileged, type PlanWarning } from '../plan/plan.js';
import type { ProfileName } from '../server/profiles.js';
import { type EmailSide, type Emails, emailViews, samplesText } from './emails.js';
import { type Fold, foldCount, foldPlace } from './fold.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { labelSuffix, type NamedObject } from './names.js';
import { scrollable } from './page.js';
import {
  bodyNotes,
  declaredPlaces,
  isDestructive,
  isHighRisk,
  messageWithPlaces,
  observedNote,
  placeText,
  shortValue,
} from './review.js';
import type { Span } from './values.js';
import { type BodyView, type FieldView, removalText, requestTexts, type SetView, viewField } from './view.js';
import { plural } from './words.js';

export interface ChangeContext {
  readonly samples: ReadonlyMap<string, readonly NamedSample[]>;
  readonly debug: boolean;
  readonly emails: Emails;
  /** All changes of the plan, since some are layouts of pages. */
  readonly allChanges: readonly Change[];
  readonly profile: ProfileName;
  readonly boxCount: number;
  readonly isResult: boolean;
}

/** The number of boxes that are open, counted from the top. */
const openBoxes = 12;

/** A change as an expandable box. Links point inside it, so that browsers open it. */
export function changeBox(box: {
  readonly number: number;
  readonly named: NamedObject;
  readonly fold: Fold | undefined;
  /** Whether it is open even if there are many boxes. */
  readonly isImportant: boolean;
  readonly attributes: Markup;
  readonly badges: Markup;
  readonly notes: Insertable;
  readonly content: Insertable;
  readonly context: ChangeContext;
}): Markup {
  const { number, context, named, fold } = box;
  const change = fold?.change;
  const isOpen = context.boxCount <= openBoxes || (box.isImportant && number <= openBoxes);
  const destructive = change !== undefined && isDestructive(change);
  const privileged = change !== undefined && isPrivileged(change);
  const classes = [
    'change',
    ...(privileged ? ['privileged'] : []),
    ...(destructive ? ['destructive'] : []),
    ...(change !== undefined && isDrifted(change) ? ['drifted'] : []),
    ...(change !== undefined && change.warnings.length > 0 ? ['warns'] : []),
  ];
  const kind = change === undefined ? null : markup` data-kind="${change.kind}"`;
  return markup`<details class="${classes.join(' ')}" ${box.attributes}${kind}${isOpen ? markup` open` : null}>
<summary>${box.badges} ${boxName(named, fold)}${privileged ? markup` <span class="badge loses">privileged</span>` : null}${destructive ? markup` <span class="badge loses">destructive</span>` : null}
${box.notes}
${fold === undefined ? null : changePlace(fold)}</summary>
<div class="inside" id="change-${number}">
${box.content}
${fold === undefined || fold.changes.length === 1 ? null : foldedObjects(fold)}</div>
</details>
`;
}

function boxName(named: NamedObject, fold: Fold | undefined): Markup {
  return fold === undefined || fold.changes.length === 1
    ? markup`<code class="address">${named.address}</code>${labelSuffix(named)}`
    : markup`<strong>${foldCount(fold)}</strong>`;
}

function foldedObjects(fold: Fold): Markup {
  return markup`<details${fold.changes.length > openBoxes && !isHighRisk(fold.change) ? null : markup` open`}><summary>${foldCount(fold)}</summary>
<ul>${fold.changes.map(
    (change) =>
      markup`<li><code>${change.address}</code>${labelSuffix(change)}${declaredPlaces(change).map((place) => markup` <code class="quiet">${placeText(place)}</code>`)}</li>\n`,
  )}</ul>
</details>
`;
}

function changePlace(fold: Fold): Markup {
  const place = foldPlace(fold);
  return markup`<span class="quiet place">${fieldNames(fold.change)}${place === null ? null : markup`<code>${place}</code>`}</span>`;
}

function fieldNames(change: Change): Insertable {
  const { action, fields } = change;
  if (action === 'delete' || fields.length === 0) return null;
  const value = shortValue(change);
  if (value !== undefined)
    return markup`${value.path} <code>${value.before}</code> → <code>${value.after}</code> · `;
  return `${firstFew(fields.map(({ path }) => path))} · `;
}

export function changeDetails(change: Change, context: ChangeContext): Insertable {
  const { reason, destructions, privileges = [], warnings, fields } = change;
  const note = context.isResult ? null : observedNote(change);
  const views = fields.map((field) => viewField(field, { whole: true, medium: 'page' }));
  const rows = views.filter(({ view }) => view !== 'body');
  const { email: bodies } = kindOf(change.kind);
  const diffs = views.flatMap((view) => (view.view === 'body' ? [bodyDiff(view)] : []));
  return [
    ...(reason === null ? [] : [markup`<p class="loss"><strong>Blocked:</strong> ${reason}</p>\n`]),
    ...privileges.map((text) => markup`<p class="loss"><strong>Privileged:</strong> ${text}</p>\n`),
    ...destructions.map((text) => markup`<p class="loss"><strong>Destructive:</strong> ${text}</p>\n`),
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
      return markup`<td class="unknown">${view.unknown ? '(unknown)' : '(sensitive)'}</td><td class="unknown">${view.removed ? '(removed)' : '(sensitive)'}</td>`;
    case 'value':
      return markup`<td class="${view.unknown || view.missingSide === 'before' ? 'unknown' : 'before'}"><code>${view.before}</code></td><td class="${view.missingSide === 'after' ? 'before' : 'after'}"><code>${view.after}</code></td>`;
    case 'set': {
      const removed = view.elements.filter(({ mark }) => mark === '-');
      const present = view.elements.filter(({ mark }) => mark !== '-');
      const before = view.note === null ? '(none removed)' : '(unknown)';
      return [elementsCell(removed, 0, before), elementsCell(present, view.unchanged, '(none)')];
    }
    default:
      return null;
  }
}

function elementsCell(elements: SetView['elements'], unchanged: number, emptyText: string): Markup {
  if (elements.length + unchanged === 0) return markup`<td class="unknown">${emptyText}</td>`;
  return markup`<td><ul class="set">${elements.map(
    ({ mark, text }) => markup`<li class="${setClasses[mark]}">${setMarks[mark]} ${text}</li>`,
  )}${unchanged > 0 ? markup`<li class="quiet">(${unchanged} unchanged)</li>` : null}</ul></td>`;
}

function driftLine({ drift }: FieldView): Insertable {
  return drift === null ? null : markup`<p class="drift">${drift}</p>`;
}

function bodyDiff(view: BodyView): Markup {
  const { path, hunks } = view;
  const lines = hunks.flatMap((hunk) => [
    markup`<span class="at">${hunk.header}</span>`,
    ...hunk.lines.map(
      ({ mark, text, spans }) =>
        markup`<span class="${lineClasses[mark]}">${mark}${spans?.map(word) ?? text}</span>`,
    ),
  ]);
  return markup`<h3><code>${path}</code></h3>
${driftLine(view)}<p class="quiet">${bodyNotes(view).join('; ')}</p>
${hunks.length === 0 ? null : scrollable('diff', `Difference of ${path}`, lines)}
`;
}

function word({ text, change }: Span): Insertable {
  if (change === null) return text;
  return change === '+' ? markup`<ins>${text}</ins>` : markup`<del>${text}</del>`;
}

const lineClasses = { '+': 'added', '-': 'removed', ' ': 'same' } as const;

function email(
  change: Change,
  bodies: Email,
  diffs: readonly Markup[],
  { samples, emails, profile, allChanges }: ChangeContext,
): Markup {
  const { before, identity } = change.apply;
  const mail = serverMail(profile, identity[bodies.type] ?? '');
  const deleted = change.action === 'delete';
  const layout = layoutOf(bodies, identity);
  const layoutChange =
    layout && allChanges.find(({ kind, apply }) => kind === change.kind && same(apply.identity, layout));
  const sides = [
    emailSide('Before', bodies, before, absent, layoutChange?.apply.before),
    emailSide(
      'After',
      bodies,
      fieldsAfter(change),
      deleted ? (change.fields.map(removalText)[0] ?? 'deleted') : absent,
      layoutChange && fieldsAfter(layoutChange),
    ),
  ] as const;
  const ownSamples = samples.get(change.address) ?? [];
  const { rendered, text, looksSame } = emailViews(sides, mail, ownSamples, emails);
  const selected = looksSame ? 'source' : 'rendered';
  const tab = (value: string, label: string) =>
    markup`<label><input type="radio" name="view ${change.address}" value="${value}"${value === selected ? markup` checked` : null}>${label}</label>`;
  // Tabs are radio buttons, so that the keyboard reaches them.
  return markup`<div class="tabs email">
<fieldset><legend>Show</legend>${[
    tab('rendered', bodies.page === undefined ? 'as email' : 'as page'),
    bodies.page === undefined ? tab('text', 'as text') : null,
    tab('source', 'changes of the source'),
  ]}</fieldset>
<p class="quiet">Rendered with sample data, ${samplesText(ownSamples, mail)}; pictures are blocked.</p>
${looksSame ? markup`<p class="note">As ${bodies.page === undefined ? 'an email' : 'a page'} it looks the same; the source differs.</p>\n` : null}${deleted ? null : linkLines(changedLinks(sides[0].bodies, sides[1].bodies, mail?.link), bodies)}
<div class="panel rendered">${rendered}</div>
${
  bodies.page === undefined
    ? markup`<div class="panel text">${text}</div>
`
    : null
}<div class="panel source">${diffs}</div>
</div>
`;
}

const maxLinks = 50;

/** The changed link targets, which the rendered email doesn't show. */
function linkLines(links: readonly ChangedLink[], { page }: Email): Insertable {
  const more = links.length - maxLinks;
  const address = (text: string | null) => (text === null ? '(none)' : markup`<code>${text}</code>`);
  return [
    ...links
      .slice(0, maxLinks)
      .map(
        ({ body, from, to }) =>
          markup`<p class="note">Link in the ${page === undefined ? `${body} body` : 'content'}: ${address(from)} → ${address(to)}</p>\n`,
      ),
    more > 0 ? markup`<p class="note">${plural(more, 'more link')} changed.</p>\n` : null,
  ];
}

const absent = 'there is none, or it is unknown';

/** All known fields after the change. */
function fieldsAfter({ action, apply: { before, expected } }: Change): Fields {
  return action === 'delete' ? {} : { ...before, ...expected };
}

function emailSide(
  label: string,
  email: Email,
  fields: Fields,
  emptyText: string,
  layoutFields: Fields = {},
): EmailSide {
  const { [email.txt]: txt, [email.html]: html } = fields;
  const { [email.html]: layout } = layoutFields;
  const isHidden = txt instanceof Sensitive || html instanceof Sensitive;
  const bodies: TemplateBodies = {
    txt: typeof txt === 'string' ? txt : null,
    html: typeof html === 'string' ? html : null,
    ...(typeof layout === 'string' ? { layout } : {}),
  };
  return { label, bodies, emptyText: isHidden ? 'hidden because it contains a secret' : emptyText };
}

export function warningLine(warning: PlanWarning): Markup {
  return markup`<p class="warning"><strong>Warning:</strong> ${messageWithPlaces(warning)} <span>(${warning.code})</span></p>\n`;
}
