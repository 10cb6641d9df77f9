import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Marker, markerKey, markerLine, readMarker } from '../../src/action/marker.js';

const digest = `sha256:${'a1'.repeat(32)}`;
const observed = `sha256:${'b2'.repeat(32)}`;
const key = markerKey('idops.yaml', 'production');
const marker: Marker = { kind: 'plan', key, plan: { digest, observed }, run: '77' };

const sha = fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => `sha256:${hex}`);
const anyMarker: fc.Arbitrary<Marker> = fc.record({
  kind: fc.constantFrom('plan', 'drift'),
  key: fc.stringMatching(/^[0-9a-f]{16}$/),
  plan: fc.option(fc.record({ digest: sha, observed: sha })),
  run: fc.option(fc.stringMatching(/^[1-9][0-9]{0,15}$/)),
});

describe('a marker', () => {
  it("is read as written, and can't end the HTML comment early", () => {
    fc.assert(
      fc.property(anyMarker, (written) => {
        const line = markerLine(written);
        expect(line).toMatch(/^<!-- (?:(?!--|>).)* -->$/);
        expect(readMarker(`${line}\nand more`)).toEqual(written);
        expect(readMarker(`${line}\r\nand more`)).toEqual(written);
      }),
      { numRuns: 150 },
    );
  });

  it("is none without the server's state next to the digest", () => {
    expect(readMarker(markerLine(marker).replace(/ observed=\S+/, ''))).toBeNull();
  });

  it('omits a run id that is not a number', () => {
    expect(readMarker(markerLine({ ...marker, run: '7 -->' }))).toEqual({ ...marker, run: null });
  });

  it('is recognized only at the beginning, on its own line', () => {
    const line = markerLine(marker);
    for (const text of [`> ${line}`, `\n${line}`, `${line} and more`, 'hello'])
      expect(readMarker(text), text).toBeNull();
  });

  it('differs by configuration, environment and shard', () => {
    const keys = [
      markerKey('idops.yaml', null),
      markerKey('idops.yaml', 'null'),
      markerKey('idops.yaml', 'production'),
      markerKey('infra/idops.yaml', 'production'),
      markerKey('idops.yaml', 'production', { index: 1, count: 4 }),
      markerKey('idops.yaml', 'production', { index: 2, count: 4 }),
      markerKey('idops.yaml', 'production', { index: 2, count: 5 }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
