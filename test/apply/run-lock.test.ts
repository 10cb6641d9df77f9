import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunLock } from '../../src/apply/run-lock.js';
import { error, ProblemsError } from '../../src/base/problems.js';

const failing = (code: 'locked' | 'state-unreachable') => new ProblemsError([error(code, 'no')]);

describe('the lock that a request needs', () => {
  /** Called whenever the lock is confirmed. */
  let confirm: () => Promise<void>;
  let held: RunLock;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
    confirm = async () => {};
    held = new RunLock({ confirm: () => confirm(), lease: 60_000 });
  });
  afterEach(() => {
    held.end();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  /** Simulates a sleep of the machine: the monotonic clock stops, and no timer runs. */
  const sleep = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
  /** Simulates a stopped process: both clocks continue, and no timer runs. */
  const stop = (milliseconds: number) => {
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + milliseconds);
    sleep(milliseconds);
  };

  it('is valid after it was confirmed, until too much time has passed', async () => {
    const permit = held.permit(false);
    expect(permit.holds()).toBe(false);
    await permit.confirm();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(permit.holds()).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(permit.holds()).toBe(false);
  });

  it('is confirmed once per turn of the event loop', async () => {
    const asked = vi.fn(async () => {});
    confirm = asked;
    await Promise.all([held.confirm(), held.permit(false).confirm()]);
    await held.confirm();
    expect(asked).toHaveBeenCalledTimes(1);
    await turn();
    await held.confirm();
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['the process was stopped', stop],
    ['the machine slept', sleep],
  ])('holds no more once %s, also in the middle of a look', async (_, away) => {
    const permit = held.permit(false);
    await permit.confirm();
    away(1000);
    expect(permit.holds()).toBe(false);
    confirm = async () => away(2000);
    await permit.confirm();
    expect(permit.holds()).toBe(false);
    confirm = async () => {};
    await permit.confirm();
    expect(permit.holds()).toBe(true);
  });

  it("that can't be confirmed is enough for started changes, within its lease", async () => {
    await held.confirm();
    await turn();
    confirm = () => Promise.reject(failing('state-unreachable'));
    await expect(held.permit(false).confirm()).rejects.toThrow('state-unreachable');
    expect(held.permit(false).holds()).toBe(true);
    await held.permit(true).confirm();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(held.permit(true).holds()).toBe(true);
    sleep(2000);
    expect(held.permit(true).holds()).toBe(false);
    await expect(held.permit(true).confirm()).rejects.toThrow('state-unreachable');
  });

  it('that was lost is not enough for started changes', async () => {
    await held.confirm();
    await turn();
    confirm = () => Promise.reject(failing('locked'));
    await expect(held.permit(true).confirm()).rejects.toThrow('locked');
  });
});
