import { describe, expect, it } from 'vitest';
import { createProgress, drawsBar, type ProgressOptions } from '../../src/cli/progress.js';

function watched(parts: Partial<ProgressOptions> = {}) {
  const said: (string | null)[] = [];
  const clock = { time: 0 };
  const progress = createProgress({
    output: { message: (text) => said.push(text), transient: (line) => said.push(line) },
    terminal: false,
    columns: 80,
    quiet: false,
    now: () => clock.time,
    ...parts,
  });
  return { said, clock, progress };
}

describe('progress without a terminal', () => {
  it('says the start, the end, and at most every tenth in between', () => {
    const { said, progress } = watched();
    progress.phase('organizations read', 55);
    for (let step = 0; step < 55; step += 1) progress.step();
    progress.end();
    expect(said).toEqual(
      [0, 6, 11, 17, 22, 28, 33, 39, 44, 50, 55].map((done) => `organizations read: ${done}/55`),
    );
  });

  it('says the start and the end alone of a short phase', () => {
    const { said, progress } = watched();
    progress.phase('changes applied', 3);
    for (let step = 0; step < 3; step += 1) progress.step();
    progress.end();
    expect(said).toEqual(['changes applied: 0/3', 'changes applied: 3/3']);
  });

  it('says how far a phase came that ended early', () => {
    const { said, progress } = watched();
    progress.phase('changes applied', 3);
    progress.step();
    progress.end();
    progress.end();
    progress.step();
    expect(said).toEqual(['changes applied: 0/3', 'changes applied: 1/3']);
  });
});

it('says how far a phase came that something failed in', () => {
  const { said, progress } = watched();
  progress.phase('Observing', 33);
  progress.step();
  progress.end('failed');
  progress.end('failed');
  expect(said).toEqual(['Observing: 0/33', 'Observing: stopped after 1 of 33']);
});

describe('progress on a terminal', () => {
  it('draws a bar that is taken away at the end', () => {
    const { said, progress } = watched({ terminal: true });
    progress.phase('changes applied', 2);
    progress.step();
    progress.step();
    progress.end();
    expect(said).toEqual([
      `${'─'.repeat(24)} 0/2 changes applied`,
      `${'━'.repeat(24)} 2/2 changes applied`,
      null,
    ]);
  });

  it('draws no more often than an eye can follow', () => {
    const { said, clock, progress } = watched({ terminal: true });
    progress.phase('x', 1000);
    for (let step = 0; step < 100; step += 1) {
      clock.time += 10;
      progress.step();
    }
    expect(said).toHaveLength(13);
  });

  it('stays within the line', () => {
    const { said, progress } = watched({ terminal: true, columns: 20 });
    progress.phase('a phase', 0);
    expect(said).toEqual(['━'.repeat(19)]);
  });
});

describe('progress', () => {
  it('is not shown when idops is to be quiet', () => {
    const { said, progress } = watched({ quiet: true, terminal: true });
    progress.phase('x', 1);
    progress.step();
    progress.end();
    expect(said).toEqual([]);
  });

  it('is a bar on terminals that keep no record', () => {
    expect(drawsBar({ isTTY: true }, {})).toBe(true);
    expect(drawsBar({ isTTY: true }, { CI: 'true' })).toBe(false);
    expect(drawsBar({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(drawsBar({}, {})).toBe(false);
  });
});
