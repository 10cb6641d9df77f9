import { escapeText, quoteIfNeeded } from '../base/escape.js';
import type { Place } from '../base/problems.js';
import { groupBy } from '../base/values.js';
import { placeJson } from './json.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { pageHeader, pageText } from './page.js';
import type { RenderOptions } from './render-options.js';
import { placeText } from './review.js';
import { colors, plural, wrap } from './words.js';

export interface ShownGrant {
  readonly user: { readonly id: string; readonly username: string | null };
  readonly type: 'organization' | 'scope' | 'role';
  readonly id: string | null;
  readonly name: string | null;
  /** The role that contains the scope, or the organization or backend of the role; null if it is the user's own. */
  readonly via: string | null;
  /** Whether the backend of the user gives it. */
  readonly byBackend?: boolean;
  readonly privileged: boolean;
  /** Whether the user is blocked; null if unknown. */
  readonly blocked: boolean | null;
  /** When a run gave it; null if no journal says so. */
  readonly since: string | null;
  readonly run: string | null;
  readonly declaredAt: Place | null;
  /** When it ends; null if no end is recorded. */
  readonly until: string | null;
  /** Whether it has ended at the instant of --now, so that the next apply removes it. */
  readonly ended: boolean;
}

export interface ShownAccess {
  readonly server: string | null;
  readonly profile: string;
  readonly environment: string | null;
  readonly source: 'live' | 'recorded';
  /** When the server was read, or the newest record was made; null if there is no record. */
  readonly asOf: string | null;
  readonly users: number;
  readonly grants: readonly ShownGrant[];
  readonly notes: readonly string[];
  /** Whether to group by scope, role and organization instead of by user. */
  readonly byGrant: boolean;
  /** Whether no option narrows the list. */
  readonly isComplete: boolean;
}

function grantName({ name, id }: Pick<ShownGrant, 'name' | 'id'>): string {
  return name ?? id ?? 'unknown';
}

function idSuffix(name: string | null, id: string | null): string {
  return name === null || id === null ? '' : ` (${quoteIfNeeded(id)})`;
}

function userName({ username, id }: ShownGrant['user']): string {
  return username ?? id;
}

export function accessText(shown: ShownAccess, { color }: Pick<RenderOptions, 'color'>): string {
  const paint = colors(color);
  const { server, profile, environment, grants, notes, byGrant } = shown;
  const groups = groupGrants(grants, byGrant);
  const lines = groups.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const { user, blocked } = first;
    const id = byGrant ? idSuffix(first.name, first.id) : idSuffix(user.username, user.id);
    const title = byGrant
      ? `${first.type} ${quoteIfNeeded(grantName(first))}`
      : quoteIfNeeded(userName(user));
    const note = byGrant
      ? `: ${plural(usersOf(all), 'user')}`
      : blocked === true
        ? ` ${paint.red('blocked')}`
        : '';
    return [
      `${paint.bold(title)}${id}${note}`,
      ...all.map((grant) => {
        const what = byGrant
          ? quoteIfNeeded(userName(grant.user))
          : `${grant.type} ${quoteIfNeeded(grantName(grant))}`;
        const details = detailsOf(grant, byGrant);
        return `    ${what}${grant.privileged ? ` ${paint.yellow('privileged')}` : ''}${details === '' ? '' : `  ${details}`}`;
      }),
      '',
    ];
  });
  return `${[
    `Server:      ${server === null ? 'unknown' : escapeText(server)}`,
    `Profile:     ${escapeText(profile)}`,
    `Environment: ${environment === null ? 'none' : escapeText(environment)}`,
    `Source:      ${sourceOf(shown)}`,
    ...notes.flatMap((sentence) => wrap('Note: ', sentence)),
    '',
    ...lines,
    paint.bold(summaryOf(shown)),
  ].join('\n')}\n`;
}

function sourceOf({ source, asOf }: ShownAccess): string {
  if (source === 'live') return `live, ${asOf}`;
  return asOf === null ? 'the state, which has no users yet' : `as recorded in the state, last at ${asOf}`;
}

function detailsOf(grant: ShownGrant, withBlocked: boolean): string {
  const { via, since, run, declaredAt, until, ended, blocked } = grant;
  return [
    ...(withBlocked && blocked === true ? ['blocked'] : []),
    ...(via === null ? [] : [`via ${viaKind(grant)} ${quoteIfNeeded(via)}`]),
    ...(since === null ? [] : [`since ${since.slice(0, 10)} by run ${quoteIfNeeded(run ?? '')}`]),
    ...(until === null ? [] : [`${ended ? 'ended' : 'until'} ${quoteIfNeeded(until)}`]),
    ...(declaredAt === null ? [] : [placeText(declaredAt)]),
  ].join(', ');
}

function viaKind({ type, byBackend }: ShownGrant): string {
  if (type === 'scope') return 'role';
  return byBackend === true ? 'backend' : 'organization';
}

function usersOf(grants: readonly ShownGrant[]): number {
  return new Set(grants.map(({ user }) => user.id)).size;
}

function summaryOf({ grants, users, isComplete }: ShownAccess): string {
  const privileged = grants.filter((grant) => grant.privileged);
  const who = isComplete ? `${usersOf(grants)} of ${plural(users, 'user')}` : plural(usersOf(grants), 'user');
  const ended = grants.filter((grant) => grant.ended).length;
  return `${[
    who,
    plural(grants.length, 'grant'),
    `${privileged.length} privileged${privileged.length === 0 ? '' : ` (${plural(usersOf(privileged), 'user')})`}`,
    ...(ended === 0 ? [] : [`${ended} ended`]),
  ].join(', ')}.`;
}

function groupGrants(grants: readonly ShownGrant[], byGrant: boolean): readonly (readonly ShownGrant[])[] {
  const groups = groupBy(grants, ({ type, id, name, user }) =>
    byGrant ? JSON.stringify([type, grantName({ name, id }), id]) : user.id,
  );
  return byGrant
    ? [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    : [...groups.values()];
}

export function accessJson({ source, asOf, grants }: ShownAccess): object {
  return { format_version: 1, source, as_of: asOf, grants: grants.map(grantJson) };
}

function grantJson(grant: ShownGrant) {
  const { user, type, id, name, via, privileged, blocked, since, run, declaredAt, until } = grant;
  const place = declaredAt && placeJson(declaredAt);
  const declared_at = place && { file: place.file, line: place.line };
  return { user, type, id, name, via, privileged, blocked, since, run, declared_at, until };
}

export function accessCsv({ grants }: ShownAccess): string {
  const columns = 'user_id,username,type,id,name,via,privileged,blocked,since,run,declared_at,until';
  const rows = grants.map((grant) => {
    const { user, declared_at: at, until, ...rest } = grantJson(grant);
    const row = [user.id, user.username, ...Object.values(rest), at && `${at.file}:${at.line}`, until];
    return row.map(cell).join(',');
  });
  return `${[columns, ...rows].join('\n')}\n`;
}

/** A CSV cell, escaped so that no spreadsheet evaluates it as a formula. */
function cell(value: string | boolean | null): string {
  const text = value === null ? '' : escapeText(String(value));
  const inert = /^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",']|^\s|\s$/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** A page that loads nothing and runs no script: privileged grants first, then all. */
export function accessHtml(shown: ShownAccess): string {
  const { server, profile, environment, grants, notes } = shown;
  const privileged = grants.filter((grant) => grant.privileged);
  const facts = [
    markup`Profile <code>${profile}</code>`,
    markup`Environment ${environment === null ? 'none' : markup`<code>${environment}</code>`}`,
    `Source: ${sourceOf(shown)}`,
  ];
  const counts = [
    { count: usersOf(grants), words: usersOf(grants) === 1 ? 'user' : 'users' },
    { count: grants.length, words: grants.length === 1 ? 'grant' : 'grants' },
    { count: privileged.length, words: 'privileged' },
  ];
  return pageText({
    title: `Access: ${summaryOf(shown)}`,
    content: markup`${pageHeader(`idops access${server === null ? '' : ` on ${server}`}`, facts, counts)}
<main id="main">
${notes.map((sentence) => markup`<p class="warning">${sentence}</p>\n`)}
${privileged.length === 0 ? null : [markup`<h2>Privileged</h2>\n`, table(privileged)]}
<h2>All</h2>
${grants.length === 0 ? markup`<p class="note">There are no grants.</p>\n` : table(grants)}
</main>`,
  });
}

function table(grants: readonly ShownGrant[]): Markup {
  return markup`<table>
<thead><tr><th scope="col">User</th><th scope="col">What</th><th scope="col">Via</th><th scope="col">Since</th><th scope="col">Until</th><th scope="col">Declared at</th></tr></thead>
<tbody>
${grants.map(tableRow)}</tbody>
</table>
`;
}

function tableRow(grant: ShownGrant): Insertable {
  const { user, type, privileged, blocked, via, since, run, until, ended, declaredAt } = grant;
  return markup`<tr><th scope="row">${userName(user)}${user.username === null ? null : markup` <small class="quiet">${user.id}</small>`}${
    blocked === true ? markup` <span class="badge blocked">blocked</span>` : null
  }</th><td>${type} <code>${grantName(grant)}</code>${
    privileged ? markup` <span class="badge update">privileged</span>` : null
  }</td><td>${via === null ? null : `${viaKind(grant)} ${via}`}</td><td>${since}${
    run === null ? null : markup` <small class="quiet">run ${run}</small>`
  }</td><td>${until}${ended ? ' (ended)' : null}</td><td>${declaredAt === null ? null : markup`<code>${placeText(declaredAt)}</code>`}</td></tr>
`;
}
