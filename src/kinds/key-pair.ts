import * as z from 'zod';
import { fingerprint } from '../base/identifiers.js';
import { nullish } from '../base/members.js';
import type { Problem } from '../base/problems.js';
import { type Fields, filterValues, lazy, type Value } from '../base/values.js';
import { answers } from '../server/answers.js';
import type { Profile } from '../server/profiles.js';
import type { Catalog } from './catalog.js';
import type { PlanWarning } from './change.js';
import { discoverInList, foundObject, missing, observeEach, readOne } from './discovery.js';
import { isTrue, value } from './fields.js';
import type {
  Declared,
  DiscoverContext,
  DiscoveryResult,
  Identity,
  Kind,
  PlanInput,
  Regeneration,
  Update,
} from './kind.js';
import { onlyBoruta } from './lifecycle.js';
import {
  DEFAULTS,
  defaultsOf,
  falseNotSent,
  oneDefault,
  recordedDefaults,
  severalDefaults,
  twoDefaults,
} from './one-default.js';
import { listRead } from './references.js';
import { counter, decideRegeneration, presentValue } from './regeneration.js';
import { profileProblems } from './rules.js';
import { document, identifier, ignorable, text, UUID } from './schema.js';
import type { ProfileTraits, Traits } from './traits.js';

interface KeyPairTraits extends Traits {
  /** Whether the server takes the default from the former key pair. If so, `false` must not be sent. */
  readonly movesDefault: boolean;
}

const traits: ProfileTraits<KeyPairTraits> = {
  documented: { movesDefault: false },
  boruta: {
    movesDefault: true,
    read: { title: 'show a key pair', path: '/api/key-pairs/:key_pair_id', scope: 'clients:manage:all' },
    ignored: ['public_key'],
    nullBecomes: { is_default: false },
    unsafe: true,
  },
};

const schema = lazy(() =>
  document('KeyPair', 'A key pair that the server signs with.', {
    id: identifier().meta({ description: 'The id of the key pair.', examples: [UUID] }),
    public_key: nullish(text(), 'The public key in PEM form. Boruta ignores it.', {
      file: 'keys/signing.pub.pem',
    }),
    is_default: nullish(
      z.boolean(),
      'Whether it is the default key pair. Moving the default is destructive.',
      true,
    ),
    rotation: counter('give the key pair a new key'),
    ignored: ignorable(traits),
  }),
);

const regeneration: Regeneration = {
  counter: 'rotation',
  owner: 'key pair',
  field: 'public_key',
  name: '',
  noun: 'key',
  // A PEM key has several lines, so messages show its fingerprint.
  shorten: fingerprint,
  movedCode: 'key-moved',
  request: (id) => ({ operation: 'rotateKeyPair', params: { key_pair_id: id } }),
  destruction: (present, shown, references) =>
    `rotates the key${presentValue(regeneration, present, shown)}: ${rotationEffect(present, references?.clients)}`,
  unchangedMessage: () => 'the key is the same as before',
};

/** Describes which clients get the new key, if the server shows which have the present one. */
function rotationEffect({ public_key: key }: Fields, clients: Catalog | null | undefined): string {
  if (clients == null || typeof key !== 'string') return 'the clients that hold it get the new one';
  const holders = clients.rows().filter(({ public_key: held }) => held === key);
  if (holders.length === 0) return 'no client holds it';
  const named = holders.map(({ id, name }) =>
    typeof name === 'string' ? `"${name}" (Client/${id})` : `Client/${id}`,
  );
  return `the clients that hold it get the new one: ${named.join(', ')}`;
}

export const keyPair: Kind = {
  name: 'KeyPair',
  noun: 'key pair',
  schema,
  identity: ['id'],
  fields: { public_key: value, is_default: value },
  scope: 'clients:manage:all',
  traits,
  check: (declared, profile) => [
    ...profileProblems(declared, profile, traits),
    ...rotations(declared, profile),
    ...twoDefaults(declared, 'key pair'),
  ],
  addressPart: ({ id }) => id ?? '',
  readable: (profile) => listRead('keyPairs', profile) !== undefined,
  listedIn: 'own',
  ...oneDefault('key pair'),
  preconditions: [DEFAULTS, 'public_key'],
  async observe(objects, context) {
    const { read } = traits[context.profile.name];
    const all = listRead('keyPairs', context.profile);
    if (all === undefined) return new Map();
    const list = (await readOne(context, all, {}, answers.keyPairs)) ?? [];
    const byId = new Map(list.map((pair) => [pair.id, pair]));
    const defaults = defaultsOf(list);
    return await observeEach(objects, async (identity) => {
      const shown =
        byId.get(identity.id) ??
        // It may be on a further page of the list.
        (read === undefined
          ? null
          : await readOne(context, read, { key_pair_id: identity.id ?? '' }, answers.keyPair));
      if (shown === null) return missing(identity, 'key pair');
      return { exists: true, identity, fields: shownPair(shown, defaults) };
    });
  },
  referenceLists: ({ generation }) => (generation === undefined ? [] : ['clients']),
  decide: (input) => decideRegeneration(input, regeneration),
  regeneration,
  update(input) {
    if (traits[input.profile.name].movesDefault) return move(input);
    const { present, desired, changed } = input;
    // A `false` that changes nothing isn't sent.
    const isSent = (asked: Value, field: string) =>
      field !== 'is_default' || isTrue(asked) || changed.has(field);
    const body = filterValues(desired, isSent);
    return { requests: [request(present.identity, body)], expected: body };
  },
  discovery: { options: {}, find },
};

/** Problems for rotations, which the documented API doesn't have. */
function rotations(declared: readonly Declared[], { name }: Profile): Problem[] {
  if (name === 'boruta') return [];
  return declared
    .filter(({ generation }) => generation !== undefined)
    .map((pair) =>
      onlyBoruta('the documented API has no operation that rotates a key pair', pair.places.of('rotation')),
    );
}

/** An update on a server that takes the default from the former one. */
function move({ present, desired }: PlanInput): Update {
  const { is_default: asked = false } = desired;
  const expected = { is_default: asked };
  const reason = severalDefaults(present.fields, 'key pair', 'by hand, with is_default: false');
  if (reason !== undefined) return { requests: [], expected, reason };
  // `false` would leave the server without a default. The `true` of the other pair has the same effect.
  if (!isTrue(asked)) return { requests: [], expected, warnings: [falseNotSent('key pair')] };
  const isFirst = (recordedDefaults(present.fields) ?? []).length === 0;
  const requests = [request(present.identity, expected)];
  return { requests, expected, warnings: isFirst ? [EXTRA_PAIR] : [] };
}

const EXTRA_PAIR: PlanWarning = {
  code: 'extra-key-pair',
  message: 'no key pair is the default now, and the server creates one more when the first is set',
};

function request({ id = '' }: Identity, body: Fields): Update['requests'][number] {
  return { operation: 'updateKeyPair', params: { key_pair_id: id }, body };
}

function shownPair({ is_default, ...rest }: Fields, defaults: readonly string[]): Fields {
  // Null means that the pair was never the default.
  const known = is_default === undefined ? {} : { is_default: is_default === true };
  return { ...rest, ...known, [DEFAULTS]: [...defaults] };
}

async function find({ list }: DiscoverContext): Promise<DiscoveryResult> {
  const pairs = await list('keyPairs');
  const defaults = defaultsOf(pairs?.all() ?? []);
  return discoverInList(pairs, 'key pairs', (pair) => ({
    ...foundObject(pair.id, null, shownPair(pair, defaults)),
    ...(pair.is_default === true ? { remark: 'the default' } : {}),
  }));
}
