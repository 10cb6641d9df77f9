import fc from 'fast-check';
import { kinds } from '../../../src/kinds/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import type { SandboxProfile, SandboxSeed } from '../../../src/sandbox/index.js';
import { loadSeed } from '../../../src/sandbox/seed.js';
import { type Profile, profiles } from '../../../src/server/profiles.js';
import { type ManifestPair, samples } from './samples.js';

/** A server with objects of one kind, and two manifests for them. */
export interface Scenario extends ManifestPair {
  readonly seed: SandboxSeed;
}

/** A kind on a server. */
export interface Case {
  readonly kind: Kind;
  readonly profile: Profile;
  readonly scenarios: fc.Arbitrary<Scenario>;
}

/** Every kind on every profile that has it. */
export const cases: readonly Case[] = kinds.flatMap((kind) =>
  Object.values(profiles)
    .filter(({ name }) => kind.onlyProfile === undefined || kind.onlyProfile === name)
    .map((profile) => ({ kind, profile, scenarios: scenarios(kind, profile.name) })),
);

function scenarios({ name }: Kind, profile: SandboxProfile): fc.Arbitrary<Scenario> {
  const { server, manifests } = samples[name];
  return server(profile)
    .map((rows): SandboxSeed => ({ ...loadSeed('demo'), ...rows }))
    .chain((seed) => manifests(seed, profile).map((pair) => ({ seed, ...pair })));
}

/** A few scenarios, always the same, for slow tests. */
export function sampleScenarios({ scenarios }: Case, count: number): Scenario[] {
  return fc.sample(scenarios, { numRuns: count, seed: 20_260_131 });
}

/** The server's data in a normal form: lists are sorted, and ids that the server generates are omitted. */
export function comparable(data: SandboxSeed): unknown {
  return normal({ ...data, templates: data.templates.map(({ id: _id, ...rest }) => rest) });
}

/** An id that the server generated, which differs each time. Ids of the demo data have zeros in the second group. */
const madeId = /^[0-9a-f]{8}-(?!0000-)[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The key and the secret that the server generates for a new client. */
const madeSecret = /^(-----BEGIN RSA PUBLIC KEY-----.*|[\w-]{86})$/s;

/** An instant, which the state records in one form, whatever form the server uses. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Treats every empty value as null and equal instants as equal, and sorts lists. */
function normal(value: unknown): unknown {
  if (typeof value === 'string') {
    if (moment.test(value)) return new Date(value).toISOString();
    if (madeSecret.test(value)) return 'a secret';
    return madeId.test(value) ? 'an id' : value;
  }
  if (Array.isArray(value)) {
    const items = value.map(normal);
    return items.length === 0 ? null : items.sort((a, b) => (written(a) < written(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).map(([name, member]) => [name, normal(member)] as const);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0 ? null : Object.fromEntries(sorted);
}

function written(value: unknown): string {
  return JSON.stringify(value);
}
