import fc from 'fast-check';
import { expect, it } from 'vitest';
import { same, type Value } from '../../src/base/values.js';
import type { Plan } from '../../src/plan/plan.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { applyAll } from '../approving.js';
import type { Doc } from '../kinds/generating/values.js';
import { often } from '../often.js';
import { ids } from '../sandbox/asking.js';
import { inPlace } from './writing.js';

/** What the fields of three objects have. */
interface Values {
  readonly label: string | null;
  readonly txt: string;
  readonly html: string;
  readonly group: string;
  /** Null where the key isn't there. */
  readonly floor: string | null;
  readonly room: string | null;
  readonly organizations: readonly string[];
}

const few = fc.constantFrom('one', 'two', 'three');
const values: fc.Arbitrary<Values> = fc.record({
  label: fc.option(few),
  txt: few.map((text) => `${text}\n`),
  html: few.map((text) => `<p>${text}</p>\n`),
  group: few,
  floor: fc.option(few),
  room: fc.option(few),
  organizations: fc.subarray([ids.acme, ids.globex, ids.initech]),
});
/** What no generated value is, so that the first run writes every object. */
const first: Values = {
  label: 'first',
  txt: 'first\n',
  html: '<p>first</p>\n',
  group: 'first',
  floor: 'first',
  room: null,
  organizations: [ids.umbrella],
};

type Profile = 'documented' | 'boruta';
const address = `/api/backends/${ids.backend}/email-templates/tx_code`;

function metadataOf({ floor, room }: Values): { [key: string]: { value: string; status: string } | null } {
  const entry = (text: string | null) => (text === null ? null : { value: text, status: 'valid' });
  return { floor: entry(floor), room: entry(room) };
}

function docsOf(of: Values, profile: Profile, left: ReadonlySet<string>): Doc[] {
  const { label, txt, html, group, organizations } = of;
  const user: Doc = {
    kind: 'User',
    id: ids.ada,
    group,
    organizations: organizations.map((id) => ({ id })),
    metadata: metadataOf(of),
  };
  const docs: Doc[] = [
    { kind: 'Organization', id: ids.umbrella, label },
    { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code', txt_content: txt, html_content: html },
    // A server without a read for users can tell nothing of them.
    ...(profile === 'boruta' ? [user] : []),
  ];
  const kept = (doc: Doc) => Object.entries(doc).filter(([field]) => !left.has(field));
  return docs.map((doc) => Object.fromEntries(kept(doc)) as Doc);
}

/** What somebody makes of the server beside idops. */
async function edit(sandbox: Sandbox, of: Values, profile: Profile): Promise<void> {
  const send = async (method: string, path: string, body?: object): Promise<void> => {
    await fetch(`${sandbox.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };
  const { name } = sandbox.snapshot().organizations.find(({ id }) => id === ids.umbrella) ?? { name: '' };
  await send('PATCH', `/api/organizations/${ids.umbrella}`, { organization: { name, label: of.label } });
  // Else a half that stays as it is would go back to the built-in text.
  if (profile === 'boruta') await send('DELETE', address);
  await send('PATCH', address, { template: { txt_content: of.txt, html_content: of.html } });
  if (profile === 'documented') return;
  const metadata = Object.fromEntries(Object.entries(metadataOf(of)).filter(([, value]) => value !== null));
  await send('PATCH', `/api/users/${ids.ada}`, {
    user: {
      metadata,
      group: of.group,
      authorized_scopes: [],
      organizations: of.organizations.map((id) => ({ id })),
      roles: [],
    },
  });
}

/** What a plan says of each path: what was left there, or undefined where it says nothing of the server's own change. */
function toldBy(plan: Plan): Map<string, Value | undefined> {
  const elements = (value: Value): Value =>
    Array.isArray(value) ? value.map((one) => (one as { id: string }).id).sort() : value;
  return new Map(
    plan.changes.flatMap(({ fields }) =>
      fields
        .filter(({ drift }) => drift?.declared !== 'nowhere')
        .map(({ path, drift }) => [path, drift && elements(drift.recorded)] as const),
    ),
  );
}

/** The paths that a plan tells of, and that no manifest declares. */
function undeclaredIn(plan: Plan): string[] {
  const fields = plan.changes.flatMap((change) => change.fields);
  return fields.flatMap(({ path, drift }) => (drift?.declared === 'nowhere' ? [path] : [])).sort();
}

/** The same, by comparing what was left, what is there and what is declared. */
function wantedOf(
  [was, now, asked]: readonly [Values, Values, Values],
  profile: Profile,
  undeclared: ReadonlySet<string>,
): Map<string, Value | undefined> {
  const ofUser = (of: Values): [string, Value][] => [
    ['group', of.group],
    ['organizations', [...of.organizations].sort()],
    ['metadata.floor', metadataOf(of).floor ?? null],
    ['metadata.room', metadataOf(of).room ?? null],
  ];
  const paths = (of: Values): [string, Value][] => [
    ['label', of.label],
    ['txt_content', of.txt],
    ['html_content', of.html],
    ...(profile === 'boruta' ? ofUser(of) : []),
  ];
  const [left, live] = [new Map(paths(was)), new Map(paths(now))];
  return new Map(
    paths(asked).flatMap(([path, wish]) => {
      const [before, present] = [left.get(path) ?? null, live.get(path) ?? null];
      if (undeclared.has(path.split('.')[0] ?? '') || same(wish, present)) return [];
      return [[path, same(before, present) ? undefined : before] as const];
    }),
  );
}

it('drift is exactly what differs from the values that the last run left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Profile>('documented', 'boruta'),
      values,
      values,
      values,
      fc.subarray(['label', 'txt_content', 'group', 'metadata', 'organizations']),
      async (profile, was, now, asked, undeclared) => {
        await inPlace({ profile }, async (place) => {
          for (const of of [first, was]) {
            place.declare(docsOf(of, profile, new Set()));
            await place.writing(async (session) => await applyAll(session, await session.plan()));
          }
          await edit(place.sandbox, now, profile);
          place.declare(docsOf(asked, profile, new Set(undeclared)));
          const plan = await place.session((session) => session.plan());
          expect(toldBy(plan)).toEqual(wantedOf([was, now, asked], profile, new Set(undeclared)));
          // What the user had from the beginning went by hand.
          const isTold = profile === 'boruta' && !undeclared.includes('metadata');
          expect(undeclaredIn(plan)).toEqual(isTold ? ['metadata.department', 'metadata.phone'] : []);
        });
      },
    ),
    { numRuns: often(40) },
  );
});
