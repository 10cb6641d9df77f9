import fc from 'fast-check';
import { kinds } from '../../../src/kinds/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import type { SandboxProfile, SandboxSeed } from '../../../src/sandbox/index.js';
import { loadSeed } from '../../../src/sandbox/seed.js';
import { type Profile, profiles } from '../../../src/server/profiles.js';
import { type Rounds, samples } from './samples.js';

/** A server with objects of one kind, and what manifests say of them one after the other. */
export interface KindWorld extends Rounds {
  readonly seed: SandboxSeed;
}

/** A kind on a server. */
export interface Case {
  readonly kind: Kind;
  readonly profile: Profile;
  readonly worlds: fc.Arbitrary<KindWorld>;
}

/** Every kind on every server that there is a sandbox for and that has it. */
export const cases: readonly Case[] = kinds.flatMap((kind) =>
  Object.values(profiles)
    .filter(({ name }) => kind.onlyProfile === undefined || kind.onlyProfile === name)
    .map((profile) => ({ kind, profile, worlds: worlds(kind, profile.name) })),
);

function worlds({ name }: Kind, profile: SandboxProfile): fc.Arbitrary<KindWorld> {
  const { server, rounds } = samples[name];
  return server(profile)
    .map((rows): SandboxSeed => ({ ...loadSeed('demo'), ...rows }))
    .chain((seed) => rounds(seed, profile).map((said) => ({ seed, ...said })));
}

/** Always the same few of them, for what takes its time. */
export function someOf({ worlds }: Case, count: number): KindWorld[] {
  return fc.sample(worlds, { numRuns: count, seed: 20_260_131 });
}

/** A server's data without what has no order, and without the ids of what is written anew under another one. */
export function comparable(data: SandboxSeed): unknown {
  return normal({ ...data, templates: data.templates.map(({ id: _id, ...rest }) => rest) });
}

/** The ids of the demo data have zeros in them; the server makes others for what it is sent without one, each time. */
const madeId = /^[0-9a-f]{8}-(?!0000-)[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The key and the secret that the server makes for a new client. */
const madeSecret = /^(-----BEGIN RSA PUBLIC KEY-----.*|[\w-]{86})$/s;

/** An instant, which is recorded in one form, whatever the server wrote. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is cleared is the same in every form, so is an instant, and lists of objects are sorted. */
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
