import { describe, expect, it } from 'vitest';
import { Health } from '../../../src/session/watch/health.js';

function health({ interval = 60, timeout = 30 } = {}) {
  let now = 500;
  const made = new Health({ interval, timeout, now: () => now });
  return {
    ...{ made },
    pass: (seconds: number) => {
      now += seconds;
    },
    turn: (wrong: string | null, seconds = 1) => {
      made.start();
      now += seconds;
      made.finish(wrong);
    },
  };
}

const fine = { fine: true };

describe('readiness', () => {
  it('is true at first, and false after three intervals without a success', () => {
    const { made, pass } = health();
    expect(made.ready()).toEqual(fine);
    made.start();
    pass(180);
    expect(made.ready()).toEqual(fine);
    pass(1);
    expect(made.ready()).toEqual({ fine: false, reason: 'no turn has succeeded yet: one is running' });
  });

  it('is true after a success, and for three intervals', () => {
    const { made, pass, turn } = health();
    turn(null);
    for (let count = 0; count < 3; count += 1) {
      pass(59);
      turn('failed (server-unreachable)');
      expect(made.ready()).toEqual(fine);
    }
    pass(1);
    const reason = 'no turn succeeded for 181 s: failed (server-unreachable)';
    expect(made.ready()).toEqual({ fine: false, reason });
    turn(null);
    expect(made.ready()).toEqual(fine);
  });

  it('reports the problem of the last turn', () => {
    const { made, pass, turn } = health();
    turn('failed (locked)');
    pass(100);
    turn('refused (blocked)');
    pass(100);
    expect(made.ready()).toEqual({ fine: false, reason: 'no turn has succeeded yet: refused (blocked)' });
  });

  it('allows more time if a successful turn takes longer than the interval', () => {
    const { made, pass, turn } = health({ interval: 1 });
    turn(null, 20);
    made.start();
    pass(60);
    expect(made.ready()).toEqual(fine);
    pass(1);
    expect(made.ready()).toMatchObject({ fine: false });
  });
});

describe('liveness', () => {
  it('is true in spite of failures, while there is progress', () => {
    const { made, pass, turn } = health();
    turn('failed (server-unreachable)', 9_000);
    pass(9_000);
    expect(made.alive()).toEqual(fine);
    made.start();
    for (let count = 0; count < 10; count += 1) {
      pass(599);
      made.progress();
    }
    expect(made.alive()).toEqual(fine);
  });

  it('is false if a turn makes no progress', () => {
    const { made, pass } = health();
    made.start();
    pass(600);
    expect(made.alive()).toEqual(fine);
    pass(1);
    const hangs = { fine: false, reason: 'a turn has made no progress for 601 s' };
    expect(made.alive()).toEqual(hangs);
    made.finish('failed');
    made.progress();
    expect(made.alive()).toEqual(fine);
  });

  it.each([
    [{ interval: 3600 }, 10_800],
    [{ timeout: 3600 }, 7_200],
  ])('allows more time with %j', (options, seconds) => {
    const { made, pass } = health(options);
    made.start();
    pass(seconds);
    expect(made.alive()).toEqual(fine);
    pass(1);
    expect(made.alive()).toMatchObject({ fine: false });
  });

  it('is required for readiness', () => {
    const { made, pass, turn } = health({ interval: 1 });
    turn(null, 500);
    made.start();
    pass(601);
    expect(made.ready()).toEqual(made.alive());
    expect(made.ready()).toMatchObject({ fine: false });
  });
});
