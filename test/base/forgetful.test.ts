import { expect, it } from 'vitest';
import { forgetfulRedactor } from '../../src/base/forgetful.js';

it('forgets what it got to know, and not what it has always known', () => {
  const { add, redact, redactKey, redactName, redactFile, redactSentence, redactEcho, holds, forget } =
    forgetfulRedactor(['always-known-token']);
  const text = 'always-known-token learned-secret-1234';
  const all = [redact, redactKey, redactName, redactFile, redactSentence, redactEcho];
  add('learned-secret-1234');
  expect(all.map((one) => one(text))).toEqual(all.map(() => '(sensitive) (sensitive)'));
  expect(holds('learned-secret-1234')).toBe(true);
  forget();
  expect(all.map((one) => one(text))).toEqual(all.map(() => '(sensitive) learned-secret-1234'));
  expect([holds('learned-secret-1234'), holds('always-known-token')]).toEqual([false, true]);
});
