import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { error, ProblemsError } from '../../src/base/problems.js';
import { profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';
import { settleState } from '../../src/session/hold.js';
import type { Holding, StateBackend } from '../../src/state/backend.js';
import { fileBackend } from '../../src/state/file/index.js';
import { afterwards } from '../cleanups.js';

const shard = { index: 2, count: 3 };
const sibling: Holding = {
  holder: 'apply --shard 1/3 by somebody',
  command: 'apply --shard 1/3',
  readable: true,
  fate: 'alive',
  elsewhere: null,
};

type Way = 'a sibling' | 'one that ended' | 'nobody';

/** A state whose lock is refused so often, and who is found to be in the way after each refusal. */
async function refusing(ways: readonly Way[]): Promise<StateBackend> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-hold-'));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  const backend = await fileBackend({ path: join(folder, 'state.json'), allowTracked: true });
  const left = [...ways];
  let way: Way | undefined;
  return {
    ...backend,
    async lock(...asked) {
      way = left.shift();
      if (way === undefined) return await backend.lock(...asked);
      throw new ProblemsError([error('locked', `refused by ${way}`, [])]);
    },
    async holdings() {
      return way === 'a sibling' ? [{ ...sibling, shard: { index: 1, count: 3 } }] : [];
    },
  };
}

const { documented: profile } = profiles;
const unasked = () => Promise.reject(new Error('nobody asked for this'));
const reader: Reader = {
  listOrganizations: unasked,
  showTemplate: unasked,
  showExtra: unasked,
  listExtra: unasked,
};

async function holding(ways: readonly Way[]): Promise<void> {
  if (profile === undefined) throw new Error('there is such a profile');
  const home = { backend: await refusing(ways), environment: null };
  const { lock } = await settleState(home, 'apply', {
    reader,
    profile,
    concurrency: 1,
    server: 'https://id.example.com',
    shard,
    holds: () => false,
  });
  await lock?.release();
}

describe('a shard that others are in the way of', () => {
  it('waits for them, also where one ends before it is looked at, however long it waited before', async () => {
    const sixTimes = Array.from({ length: 6 }, (): Way => 'a sibling');
    await holding([...sixTimes, 'one that ended', ...sixTimes, 'one that ended']);
  });

  it('says what is in its way where nobody is found there again and again', async () => {
    const ways = Array.from({ length: 50 }, (): Way => 'nobody');
    await expect(holding(['a sibling', ...ways])).rejects.toMatchObject({
      problems: [{ code: 'locked', message: 'refused by nobody' }],
    });
  });
});
