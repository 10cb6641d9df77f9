import { allSettled } from '../base/concurrency.js';
import { ProblemsError } from '../base/problems.js';
import { type Fields, isMap, lazy, mapValues, revealReadable, type Value } from '../base/values.js';
import { answers, pages } from '../server/answers.js';
import { idOf, uniqueNames, userByName } from './by-name.js';
import { foundObject, missing, noteOnMissingIds, observeEach, readOne } from './discovery.js';
import {
  asElements,
  displayElement,
  elementKey,
  type FieldTypes,
  firstNonBlank,
  instant,
  isTrue,
  map,
  matches,
  matchSets,
  members,
  normalForm,
  secret,
  set,
  textOf,
  value,
  valueType,
} from './fields.js';
import { type Access, grantsOf, holdingsOf } from './holdings.js';
import type {
  DiscoverContext,
  DiscoveryResult,
  FoundObject,
  Identity,
  InterruptedUpdate,
  Kind,
  Naming,
  ObserveContext,
} from './kind.js';
import { lostElements } from './loss.js';
import { type ListName, listRead, type References } from './references.js';
import { profileProblems } from './rules.js';
import { userProblems } from './user-checks.js';
import { decideDeletion, findUser, userCreation, userDeletion } from './user-creation.js';
import { listOfField, listsForUser, onlyExisting, resolveUser } from './user-references.js';
import { backend, userSchema, userSets, userTraits } from './user-schema.js';
import { replaceUser } from './user-update.js';
import { users } from './users.js';

const elementNouns: { readonly [list: string]: string } = {
  organizations: 'membership',
  authorized_scopes: 'scope',
  roles: 'role',
};

const backendFields = (): FieldTypes => ({
  ...Object.fromEntries(Object.keys(backend().shape).map((name) => [name, valueType(name)])),
  roles: set(),
});

const fields = lazy(
  (): FieldTypes => ({
    uid: value,
    username: value,
    totp_registered_at: instant,
    metadata: map,
    federated_metadata: map,
    blocked: value,
    group: value,
    authorized_scopes: set(),
    organizations: set({ roles: set({ scopes: set() }) }),
    roles: set(),
    backend: members(backendFields()),
    password: secret,
  }),
);

/** The fields that an update writes in one step before it empties the first list. */
const WRITTEN_FIRST = ['metadata', 'group'];

/** What an interrupted update removed. If it wrote none of `WRITTEN_FIRST`, someone else emptied the lists. */
function lostLists(traces: InterruptedUpdate): Fields {
  const { before, asked, now } = traces;
  const is = (field: string, there: Value | undefined): boolean =>
    there !== undefined && matches(fields()[field], there, now[field]);
  const untouched = WRITTEN_FIRST.some(
    (field) => asked[field] !== undefined && is(field, before[field]) && !is(field, asked[field]),
  );
  return untouched ? {} : lostElements(userSets, traces);
}

/** How users show their access. */
export const userAccess: Access = {
  listed: (profile) => listRead('users', profile) !== undefined,
  fields: ({ name }) => [
    'organizations',
    'authorized_scopes',
    ...(userTraits[name].hasRoles ? ['roles'] : []),
  ],
  lists: ['organizations', 'scopes', 'roles'],
  grants: grantsOf,
  blocked({ blocked = null }) {
    const known = revealReadable(blocked);
    return typeof known === 'boolean' ? known : null;
  },
};

export const user: Kind = {
  name: 'User',
  noun: 'user',
  schema: userSchema,
  identity: ['id', 'username', 'backend'],
  byName: userByName,
  bulk: users,
  identifyingParts: (has) => (has('id') ? ['id'] : ['username', 'backend']),
  // The name that the plan showed may belong to another user now.
  preconditions: ['username'],
  get fields() {
    return fields();
  },
  scope: 'users:manage:all',
  traits: userTraits,
  check: (declared, profile) => [
    ...declared.flatMap((user) => userProblems(user, profile)),
    ...profileProblems(declared, profile, userTraits),
  ],
  addressPart: ({ id, username }) => id ?? username ?? '',
  naming,
  displayName: ({ username, uid }) => firstNonBlank(username, uid),
  referencedNames: backendName,
  readable: ({ name }) => userTraits[name].read !== undefined,
  async observe(objects, context) {
    const { resetUnlessSent = [], read } = userTraits[context.profile.name];
    if (read === undefined) return new Map();
    const listed = await readMany(
      objects.filter(({ identity }) => identity.id !== undefined).length,
      context,
    );
    return await observeEach(objects, async (given) => {
      const found = await findUser(given, context);
      const { identity } = found;
      if (identity.id === undefined) return found;
      const row = listed?.byId(identity.id);
      const shown = isComplete(row, resetUnlessSent)
        ? await context.limit(async () => row)
        : await readOne(context, read, { user_id: identity.id }, answers.user);
      if (shown === null) return missing(identity, 'user', context.profile);
      return { exists: true, identity, fields: shownUser(shown), names: backendName(shown) };
    });
  },
  referenceLists: listsForUser,
  setLists: listOfField,
  resolve: resolveUser,
  decide: decideDeletion,
  creation: userCreation,
  deletion: userDeletion,
  update(input) {
    if (userTraits[input.profile.name].resetUnlessSent !== undefined) return replaceUser(input);
    const { present, desired } = input;
    return {
      requests: [{ operation: 'updateUser', params: { user_id: present.identity.id ?? '' }, body: desired }],
      expected: desired,
    };
  },
  lostFields: lostLists,
  restorable: onlyExisting,
  grants: holdingsOf,
  access: userAccess,
  discovery: {
    options: { user: 'id' },
    parentFilter: { option: 'backend', idOf: ({ backend }) => idOf(backend) },
    find,
    byName: { lists: listsOfNames, identity: namesOf },
  },
  destructions: (fields) =>
    fields.flatMap(({ path, before, after, confirmed = false }) => {
      if (path === 'blocked') return isTrue(after) ? ['blocks the user'] : [];
      const loses = elementNouns[path];
      if (loses === undefined || before === undefined) return [];
      const { removed: left, pairs } = matchSets(asElements(after), asElements(before));
      // Removing one of two equal elements isn't a loss.
      const kept = new Set(pairs.map(({ got }) => elementKey(got)));
      const removed = left.filter((element) => !kept.has(elementKey(element)));
      const called = (element: Fields) => displayElement(element, confirmed);
      return [
        ...removed.map((element) => `removes the ${loses}${called(element)}`),
        ...pairs.flatMap(({ wanted, got }) =>
          rolesLost(wanted, got).map(
            (role) => `removes the role${called(role)} within the ${loses}${called(got)}`,
          ),
        ),
      ];
    }),
};

/** The name of the user's backend. */
function backendName({ backend }: Fields): { readonly [id: string]: string } {
  if (!isMap(backend)) return {};
  const { id, name } = backend;
  return typeof id === 'string' && typeof name === 'string' ? { [id]: name } : {};
}

/** The fields of an answer, sorted because the server's order may change. */
function shownUser(shown: Fields): Fields {
  return mapValues({ ...shown }, (field, name) => normalForm(fields()[name] ?? value, field));
}

/** Up to this many users are read with one request each. */
const MAX_SINGLE_READS = 50;
/** The cost of a user in the list, relative to a request for one user. */
const LIST_COST = 0.5;

/** The list of all users, if that is cheaper than reading them one by one. */
async function readMany(wanted: number, { reader, oneByOne, profile, hasList, list }: ObserveContext) {
  const all = listRead('users', profile);
  if (oneByOne || all === undefined) return null;
  if (!hasList('users')) {
    if (wanted <= MAX_SINGLE_READS) return null;
    const first = await reader.listExtra({ ...all, pageSize: 1 }, 1, pages.user);
    if (first?.totalEntries === undefined || wanted < first.totalEntries * LIST_COST) return null;
  }
  return await list('users').catch((failure: unknown) => {
    // Without a consistent list, users are read one by one.
    if (failure instanceof ProblemsError) return null;
    throw failure;
  });
}

/** Whether a row has everything that an update sends. */
function isComplete(row: Fields | undefined, whole: readonly string[]): row is Fields {
  return row !== undefined && whole.every((field) => row[field] !== undefined);
}

/** The lists that names of these users need: backends only if usernames repeat. Servers ignore their letter case. */
function listsOfNames(found: readonly FoundObject[]): readonly ListName[] {
  const names = new Set(found.map(({ live }) => textOf(live.fields.username).toLowerCase()));
  return names.size === found.length ? ['users'] : ['users', 'backends'];
}

function namesOf({ identity, live }: FoundObject, references: References): Identity | undefined {
  const { username, backend } = { ...live.readOnly, ...live.fields };
  if (typeof username !== 'string') return undefined;
  const home = isMap(backend) ? backend.name : undefined;
  const isAlone = (references.users?.byNameIgnoringCase(username).length ?? 0) < 2;
  const candidates = [
    ...(isAlone ? [{ username }] : []),
    ...(typeof home === 'string' ? [{ username, backend: home }] : []),
  ];
  return uniqueNames(userByName, identity.id, candidates, references);
}

/** Finds users in the list. Reads a user separately if an option names it or its row is incomplete. */
async function find(context: DiscoverContext): Promise<DiscoveryResult> {
  const { profile, filters, list } = context;
  const { resetUnlessSent = [], read } = userTraits[profile.name];
  const all = listRead('users', profile);
  const wanted = filters.user ?? [];
  const users = wanted.length > 0 || all === undefined ? null : await list('users');
  if (users === null && wanted.length === 0) {
    const note = 'the server offers no list of users: name users with --user ID';
    return { found: [], notes: [note] };
  }
  const isElsewhere = ({ backend }: Fields): boolean =>
    (filters.backend ?? []).length > 0 && !filters.backend?.some((id) => id === idOf(backend));
  const listed: readonly Fields[] = users?.rows() ?? [...new Set(wanted)].sort().map((id) => ({ id }));
  const found = await allSettled(
    listed.map(async (row): Promise<FoundObject[]> => {
      const { id } = row;
      if (typeof id !== 'string' || (row.backend !== undefined && isElsewhere(row))) return [];
      const shown =
        isComplete(row, resetUnlessSent) || read === undefined
          ? row
          : await readOne(context, read, { user_id: id }, answers.user);
      if (shown === null) return [];
      return [foundObject(id, firstNonBlank(shown.username, shown.uid), shownUser(shown))];
    }),
  );
  return { found: found.flat(), notes: noteOnMissingIds(users?.rowsWithoutId ?? 0, 'users') };
}

/** The roles that a membership loses. */
function rolesLost(wanted: Fields, got: Fields): readonly Fields[] {
  if (wanted.roles === undefined || got.roles === undefined) return [];
  return matchSets(asElements(wanted.roles), asElements(got.roles)).removed;
}

/** The addresses of a user: by id, and by username if it is known. */
function naming({ id, username = '', backend }: Identity, { users }: References): Naming {
  if (id === undefined)
    return {
      address: { username },
      key: { username: backend === undefined ? username : `${backend}/${username}` },
      all: [{ username }],
    };
  const called = users?.byId(id)?.username;
  const all = typeof called === 'string' ? [{ id }, { username: called }] : [{ id }];
  return { address: { id }, key: { id }, all };
}
