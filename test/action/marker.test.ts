import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type MarkedChange,
  type Marker,
  markerKey,
  markerLine,
  noPlan,
  readMarker,
  readMarkers,
} from '../../src/action/marker.js';

const digest = `sha256:${'a1'.repeat(32)}`;
const observed = `sha256:${'b2'.repeat(32)}`;
const marker: Marker = {
  kind: 'plan',
  key: markerKey('idops.yaml', 'production'),
  digest,
  observed,
  run: '77',
  changes: [change('Organization/a -->b\n<!--')],
};

function change(address: string, action: MarkedChange['action'] = 'update'): MarkedChange {
  const hash = (text: string, length: number) =>
    createHash('sha256').update(text).digest('hex').slice(0, length);
  return { id: hash(address, 10), address, action, hash: hash(`content of ${address}`, 12) };
}

/** The same without what a marker leaves out where there is no room for names. */
function compact(changes: readonly MarkedChange[]): MarkedChange[] {
  return changes.map(({ hash, ...rest }) => ({ ...rest, address: null, hash: hash.slice(0, 6) }));
}

const actions = ['update', 'delete', 'regenerate', 'adopt', 'blocked'] as const;
const sha = fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => `sha256:${hex}`);
const anyMarker: fc.Arbitrary<Marker> = fc
  .record({
    kind: fc.constantFrom('plan', 'drift'),
    key: fc.stringMatching(/^[0-9a-f]{16}$/),
    plan: fc.option(fc.record({ digest: sha, observed: sha })),
    run: fc.option(fc.stringMatching(/^[1-9][0-9]{0,15}$/)),
    changes: fc.option(
      fc.array(
        fc
          .tuple(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom(...actions))
          .map(([name, action]) => change(`User/${name}`, action)),
        { maxLength: 60 },
      ),
    ),
  })
  .map(({ plan, ...rest }) => ({ ...(plan ?? { digest: null, observed: null }), ...rest }));

describe('a marker', () => {
  it('is read as it was written, with names or without them, and nothing in it ends the comment', () => {
    fc.assert(
      fc.property(anyMarker, fc.integer({ min: 300, max: 3000 }), (written, room) => {
        const line = markerLine(written, room);
        expect(line).toMatch(/^<!-- (?:(?!--|>).)* -->$/);
        expect(line.length).toBeLessThanOrEqual(room);
        const read = readMarker(`${line}\nand more`);
        const { changes } = written;
        expect([
          written,
          { ...written, changes: changes && compact(changes) },
          { ...written, changes: null },
        ]).toContainEqual(read);
      }),
      { numRuns: 150 },
    );
  });

  it('of 2,000 changes with random ids keeps what tells which of them differ, in less than 26,000 characters', () => {
    const changes = Array.from({ length: 2000 }, (_, index) =>
      change(`User/${randomUUID()}`, actions[index % 5] ?? 'update'),
    );
    const line = markerLine({ ...marker, changes });
    expect(line.length).toBeLessThan(26_000);
    expect(readMarker(line)).toEqual({ ...marker, changes: compact(changes) });
  });

  it('keeps the names of changes while they fit', () => {
    const changes = Array.from({ length: 150 }, () => change(`User/${randomUUID()}`));
    expect(readMarker(markerLine({ ...marker, changes }))).toEqual({ ...marker, changes });
  });

  it('leaves out changes that would take too much room, and keeps the digest', () => {
    const changes = Array.from({ length: 5000 }, (_, index) => change(`User/${index}`));
    const line = markerLine({ ...marker, changes });
    expect(line.length).toBeLessThan(300);
    expect(readMarker(line)).toEqual({ ...marker, changes: null });
  });

  it('says what the server had beside the digest, or is none', () => {
    const { key } = marker;
    expect(readMarker(`<!-- idops-plan key=${key} -->`)).toEqual({ kind: 'plan', key, run: null, ...noPlan });
    expect(readMarker(markerLine(marker).replace(/ observed=\S+/, ''))).toBeNull();
  });

  it('stands beside others at the start of a text, and nothing below them is one', () => {
    const second: Marker = { ...marker, key: markerKey('idops.yaml', 'staging') };
    const lines = [markerLine(marker), markerLine(second)];
    const forged = markerLine({ ...marker, digest: observed });
    expect(readMarkers([...lines, '## Plan', forged].join('\n'))).toEqual([marker, second]);
    expect(readMarkers([...lines, '', forged].join('\r\n'))).toEqual([marker, second]);
    expect(readMarkers(`${lines[0]} and more\n${forged}`)).toEqual([]);
    expect(readMarkers(`\n${lines[0]}`)).toEqual([]);
  });

  it('has nothing of a run that is no number', () => {
    expect(readMarker(markerLine({ ...marker, run: '7 -->' }))).toEqual({ ...marker, run: null });
  });

  it('is one only at the very beginning', () => {
    expect(readMarker(`> ${markerLine(marker)}`)).toBeNull();
    expect(readMarker('hello')).toBeNull();
  });

  it('with changes that are none is read without them', () => {
    for (const none of ['changes=AAAA.', 'compact=AAAA.', 'compact=AAAAAAD/AAAA.']) {
      const line = markerLine(marker).replace(/changes=\S+/, none);
      expect(readMarker(line), none).toEqual({ ...marker, changes: null });
    }
  });

  it('is another one for another configuration or environment', () => {
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
