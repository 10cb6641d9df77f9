import { expect, it } from 'vitest';
import { withoutNames } from '../../src/report/group-equal.js';

it.each([
  ['acme is gone, and "acme" too', ['acme'], '… is gone, and "…" too'],
  ['acme-2 and bacme stay', ['acme'], 'acme-2 and bacme stay'],
  ['bb', ['b'], 'bb'],
  ['a𝒜 and 𝒜 a', ['a'], 'a𝒜 and 𝒜 …'],
  ['acme corp, acme', ['acme', 'acme corp'], '…, …'],
  ['[a](b).*', ['.*', '[a](b)'], '……'],
  ['nothing', [''], 'nothing'],
])('%s without %j is %s', (text, names, shorter) => {
  expect(withoutNames(text, names)).toBe(shorter);
});
