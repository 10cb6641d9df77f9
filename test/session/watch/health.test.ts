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

describe('whether turns go well', () => {
  it('is yes at first, and no where none has gone well for three intervals', () => {
    const { made, pass } = health();
    expect(made.ready()).toEqual(fine);
    made.start();
    pass(180);
    expect(made.ready()).toEqual(fine);
    pass(1);
    expect(made.ready()).toEqual({ fine: false, reason: 'no turn went well yet: one is under way' });
  });

  it('is yes after one that did, and for three intervals after it', () => {
    const { made, pass, turn } = health();
    turn(null);
    for (let count = 0; count < 3; count += 1) {
      pass(59);
      turn('failed (server-unreachable)');
      expect(made.ready()).toEqual(fine);
    }
    pass(1);
    const reason = 'no turn went well for 181 s: failed (server-unreachable)';
    expect(made.ready()).toEqual({ fine: false, reason });
    turn(null);
    expect(made.ready()).toEqual(fine);
  });

  it('says what was wrong with the last turn', () => {
    const { made, pass, turn } = health();
    turn('failed (locked)');
    pass(100);
    turn('refused (blocked)');
    pass(100);
    expect(made.ready()).toEqual({ fine: false, reason: 'no turn went well yet: refused (blocked)' });
  });

  it('waits longer where a good turn takes longer than the interval', () => {
    const { made, pass, turn } = health({ interval: 1 });
    turn(null, 20);
    made.start();
    pass(60);
    expect(made.ready()).toEqual(fine);
    pass(1);
    expect(made.ready()).toMatchObject({ fine: false });
  });
});

describe('whether the process is of use', () => {
  it('is yes whatever goes wrong, as long as something is done', () => {
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

  it('is no where a turn gives no sign of life', () => {
    const { made, pass } = health();
    made.start();
    pass(600);
    expect(made.alive()).toEqual(fine);
    pass(1);
    const hangs = { fine: false, reason: 'a turn gives no sign of life for 601 s' };
    expect(made.alive()).toEqual(hangs);
    made.finish('failed');
    made.progress();
    expect(made.alive()).toEqual(fine);
  });

  it.each([
    [{ interval: 3600 }, 10_800],
    [{ timeout: 3600 }, 7_200],
  ])('waits longer with %j', (options, seconds) => {
    const { made, pass } = health(options);
    made.start();
    pass(seconds);
    expect(made.alive()).toEqual(fine);
    pass(1);
    expect(made.alive()).toMatchObject({ fine: false });
  });

  it('has a part in whether turns go well', () => {
    const { made, pass, turn } = health({ interval: 1 });
    turn(null, 500);
    made.start();
    pass(601);
    expect(made.ready()).toEqual(made.alive());
    expect(made.ready()).toMatchObject({ fine: false });
  });
});
