import { recordsNamed, summarizeRecords } from '../apply/find-records.js';
import { readRuns } from '../apply/find-runs.js';
import { grantKey, grantOriginsIn } from '../apply/grant-origins.js';
import { otherStateTest } from '../apply/owner.js';
import { identifierKey } from '../base/identifiers.js';
import { error, type Place, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { compareText, type Fields, isMap, type Value } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { listsOf } from '../kinds/fields.js';
import type { Grant } from '../kinds/holdings.js';
import { accessKind, addressOf, kinds } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { awaitLists, listScope, type References, readListOnce } from '../kinds/references.js';
import { type LoadedManifests, loadManifests, registerSecrets } from '../manifests/load.js';
import { expand } from '../plan/expand.js';
import { isPrivilegedHolding } from '../plan/guards.js';
import { listsOfNames } from '../plan/observe.js';
import { matchesPattern } from '../plan/select.js';
import type { Project } from '../project/index.js';
import { discoverAll } from '../pull/discover.js';
import type { ShownAccess, ShownGrant } from '../report/access.js';
import { createRedactor, type Redactor } from '../secrets/redactor.js';
import type { ResourceRecord, State } from '../state/state.js';
import { backendOf } from './backend.js';
import { withPullContext } from './pull.js';
import type { SessionOptions } from './session.js';

/** The users, organizations, scopes and roles to show, by id or name; `*` matches any characters, and an empty list means all. */
export interface AccessRequest {
  readonly user: readonly string[];
  readonly organization: readonly string[];
  readonly scope: readonly string[];
  readonly role: readonly string[];
}

interface Holder {
  readonly id: string;
  readonly fields: Fields;
}

/** Users and what they have, from the server or the state. */
interface AccessData extends Pick<ShownAccess, 'server' | 'source' | 'asOf' | 'notes'> {
  readonly holders: readonly Holder[];
  readonly references: References;
  readonly manifests: LoadedManifests;
  readonly state: State | undefined;
}

const { kind, access: given } = accessKind;

/**
 * Who has what: live if the profile lists users, otherwise as the state records it. Sends only GETs. Throws a ProblemsError (`not-found`)
 * if the request names an unknown user, organization, scope or role.
 */
export async function access(
  project: Project,
  options: SessionOptions,
  request: AccessRequest,
): Promise<ShownAccess> {
  const redactor = options.redactor ?? createRedactor();
  const { profile } = await project.server(options).catch(() => project);
  const known = given.listed(profile)
    ? await accessFromServer(project, { ...options, redactor })
    : await accessFromState(project, options, redactor);
  const { server, source, asOf, holders, references, state, manifests } = known;
  const { since, notes } = await grantOrigins(project, state, redactor);
  const { privileged } = project.safety();
  const { declared, notes: undeclared } = expandDocuments(manifests.declared, references);
  const documents = new Map(declared.map((one) => [identifierKey(one.identity.id ?? ''), one]));
  const rows = holders.flatMap(({ id, fields }) => {
    const document = documents.get(identifierKey(id));
    const key = addressOf(kind.name, { id });
    const { until: ends = {} } = state?.resources[key] ?? {};
    const user = { id, username: kind.displayName?.(fields) ?? null };
    const blocked = given.blocked(fields);
    const unique = new Map(
      given
        .grants(fields, references)
        .map((one) => [JSON.stringify([one.type, one.id, one.name, one.via]), one]),
    );
    return [...unique.values()].map((grant): ShownGrant => {
      const { type, name, via } = grant;
      const origin = since.get(grantKey(key, grant));
      const until = endIn(ends, grant);
      return {
        user,
        type,
        id: grant.id,
        name,
        via,
        byBackend: grant.path[0]?.field === 'backend',
        privileged:
          type !== 'organization' && isPrivilegedHolding(privileged, type, name === null ? [] : [name]),
        blocked,
        since: origin?.at ?? null,
        run: origin?.run ?? null,
        declaredAt: document === undefined ? null : placeOf(document, grant),
        until,
        ended: until !== null && Date.parse(until) <= (options.now ?? new Date()).getTime(),
      };
    });
  });
  refuse(unknownNameProblems(request, known, rows));
  const isComplete = Object.values(request).every((names) => names.length === 0);
  return {
    server,
    profile: profile.name,
    environment: project.environment,
    source,
    asOf,
    users: holders.length,
    grants: rows.filter((row) => isWanted(request, row)).sort(byUser),
    notes: [...known.notes, ...notes, ...undeclared, ...brokenDocuments(manifests)],
    byGrant: !isComplete && request.user.length === 0,
    isComplete,
  };
}

/** The users as the server has them. */
async function accessFromServer(project: Project, options: SessionOptions): Promise<AccessData> {
  return await withPullContext(
    project,
    options,
    { kinds: [kind.name], by: 'id' },
    async ({ server, manifests, look, wishes, notes, state }) => {
      const asOf = new Date().toISOString();
      const { found, notes: told } = await discoverAll(wishes, [], look);
      const { profile, lists } = look;
      const needed = [...given.lists, ...listsOfNames(manifests.declared, [], profile)];
      for (const name of needed) if (listScope(name, profile) !== undefined) readListOnce(lists, name, look);
      return {
        source: 'live',
        asOf,
        server: server.baseUrl,
        holders: found.map(({ finding: { identity, live } }) => ({
          id: identity.id ?? '',
          fields: { ...live.readOnly, ...live.fields },
        })),
        references: await awaitLists(lists),
        manifests,
        state,
        notes: [...notes, ...told],
      };
    },
  );
}

/** The users as the state records them. Sends no request. */
async function accessFromState(
  project: Project,
  { signal }: SessionOptions,
  redactor: Redactor,
): Promise<AccessData> {
  const backend = await backendOf(project, redactor.add);
  await backend.check('read');
  const state = await backend.saved();
  const manifests = await loadManifests(project, { lenient: true, profile: project.profile, signal });
  registerSecrets(manifests, redactor.add);
  const records = Object.values(state?.resources ?? {}).filter((one) => one.kind === kind.name);
  const holders = records.map(({ identity, fields, left }) => ({
    id: identity.id ?? '',
    fields: { ...fields, ...left?.fields } as Fields,
  }));
  const times = records.map(({ recorded_at }) => Date.parse(recorded_at));
  const ids = new Set(holders.map(({ id }) => identifierKey(id)));
  const unrecorded = expandDocuments(manifests.declared, {})
    .declared.map(({ identity: { id = '' } }) => id)
    .filter((id) => !ids.has(identifierKey(id)));
  return {
    source: 'recorded',
    asOf: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    server: state?.server ?? null,
    holders,
    references: {},
    manifests,
    state,
    notes: [
      `with the profile ${project.profile.name}, the server can't list users: access that idops never wrote, or that others changed since, is unknown`,
      ...(unrecorded.length === 0
        ? []
        : [`declared and never recorded, so unknown: ${firstFew(unrecorded)}`]),
      ...given.fields(project.profile).flatMap((field) => {
        const without = holders.filter(({ fields }) => fields[field] === undefined).map(({ id }) => id);
        return without.length === 0 ? [] : [`${field} unknown: ${firstFew(without)}`];
      }),
    ],
  };
}

/** When and by which run each grant was given, from the journals. */
async function grantOrigins(project: Project, state: State | undefined, redactor: Redactor) {
  try {
    const backend = await backendOf(project, redactor.add);
    const isOther = await otherStateTest(state, { backend, environment: project.environment });
    const { runs, problems } = await readRuns(backend.runs, state);
    const own = runs.filter(({ contents: [{ run }] }) => !isOther(run));
    return { since: grantOriginsIn(own), notes: problems.map(({ message }) => message) };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return { since: new Map<string, never>(), notes: failure.problems.map(({ message }) => message) };
  }
}

/** The place of the element that declares a grant; null if the document doesn't declare it. */
function placeOf(document: Declared, grant: Grant): Place | null {
  let fields: Fields = document.fields;
  const path: (string | number)[] = [];
  for (const { field, element } of grant.path) {
    const [found] = listsOf(fields[field]).flatMap(({ path: part, list }) => {
      const index = part.includes('remove') ? -1 : list.findIndex((declared) => declares(declared, element));
      const { [index]: declared } = list;
      return declared === undefined ? [] : [{ declared, part: [...part, index] }];
    });
    if (found === undefined) return null;
    path.push(field, ...found.part);
    fields = isMap(found.declared) ? found.declared : {};
  }
  return document.places.of(...path);
}

/** When a grant ends, if its user received it with an end. */
function endIn(ends: NonNullable<ResourceRecord['until']>, { path: [outermost] }: Grant): string | null {
  const { field = '', element = {} } = outermost ?? {};
  const end = Object.entries(ends[field] ?? {}).find(([id]) => declares({ id }, element))?.[1];
  return end?.received === true ? end.at : null;
}

/** The documents, one for each user that they cover; a note if the users of a document are unknown. */
function expandDocuments(documents: readonly Declared[], references: References) {
  const own = documents.filter((one) => one.kind === kind.name);
  try {
    return { declared: expand(own, references, { safety: { protect: [] } }).declared, notes: [] };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    const why = failure.problems.map(({ message }) => message);
    return { declared: [], notes: why.map((message) => `where it is declared is unknown: ${message}`) };
  }
}

/** A note if the manifests have errors, since documents with errors are left out. */
function brokenDocuments({ problems }: LoadedManifests): string[] {
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error');
  if (first === undefined) return [];
  const [place] = first.places;
  const at = place === undefined ? '' : ` at ${place.file}:${place.line}`;
  const more = others.length === 0 ? '' : ` (${others.length} more)`;
  return [
    `the manifests have errors, so where access is declared may be missing: ${first.message}${at}${more}: run idops validate`,
  ];
}

/** Whether a declared element refers to this element of the server, by its id, or by its name if it has no id. */
function declares(declared: Value, { id, name }: Fields): boolean {
  const isId = (text: Value | undefined): boolean =>
    typeof text === 'string' && typeof id === 'string' && identifierKey(text) === identifierKey(id);
  if (!isMap(declared)) return declared === name || isId(declared);
  return declared.id === undefined ? declared.name === name : isId(declared.id);
}

function matches(wanted: readonly string[], { id, name }: Pick<ShownGrant, 'id' | 'name'>): boolean {
  return wanted.some(
    (pattern) =>
      (name !== null && matchesPattern(pattern, name)) ||
      (id !== null && matchesPattern(identifierKey(pattern), identifierKey(id))),
  );
}

/** Whether a row is shown: its user must match, and one of the organizations, scopes and roles. */
function isWanted({ user, ...targets }: AccessRequest, row: ShownGrant): boolean {
  const isAll = Object.values(targets).every((names) => names.length === 0);
  return (
    (user.length === 0 || matches(user, { id: row.user.id, name: row.user.username })) &&
    (isAll || matches(targets[row.type], row))
  );
}

/** Problems of unknown names and ids; a pattern may match nothing. */
function unknownNameProblems(
  request: AccessRequest,
  known: AccessData,
  rows: readonly ShownGrant[],
): Problem[] {
  const { references, holders, source, state } = known;
  const records =
    state === undefined ? [] : summarizeRecords(state).filter(({ deleted }) => deleted === undefined);
  const lists = { organization: references.organizations, scope: references.scopes, role: references.roles };
  const isKnown = (type: keyof AccessRequest, name: string): boolean => {
    if (type === 'user')
      return holders.some(({ id, fields }) =>
        matches([name], { id, name: kind.displayName?.(fields) ?? null }),
      );
    const list = lists[type];
    return (
      list?.byId(name) !== undefined ||
      (list?.byName(name).length ?? 0) > 0 ||
      (source === 'recorded' &&
        kinds.some((one) => one.noun === type && recordsNamed(records, `${one.name}/${name}`).length > 0)) ||
      rows.some((row) => row.type === type && matches([name], row))
    );
  };
  const [who, hint] =
    source === 'live'
      ? ['server', 'idops list shows what there is']
      : ['state', 'idops state show lists what the state has; with this profile, the server lists no users'];
  return (Object.keys(request) as (keyof AccessRequest)[]).flatMap((type) =>
    request[type]
      .filter((name) => !name.includes('*') && !isKnown(type, name))
      .map((name) => error('not-found', `--${type} ${name}: the ${who} has no such ${type}`, [], hint)),
  );
}

const types: readonly ShownGrant['type'][] = ['organization', 'scope', 'role'];

function byUser(a: ShownGrant, b: ShownGrant): number {
  const texts = ({ user, name, id, via }: ShownGrant) => [name ?? '', id ?? '', via ?? '', user.id];
  const [one, other] = [texts(a), texts(b)];
  return (
    compareText(a.user.username ?? '', b.user.username ?? '') ||
    compareText(a.user.id, b.user.id) ||
    types.indexOf(a.type) - types.indexOf(b.type) ||
    one.reduce((order, text, index) => order || compareText(text, other[index] ?? ''), 0)
  );
}
