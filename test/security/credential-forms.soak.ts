import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.js';

describe('time is proportional to size', () => {
  const long = (part: string, size: number): string =>
    part.repeat(Math.ceil(size / part.length)).slice(0, size);
  const key = randomBytes(6 * 1024)
    .toString('base64')
    .replace(/.{64}/g, '$&\n');
  const texts: { readonly [name: string]: string } = {
    words: 'The quick brown fox jumps over the lazy dog.\n',
    escapes: '\\u0041%41&#65;&amp;',
    'one letter': 'a',
    'half a token': `${'aB3'.repeat(5)}x`,
    base64: randomBytes(3000).toString('base64'),
  };

  it.each(Object.entries(texts))('for %s', (_, part) => {
    const redactor = createRedactor();
    redactor.add(`-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----`);
    redactor.add('aB3'.repeat(40));
    redactor.add(`${'a'.repeat(100_000)}b`, 'answer');
    for (let count = 0; count < 500; count += 1) redactor.add(randomBytes(20).toString('hex'), 'answer');
    const timeOf = (size: number): number => {
      const text = long(part, size);
      // CPU time of this process, which other load doesn't change.
      const start = process.cpuUsage();
      redactor.redact(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    const size = 400_000;
    timeOf(size / 10);
    const small = Math.min(timeOf(size), timeOf(size));
    const large = Math.min(timeOf(10 * size), timeOf(10 * size));
    // Proportional is 10; quadratic would be 100.
    expect(large).toBeLessThan(40 * Math.max(small, 20));
  });
});
