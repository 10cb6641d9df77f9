import { describe, expect, it } from 'vitest';
import { createProgress, drawsBar, type ProgressOptions } from '../../src/cli/progress.js';

function watched(parts: Partial<ProgressOptions> = {}) {
  const shown: (string | null)[] = [];
  const clock = { time: 0 };
  const progress = createProgress({
    output: { message: (text) => shown.push(text), showStatus: (line) => shown.push(line) },
    terminal: false,
    now: () => clock.time,
    ...parts,
  });
  return { shown, clock, progress };
}

describe('progress without a terminal', () => {
  it('prints the start, the end, and at most every tenth in between', () => {
    const { shown, progress } = watched();
    progress.phase('organizations read', 55);
    for (let step = 0; step < 55; step += 1) progress.step();
    progress.end();
    expect(shown).toEqual(
      [0, 6, 11, 17, 22, 28, 33, 39, 44, 50, 55].map((done) => `organizations read: ${done}/55`),
    );
  });

  it.each([
    ['ended early', undefined, 'Observing: 1/33'],
    ['failed', 'failed', 'Observing: stopped after 1 of 33'],
  ] as const)('prints how far a phase came that %s', (_, how, end) => {
    const { shown, progress } = watched();
    progress.phase('Observing', 33);
    progress.step();
    for (let times = 0; times < 2; times += 1) progress.end(how);
    progress.step();
    expect(shown).toEqual(['Observing: 0/33', end]);
  });
});

describe('progress on a terminal', () => {
  it('draws a bar that is removed at the end', () => {
    const { shown, progress } = watched({ terminal: true });
    progress.phase('changes applied', 2);
    progress.step();
    progress.step();
    progress.end();
    expect(shown).toEqual([
      `${'─'.repeat(24)} 0/2 changes applied`,
      `${'━'.repeat(24)} 2/2 changes applied`,
      null,
    ]);
  });

  it('redraws at most every 80 ms', () => {
    const { shown, clock, progress } = watched({ terminal: true });
    progress.phase('x', 1000);
    for (let step = 0; step < 100; step += 1) {
      clock.time += 10;
      progress.step();
    }
    expect(shown).toHaveLength(13);
  });
});

describe('progress', () => {
  it('is a bar on interactive terminals only', () => {
    expect(drawsBar({ isTTY: true }, {})).toBe(true);
    expect(drawsBar({ isTTY: true }, { CI: 'true' })).toBe(false);
    expect(drawsBar({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(drawsBar({}, {})).toBe(false);
  });
});

describe('a failure in the progress', () => {
  const failed = (address: string, error: string) => ({ address, status: 'failed', error });

  it('is printed immediately, and similar failures are counted', () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 6);
    for (const id of ['user-1', 'user-2', 'user-3']) {
      progress.step(failed(`User/${id}`, `update a user: PATCH /api/users/${id} answered 500`));
    }
    progress.step(failed('User/user-4', 'update a user: PATCH /api/users/user-4 answered 422: taken'));
    progress.step({ address: 'User/user-5', status: 'applied', error: null });
    progress.step({ address: 'User/user-6', status: 'not_converged', error: 'group is still "a"' });
    progress.end();
    expect(shown).toEqual([
      'Applying: 0/6',
      '✗ User/user-1 failed: update a user: PATCH /api/users/user-1 answered 500',
      '✗ User/user-4 failed: update a user: PATCH /api/users/user-4 answered 422: taken',
      '✗ User/user-6 not converged: group is still "a"',
      'Applying: 6/6',
      '✗ 2 more failed alike: update a user: PATCH /api/users/… answered 500',
    ]);
  });

  it('is labelled as unknown or not converged if it is', () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 6);
    const unknown = 'no answer; whether it was done is not known';
    const kept = 'the server kept another value: group';
    for (const id of ['user-1', 'user-2', 'user-3'])
      progress.step({ address: `User/${id}`, status: 'unknown', error: unknown });
    for (const id of ['user-4', 'user-5'])
      progress.step({ address: `User/${id}`, status: 'not_converged', error: kept });
    // A failure with the same text is not counted with those.
    progress.step(failed('User/user-6', kept));
    progress.end();
    expect(shown.slice(1)).toEqual([
      `? User/user-1 unknown: ${unknown}`,
      `✗ User/user-4 not converged: ${kept}`,
      `✗ User/user-6 failed: ${kept}`,
      'Applying: 6/6',
      `? 2 more unknown alike: ${unknown}`,
      `✗ 1 more not converged alike: ${kept}`,
    ]);
  });

  it('is similar if only values differ', () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 3);
    for (const id of ['user-1', 'user-2', 'user-3']) {
      const message = `update a user: PATCH /api/users/${id} answered 500; read back: group`;
      const own = `asked "${id}s", the server has "x"`;
      progress.step({ ...failed(`User/${id}`, `${message}: ${own}`), ownValues: [own] });
    }
    progress.end();
    expect(shown.slice(1)).toEqual([
      '✗ User/user-1 failed: update a user: PATCH /api/users/user-1 answered 500; read back: group: asked "user-1s", the server has "x"',
      'Applying: 3/3',
      '✗ 2 more failed alike: update a user: PATCH /api/users/… answered 500; read back: group: …',
    ]);
  });

  it('is printed once if reasons for skipping differ only in names', () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 4);
    progress.step({ address: 'User/user-0', status: 'applied', error: null });
    const skipped = (id: string, why: string) =>
      progress.step({ address: `User/${id}`, status: 'skipped', error: `not sent: GET /users/${id} ${why}` });
    skipped('user-1', 'got no connection');
    skipped('user-2', 'answered 500');
    skipped('user-3', 'got no connection');
    progress.end();
    expect(shown).toEqual([
      'Applying: 0/4',
      'Applying: 1/4',
      '- 2 not sent: GET /users/… got no connection',
      '- 1 not sent: GET /users/… answered 500',
    ]);
  });

  it("can't forge lines", () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 1);
    progress.step(failed('User/\u001b[2J', 'a\nb'));
    expect(shown.at(-1)).toBe('✗ User/\\u001b[2J failed: a\\nb');
  });
});

describe('a retry', () => {
  const again = { attempt: 2, of: 4, why: 'connection lost' };

  it.each([true, false])('is printed once for each reason (on a terminal: %s)', (terminal) => {
    const { shown, progress } = watched({ terminal });
    progress.phase('Applying', 1);
    for (const attempt of [2, 3]) progress.retry({ ...again, attempt });
    progress.retry({ ...again, why: 'answered 503', wait: 59.1 });
    expect(shown.slice(1)).toEqual([
      'Applying: retrying, attempt 2 of 4: connection lost',
      'Applying: retrying in 60 s, attempt 2 of 4: answered 503',
    ]);
  });
});

it('a wait without a phase is printed once', () => {
  const { shown, progress } = watched();
  for (const attempt of [2, 3]) progress.retry({ attempt, of: 4, why: 'answered 429', wait: 60 });
  expect(shown).toEqual(['Retrying in 60 s, attempt 2 of 4: answered 429']);
});

describe('an interruption', () => {
  it('prints what it waits for', () => {
    const { shown, progress } = watched();
    progress.phase('Applying', 9);
    progress.begin('User/1');
    progress.begin('User/2');
    progress.step({ address: 'User/1', status: 'applied', error: null });
    expect(progress.inFlight()).toEqual(['User/2']);
    progress.interrupted();
    expect(shown.at(-1)).toBe(
      'Finishing 1 in flight; a second Ctrl-C ends immediately and leaves their outcome unknown.',
    );
    progress.end();
    expect(progress.inFlight()).toEqual([]);
    progress.interrupted();
    expect(shown.at(-1)).toBe('Applying: 1/9');
  });
});
