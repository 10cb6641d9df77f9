import pLimit from 'p-limit';
import { afterAll, expect, test } from 'vitest';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { distinct, type Stopped, stops } from './images.js';
import { type Kill, killProcess, type Outcome, rerun, setUp, shapeOf } from './killing.js';
import { cleanUp, type Stage, stage } from './stages.js';

/** Every nth file place also kills a real process. */
const EACH = 12;

/** As many processes as two processors can run. */
const limit = pLimit(2);

interface Rerun extends Outcome {
  readonly words: string;
}

/** Continues from each place where a run was stopped, as if each was killed. */
async function rerunAll(on: Stage, stopped: readonly Stopped[]): Promise<Rerun[]> {
  const reruns: Rerun[] = [];
  for (const image of stopped) {
    reruns.push({ words: image.words, ...(await rerun(on, await setUp(on, image))) });
  }
  return reruns;
}

/** Kills a process at a place, checks that it leaves what the image predicted, and continues. */
async function rerunKilled(on: Stage, words: string, kill: Kill, image?: Stopped): Promise<Rerun> {
  const left = await killProcess(on, kill);
  const shapes = [left, image ?? left].map(shapeOf);
  const [found, expected] = await Promise.all(shapes);
  const { wrong, settled } = await rerun(on, left);
  const other =
    JSON.stringify(found) === JSON.stringify(expected) ? [] : [`it left ${found}, and not ${expected}`];
  return { words: `${words}, killed`, wrong: [...other, ...wrong], settled };
}

/** Stops a run at each durable step, and checks that the following runs lose and repeat nothing. */
export function walkKills(profile: SandboxProfile): void {
  afterAll(cleanUp);
  test(`a run that is killed at any point converges afterwards (${profile})`, {
    timeout: 900_000,
  }, async () => {
    const on = await stage(profile);
    const once = await stops(on, on.first, distinct);
    expect(once.filter(({ file }) => file === undefined)).toHaveLength(2 * on.writes);
    // The next run has to settle it, and is stopped too, before file events.
    const twice: Stopped[] = [];
    for (const [index, write] of [on.writes, on.writes - 1, on.writes - 2].entries()) {
      const first = once.find(({ words }) => words === `after the work of write ${write}`);
      if (first === undefined) throw new Error(`nothing is known of write ${write}`);
      const settling = await stops(on, first, () => 'before');
      const some = settling.filter(({ file }) => file !== undefined && file.event % 3 === (index + 1) % 3);
      twice.push(...some.map((image) => ({ ...image, words: `${first.words}, and again ${image.words}` })));
    }
    expect(twice.length).toBeGreaterThanOrEqual(20);
    const reruns = await rerunAll(on, [...once, ...twice]);

    const files = once.flatMap((image) => (image.file === undefined ? [] : [{ ...image, file: image.file }]));
    const sampled = files.filter((_, index) => index % EACH === EACH - 1);
    const crowded = Array.from({ length: on.writes }, (_, index): Kill => {
      return { write: index + 1, work: index % 2 === 0 ? 'after' : 'before' };
    });
    const killedOnes = await Promise.all([
      ...sampled.map((image) => limit(() => rerunKilled(on, image.words, image.file, image))),
      ...crowded.map((kill) => limit(() => rerunKilled(on, `${JSON.stringify(kill)}, 10 at once`, kill))),
    ]);
    const outcomes = [...reruns, ...killedOnes];
    expect(outcomes.flatMap(({ words, wrong }) => wrong.map((what) => `${words}: ${what}`))).toEqual([]);
    expect(sampled.length).toBeGreaterThanOrEqual(4);
    expect(outcomes.length).toBeGreaterThanOrEqual(110);
    // Two clients, and each regeneration can be cut before the request, in flight and before the response.
    expect(outcomes.filter(({ settled }) => settled > 0).length).toBeGreaterThan(5);
    expect(outcomes.filter(({ settled }) => settled === 0).length).toBeGreaterThan(50);
  });
}
