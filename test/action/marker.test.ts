import { describe, expect, it } from 'vitest';
import { type Marker, markerKey, markerLine, readMarker } from '../../src/action/marker.js';

const digest = `sha256:${'a1'.repeat(32)}`;
const marker: Marker = {
  kind: 'plan',
  key: markerKey('idops.yaml', 'production'),
  digest,
  changes: [{ address: 'Organization/a -->b\n<!--', action: 'update', hash: '0123456789ab' }],
};

describe('a marker', () => {
  it.each<[string, Marker]>([
    ['with changes', marker],
    ['of many changes', { ...marker, changes: changes(150) }],
    ['without changes', { ...marker, changes: null }],
    ['without a plan', { ...marker, digest: null, changes: null }],
    ['of drift', { ...marker, kind: 'drift' }],
  ])('%s is read as it was written', (_, written) => {
    expect(readMarker(`${markerLine(written)}\nand more`)).toEqual(written);
  });

  it('is an HTML comment that nothing in it ends, whatever the changes are', () => {
    for (let count = 0; count < 200; count += 1) {
      const line = markerLine({ ...marker, changes: changes(count) });
      expect(line).toMatch(/^<!-- (?:(?!--|>).)* -->$/);
      expect(readMarker(line)?.digest).toBe(digest);
    }
  });

  it('leaves out changes that would take too much room, and keeps the digest', () => {
    const line = markerLine({ ...marker, changes: changes(5000) });
    expect(line.length).toBeLessThan(200);
    expect(readMarker(line)).toEqual({ ...marker, changes: null });
  });

  it('is one only at the very beginning', () => {
    expect(readMarker(`> ${markerLine(marker)}`)).toBeNull();
    expect(readMarker('hello')).toBeNull();
  });

  it('with changes that are none is read without them', () => {
    const line = markerLine(marker).replace(/changes=\S+/, 'changes=AAAA.');
    expect(readMarker(line)).toEqual({ ...marker, changes: null });
  });

  it('is another one for another configuration or environment', () => {
    const keys = [
      markerKey('idops.yaml', null),
      markerKey('idops.yaml', 'null'),
      markerKey('idops.yaml', 'production'),
      markerKey('infra/idops.yaml', 'production'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

function changes(count: number): { address: string; action: string; hash: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    address: `User/${(index * 2654435761).toString(16)}`,
    action: 'update',
    hash: ((index + 1) * 40503 * 65537).toString(16).padStart(12, '0').slice(-12),
  }));
}
