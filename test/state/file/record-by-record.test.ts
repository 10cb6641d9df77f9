import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../../src/base/json.js';
import { readRecordByRecord } from '../../../src/state/file/record-by-record.js';
import { stateFile } from '../../../src/state/file/state-file.js';
import { emptyState, type State } from '../../../src/state/state.js';

const server = 'https://id.example.com';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idops-records-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(text: string | Uint8Array, part?: number): unknown {
  const path = join(folder, 'state.json');
  writeFileSync(path, text);
  const file = openSync(path, 'r');
  try {
    return readRecordByRecord(file, part);
  } finally {
    closeSync(file);
  }
}

/** As a state is written. */
function written(value: unknown): string {
  return `${stringifyJson(value, 2)}\n`;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Texts that look like the places at which a state is taken apart. */
const tricky = fc.constantFrom(
  '\n    },\n    "',
  '\n  "resources": {',
  '\n    }\n  }',
  '(the records)',
  '__proto__',
  '"resources"',
  '12345678901234567890',
  'ü€😀',
);
const texts = fc.oneof({ weight: 2, arbitrary: fc.string({ unit: 'grapheme' }) }, tricky);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    texts,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const records = fc.dictionary(texts, fc.dictionary(texts, values, { minKeys: 1, maxKeys: 4 }), {
  minKeys: 1,
  maxKeys: 6,
});
const states = fc
  .tuple(records, fc.dictionary(texts, values, { maxKeys: 3 }), fc.dictionary(texts, values, { maxKeys: 3 }))
  .map(([resources, before, after]) => ({ serial: 1, ...before, resources, ...after }));

describe('a state that is read record by record', () => {
  it('says what all of its text says, wherever the parts begin that are read', () => {
    fc.assert(
      fc.property(
        fc.dictionary(texts, values),
        records,
        fc.integer({ min: 1, max: 300 }),
        (more, all, part) => {
          const text = written({ serial: 1, ...more, resources: all });
          expect(read(text, part)).toEqual(parseJson(text));
        },
      ),
    );
  });

  it('says either what all of its text says, or nothing, whatever became of the text', () => {
    const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40), tricky), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(states, changes, fc.integer({ min: 1, max: 300 }), (state, cuts, part) => {
        let text = written(state);
        for (const [where, length, instead] of cuts) {
          const at = Math.floor(where * text.length);
          text = text.slice(0, at) + instead + text.slice(at + length);
        }
        const found = read(text, part);
        if (found !== undefined) expect(found).toEqual(parsed(Buffer.from(text).toString()));
      }),
    );
  });

  it.each([
    ['in one line', (state: unknown) => `${JSON.stringify(state)}\n`],
    ['with other spaces', (state: unknown) => JSON.stringify(state, null, 4)],
    ['behind a byte order mark', (state: unknown) => `\uFEFF${written(state)}`],
    ['cut off', (state: unknown) => written(state).slice(0, -4)],
    ['with something behind it', (state: unknown) => `${written(state)}x`],
    [
      'with the records once more behind them',
      (state: unknown) => {
        return `${written(state).trimEnd().slice(0, -1)},"resources":{}}`;
      },
    ],
  ])('says nothing of a text that is laid out otherwise: %s', (_, laid) => {
    const state = { serial: 1, resources: { 'User/a': { kind: 'User' }, 'User/b': { kind: 'User' } } };
    expect(read(written(state))).toEqual(state);
    expect(read(laid(state))).toBeUndefined();
  });

  it('says nothing of records that stand within something else', () => {
    const state = { serial: 1, resources: { 'User/a': { kind: 'User' } } };
    expect(read(`{"a":${written(state)}}`)).toBeUndefined();
  });

  it('keeps the last of two records of a name, and every digit of a number', () => {
    const record = (number: string) => `\n    "User/a": {\n      "n": ${number}\n    }`;
    const text = `{\n  "serial": 1,\n  "resources": {${record('1')},${record('12345678901234567890')}\n  }\n}\n`;
    expect(read(text)).toEqual(parseJson(text));
    expect(stringifyJson(read(text))).toContain('12345678901234567890');
  });

  it('says nothing of bytes that are no UTF-8', () => {
    const bytes = Buffer.from(
      written({ resources: { 'User/a': { called: 'XYZ' }, 'User/b': { called: 'b' } } }),
    );
    bytes[bytes.indexOf('Y')] = 0xff;
    for (const part of [1, 5, 1000]) expect(read(bytes, part)).toBeUndefined();
  });
});

describe('a large state in a file', () => {
  const resources: State['resources'] = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [
      `User/u${index}`,
      {
        kind: 'User' as const,
        identity: { id: `u${index}` },
        recorded_at: '2026-01-31T12:00:00.000Z',
        run: 'run-1',
        managed: ['group'],
        fields: {
          group: 'staff',
          metadata: { told: { value: `ü ${index} ${'x'.repeat(200)}`, status: 'valid' } },
        },
        hashes: {},
      },
    ]),
  );

  it('is what was saved, and what is not one is told', async () => {
    const path = join(folder, 'state.json');
    const state = { ...emptyState(server), resources };
    const file = stateFile(path);
    await file.save(state);
    expect(await file.load(server)).toEqual(state);
    const text = written(state);
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
    writeFileSync(path, JSON.stringify(state));
    expect(await file.load(server)).toEqual(state);
    writeFileSync(path, text.slice(0, -100));
    await expect(file.load(server)).rejects.toMatchObject({
      problems: [{ code: 'state-unreadable', message: expect.stringContaining('is not JSON') }],
    });
    writeFileSync(path, text.replace('"kind": "User"', '"kind": "Usher"'));
    await expect(file.load(server)).rejects.toMatchObject({
      problems: [{ code: 'state-unreadable', message: expect.stringContaining('at resources.User/u0.kind') }],
    });
  });
});
