import pLimit from 'p-limit';
import { afterAll, expect, test } from 'vitest';
import { cleanUp, type Kill, killAndGoOn, killPoints, type Stage, stage } from './killing.js';

afterAll(cleanUp);

function words(on: Stage, kill: Kill): string {
  const again = kill.again === undefined ? '' : `, and again before number ${kill.again}`;
  return kill.at === 'file'
    ? `${kill.how} ${on.events[kill.event - 1]}, number ${kill.event}`
    : `${kill.work} the work of write ${kill.write}, ${kill.concurrency} at once${again}`;
}

/** A process each; as many at once as two processors carry. */
const limit = pLimit(3);

test.each([
  ['documented', 110],
  ['boruta', 110],
] as const)('a run that is killed anywhere converges afterwards (%s)', async (profile, least) => {
  const on = await stage(profile);
  const points = killPoints(on);
  const outcomes = await Promise.all(
    points.map((kill) => limit(async () => ({ kill, ...(await killAndGoOn(on, kill)) }))),
  );
  const wrong = outcomes.flatMap(({ kill, wrong }) => wrong.map((what) => `${words(on, kill)}: ${what}`));
  expect(wrong).toEqual([]);
  expect(outcomes.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(least);
  // Two clients, and each can be cut off before its request, under way and before its answer.
  expect(outcomes.filter(({ settled }) => settled > 0).length).toBeGreaterThan(5);
  expect(outcomes.filter(({ settled }) => settled === 0).length).toBeGreaterThan(50);
});
