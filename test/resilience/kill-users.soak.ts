import { expect, test } from 'vitest';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { comparable, ids } from '../boruta/site.js';
import { project, type Ran, startedSeed, type TestProject } from '../e2e/running.js';

/** How many runs are killed, each with requests in flight. */
const KILLS = Number(process.env.IDOPS_KILLS ?? 6);
const USERS = 32;

/** The only message that need not be exact; all others must be true. */
const UNTRUE = /was not done/;

async function crowd(): Promise<SandboxSeed> {
  const seed = await startedSeed();
  const ada = seed.users.find(({ id }) => id === ids.ada);
  if (ada === undefined) throw new Error('no user to copy');
  const others = Array.from({ length: USERS }, (_, index) => ({
    ...structuredClone(ada),
    id: `40000000-0000-4000-8000-${String(index + 100).padStart(12, '0')}`,
  }));
  return { ...seed, users: [...seed.users, ...others] };
}

function manifest(seed: SandboxSeed, group: string): string {
  return seed.users
    .slice(-USERS)
    .map(({ id }) => `kind: User\nid: ${id}\ngroup: ${group}\n`)
    .join('---\n');
}

/** Starts an apply, and kills it at the given moment after its first PATCH arrived. */
async function kill(at: TestProject, moment: (ended: () => boolean) => Promise<unknown>): Promise<Ran> {
  const seen = at.writes().length;
  const run = at.begin(['apply', '--yes', '--concurrency', '6']);
  while (at.writes().length === seen && run.child.exitCode === null) await pause(3);
  await Promise.race([moment(() => run.child.exitCode !== null), run.ended]);
  run.child.kill('SIGKILL');
  return await run.ended;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The users that lost members of a list. */
function losses(at: TestProject, start: SandboxSeed): string[] {
  const before = new Map(start.users.map((user) => [user.id, user]));
  return at.sandbox.snapshot().users.flatMap((user) => {
    const was = before.get(user.id);
    const lists = ['authorized_scopes', 'organizations', 'roles'] as const;
    return lists
      .filter((list) => user[list].length !== was?.[list].length)
      .map((list) => `${user.id} ${list}`);
  });
}

test('killed runs over users lose nothing and report nothing false', async () => {
  const start = await crowd();
  const at = await project(
    {
      'idops.yaml':
        'version: 1\nserver:\n  base_url: ${IDOPS_BASE_URL}\n  profile: boruta\n  auth: {token: "${IDOPS_TOKEN}"}\n',
      'manifests/users.yaml': manifest(start, 'round-0'),
    },
    { profile: 'boruta', seed: start, latency: 60 },
  );
  let cuts = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const group = `round-${round}`;
    await at.write({ 'manifests/users.yaml': manifest(start, group) });
    // Every other time exactly when a list is empty, which a random moment may miss.
    await kill(at, async (ended) => {
      if (round % 2 === 1) return await pause(((round * 0.618) % 1) * 250);
      while (losses(at, start).length === 0 && !ended()) await pause(1);
    });
    await pause(100);
    const lost = losses(at, start);
    cuts += lost.length;
    const groups = new Map(at.sandbox.snapshot().users.map((user) => [user.id, user.group]));
    const after = await at.idops('apply --yes --concurrency 6');
    expect([round, losses(at, start), after.stderr]).toEqual([round, [], after.stderr]);
    expect([after.code, after.stderr]).toEqual([0, after.stderr]);
    for (const line of after.stderr.split('\n')) {
      const [, id = ''] = /User\/([0-9a-f-]{36}): /.exec(line) ?? [];
      // If nothing was done, the group and every list are unchanged.
      if (UNTRUE.test(line) && !/as a whole/.test(line)) {
        expect([line, groups.get(id) === group]).toEqual([line, false]);
        expect(
          lost.filter((one) => one.startsWith(id)),
          line,
        ).toEqual([]);
      }
    }
    const second = await at.idops('plan --detailed-exitcode');
    expect([second.code, second.stdout]).toEqual([0, second.stdout]);
  }
  const end = comparable(at.sandbox.snapshot());
  const goal = comparable({
    ...start,
    users: start.users.map((user, index) =>
      index < start.users.length - USERS ? user : { ...user, group: `round-${KILLS}` },
    ),
  });
  expect(end).toEqual(goal);
  // The test is meaningful only if some lists were lost on the way.
  expect(cuts).toBeGreaterThan(0);
});
