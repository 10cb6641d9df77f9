import { error, type Problem } from '../base/problems.js';
import { assign, filterValues, isMap, mapValues, UNKNOWN_TEXT } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { LDAP } from './backend-schema.js';
import { areNamesUnique, isOwnerGone, noSuchUser, userByName } from './by-name.js';
import type { PlanWarning } from './change.js';
import { asElements, characterCount, displayElement, isTrue, textOf } from './fields.js';
import { holdingsOf } from './holdings.js';
import type {
  Creation,
  Declared,
  Deletion,
  Identity,
  Live,
  ObserveContext,
  PlanInput,
  Verdict,
} from './kind.js';
import { absentProblems, deletionOf, unsupportedLifecycle } from './lifecycle.js';
import { userSets } from './user-schema.js';

/** The problems of a declared creation or deletion. */
export function lifecycleProblems(user: Declared, profile: Profile): Problem[] {
  return [
    ...absentProblems(user, 'user', ['username', 'backend', 'password']),
    ...unsupportedLifecycle(user, 'user', profile),
    ...(profile.creates ? newUserProblems(user) : []),
  ];
}

function newUserProblems(user: Declared): Problem[] {
  const { creates, identity, fields } = user;
  const { username = '' } = identity;
  const password = textOf(fields.password);
  const length = characterCount(password);
  const isUsable = password === UNKNOWN_TEXT || length === 0 || (length >= 12 && length <= 80);
  const refused = (message: string, field: string) =>
    error('profile-limit', `${message} (profile boruta)`, [user.places.of(field)]);
  return [
    ...(isUsable ? [] : [refused(`"password" has ${length} characters, and must have 12 to 80`, 'password')]),
    ...(creates !== true || username === '' || /^\S{0,158}@\S+$/.test(username) || username === UNKNOWN_TEXT
      ? []
      : [refused('the username of a new user must have an @, no space', 'username')]),
  ];
}

export const userCreation: Creation = {
  acceptsId: false,
  required: ['username', 'backend', 'password'],
  idRefusal:
    'the server chooses the id of a new user: declare the username and the backend, and leave out the id',
  createOnly: ['password'],
  prepare: ({ backend = '' }, fields, { backends }) => {
    const row = backends?.byId(backend);
    const twice = userSets.find((list) => {
      const ids = asElements(fields[list]).map(({ id }) => id);
      return new Set(ids).size < ids.length;
    });
    if (textOf(row?.type) === LDAP)
      return { fields, reason: `an LDAP backend takes no new users: add the user to its directory` };
    if (twice !== undefined) return { fields, reason: `an element of ${twice} is there twice: remove one` };
    const { create_default_organization: hasDefault, metadata_fields: known } = row ?? {};
    const sent = { ...fields };
    const warnings: PlanWarning[] = [];
    const leave = (what: string, why: string): void => {
      const message = `${why}, so ${what} can't be sent with the new user: plan and apply again to set it`;
      warnings.push({ code: 'follows', message });
    };
    if (isTrue(hasDefault) && fields.organizations !== undefined) {
      delete sent.organizations;
      leave('organizations', 'the backend gives each new user an organization of their own');
    }
    const { metadata } = fields;
    if (Array.isArray(known) && isMap(metadata)) {
      const names = new Set(asElements(known).map(({ attribute_name }) => attribute_name));
      sent.metadata = filterValues(metadata, (_, key) => names.has(key));
      const others = Object.keys(metadata).filter((key) => !names.has(key));
      const which = `metadata.${others.join(', metadata.')}`;
      if (others.length > 0) leave(which, 'the metadata_fields of the backend have no such field');
    }
    return { fields: sent, warnings };
  },
  grants({ backend = '' }, references) {
    const { backends } = references;
    const row = backends?.byId(backend);
    if (row === undefined) return [];
    const giver = `the backend${displayElement(row, areNamesUnique(backends, [row]))}`;
    return holdingsOf({ 'backend.roles': row.roles ?? null }, references).map((one) => ({ ...one, giver }));
  },
  request: ({ username = '', backend = '' }, fields) => ({
    operation: 'createUser',
    params: {},
    beside: { backend_id: backend },
    body: {
      username,
      ...mapValues(fields, (field, name) =>
        // The server uses only the ids of the elements.
        userSets.includes(name) ? asElements(field).map(({ id = null }) => ({ id })) : field,
      ),
    },
  }),
};

export const userDeletion: Deletion = deletionOf(
  'deleteUser',
  'user_id',
  'deletes the user; an organization that the server made for them stays',
);

/** Blocks the deletion of a user who is in an LDAP directory. */
export function decideDeletion({ declared, present: { exists, readOnly } }: PlanInput): Verdict | undefined {
  const backend = readOnly?.backend ?? null;
  if (!declared.absent || exists !== true || !isMap(backend) || backend.type !== LDAP) return undefined;
  return { action: 'blocked', reason: 'users of an LDAP backend are deleted in its directory' };
}

/** Finds the id for a user's username, or the reason why there is none. */
export async function findUser(identity: Identity, { list }: Pick<ObserveContext, 'list'>): Promise<Live> {
  if (identity.id !== undefined) return { exists: true, identity, fields: {} };
  const backends = identity.backend === undefined ? {} : { backends: await list('backends') };
  const references = { users: await list('users'), ...backends };
  const nothing = { exists: false, identity, fields: {} };
  if (isOwnerGone(identity, references) || userByName.missing?.(identity, references) !== undefined)
    return { ...nothing, missing: true, reason: noSuchUser(identity.username ?? '') };
  const found = userByName.find(identity, references);
  if (typeof found === 'string') return { ...nothing, reason: found };
  return { exists: true, identity: assign(identity, found), fields: {} };
}
