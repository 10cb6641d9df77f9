import { describe, expect, it } from 'vitest';
import { version } from '../../../src/base/version.js';
import { clockCheck, versionsCheck } from '../../../src/session/doctor/machine.js';

const now = Date.parse('2026-01-31T12:00:00.000Z');

/** An answer whose clock is so many seconds off. */
function answer(seconds: number, milliseconds = 40) {
  return { date: new Date(now + seconds * 1000).toUTCString(), at: now, milliseconds };
}

describe('the clock', () => {
  it.each([
    [0, 'ok', "it goes as the server's"],
    [29, 'ok', "it goes as the server's"],
    [-30, 'ok', "it goes as the server's"],
    [40, 'warn', "this machine's clock is 40 seconds behind the server's"],
    [-600, 'warn', "this machine's clock is 10 minutes ahead of the server's"],
    [3 * 86_400, 'warn', "this machine's clock is 3 days behind the server's"],
  ])('%i seconds off', (seconds, status, message) => {
    expect(clockCheck([answer(seconds)])).toMatchObject([{ status, message }]);
  });

  it('is judged by the answer that comes nearest: the others may have waited somewhere', () => {
    expect(clockCheck([answer(-500), answer(0), answer(-90)])).toMatchObject([{ status: 'ok' }]);
    expect(clockCheck([answer(-100, 90_000)])).toMatchObject([{ status: 'ok' }]);
  });

  it.each([undefined, 'soon'])('is not known where the date of an answer is %s', (date) => {
    expect(clockCheck([{ date, at: now, milliseconds: 1 }])).toMatchObject([
      { status: 'warn', message: expect.stringContaining('is not known') },
    ]);
    expect(clockCheck([{ date, at: now, milliseconds: 1 }, answer(0)])).toMatchObject([{ status: 'ok' }]);
  });

  it('is not spoken of where nothing answered', () => {
    expect(clockCheck([])).toEqual([]);
  });
});

describe('versions', () => {
  it('are those that run here', () => {
    expect(versionsCheck([version, '0.0.1', 'unknown'])).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`idops ${version} on Node.js ${process.versions.node}`),
    });
  });

  it('older than what has worked with the state are told of', () => {
    expect(versionsCheck(['900.2.0', '900.10.1', version])).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('idops 900.10.1 has worked with this state'),
      hint: 'use idops 900.10.1 or later everywhere',
    });
  });
});
