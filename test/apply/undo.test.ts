import { describe, expect, it } from 'vitest';
import { type Left, type Undo, undoRun as undoAt } from '../../src/apply/undo.js';
import { type Fields, Sensitive } from '../../src/base/values.js';
import type { Declared } from '../../src/kinds/kind.js';
import { Hasher, storeFields } from '../../src/secrets/hash.js';
import type { AnsweredLine, JournalContent, SendingLine } from '../../src/state/journal.js';
import { answer, runLine, sending } from '../state/journal-lines.js';

const undoRun = (content: JournalContent, force: boolean) =>
  undoAt(content, force, { now: new Date('2026-01-31T12:00:00Z'), resources: {} });

const run = runLine('run-1', { lineage: 'lineage', salt: 'salt' }, 'state.json');
const hasher = new Hasher(run);
const since = 'it was changed since the run (--force restores it anyway)';

/** One change of a run: the object before, the expected fields, and the fields in the response. */
interface RunChange extends Partial<Pick<SendingLine, 'kind' | 'action' | 'identity' | 'existed'>> {
  readonly before: Fields;
  readonly expected: Fields;
  /** Default: as expected. Null if there was no response. */
  readonly after?: Fields | null;
  readonly status?: AnsweredLine['status'];
}

function journalOf(...changes: readonly RunChange[]): JournalContent {
  const lines = changes.flatMap((change, seq): JournalContent['lines'][number][] => {
    const { kind = 'Organization', action = 'update', identity = { id: 'o' }, existed = true } = change;
    const name = Object.values(identity).join('/');
    const begun: SendingLine = {
      ...sending,
      seq,
      address: `${kind}/${name}`,
      key: `${kind}/${name}`,
      kind,
      identity,
      action,
      existed,
      before: storeFields(change.before, hasher),
      expected: storeFields(change.expected, hasher),
      managed: Object.keys(change.expected),
    };
    if (change.after === null) return [begun];
    const after = storeFields(change.after ?? change.expected, hasher);
    return [begun, { ...answer, seq, status: change.status ?? 'applied', after }];
  });
  return { run, lines, bytes: 0, ended: true };
}

/** The fields that an undo sets and leaves, given the present fields. */
function requested(undo: Undo, ...now: readonly Fields[]): { fields: Fields[]; left: Left[] } {
  const adjusted = undo.declared.map((document: Declared, index) =>
    undo.adjust(document, now[index] ?? {}, () => undefined),
  );
  return {
    fields: adjusted.map(({ document }) => (document.absent ? { state: 'absent' } : document.fields)),
    left: [...undo.left, ...adjusted.flatMap(({ left }) => left)],
  };
}

/** The fields that an undo of one change sets and leaves, without --force. */
function undoOf(change: RunChange, ...now: readonly Fields[]): ReturnType<typeof requested> {
  return requested(undoRun(journalOf(change), false), ...now);
}

const user = { kind: 'User', identity: { id: 'u' } } as const;
const renamed: RunChange = {
  before: { label: 'Old', name: 'acme' },
  expected: { label: 'New', name: 'acme' },
};

describe('undoing an update', () => {
  const left = [{ address: 'Organization/o', path: 'label', reason: since }];
  const old = { label: 'Old' };
  const shown = { ...renamed, after: { label: 'new', name: 'acme' } };
  it.each<[string, RunChange, Fields, Fields, readonly Left[]]>([
    ['puts back what it changed, and nothing else', renamed, renamed.expected, old, []],
    ['leaves a field that somebody changed since, and says so', renamed, { label: 'Other' }, {}, left],
    ['leaves nothing if somebody put the field back already', renamed, old, old, []],
    ['leaves nothing if nobody can see the field', renamed, {}, old, []],
    ['takes what the answer showed for what the run left', shown, { label: 'new' }, old, []],
    ['does not take what was asked for what the run left', shown, { label: 'New' }, {}, left],
  ])('%s', (_, change, now, fields, left) => {
    expect(undoOf(change, now)).toEqual({ fields: [fields], left });
  });

  it('restores fields that somebody changed since, with force', () => {
    const undo = undoRun(journalOf(renamed), true);
    expect(requested(undo, { label: 'Other', name: 'acme' })).toEqual({ fields: [old], left: [] });
  });

  it('uses the last of several requests of one change', () => {
    const [first, second] = [renamed, { ...renamed, expected: { label: 'Newer', name: 'acme' } }];
    const undo = undoRun(journalOf(first, second), false);
    expect(requested(undo, { label: 'Newer' })).toEqual({ fields: [old], left: [] });
  });

  it.each<[string, Partial<RunChange>, number]>([
    ['was skipped', { status: 'skipped' }, 0],
    ['is an adoption', { action: 'adopt' }, 0],
    ['failed, and may have been done', { status: 'failed' }, 1],
    ['has no answer, and may have been done', { after: null }, 1],
  ])('that %s asks for %i documents', (_, parts, documents) => {
    expect(undoRun(journalOf({ ...renamed, ...parts }), false).declared).toHaveLength(documents);
  });

  it("leaves unknown former values and secrets, which journals don't hold", () => {
    const unknown = undoRun(journalOf({ ...user, before: {}, expected: { group: 'staff' } }), false);
    expect(unknown).toMatchObject({
      declared: [],
      left: [{ address: 'User/u', path: 'group', reason: 'the value before the run is unknown' }],
    });
    const password = (text: string): Fields => ({ backend: { smtp_password: new Sensitive(text) } });
    const secret = undoRun(journalOf({ ...user, before: password('a'), expected: password('b') }), false);
    expect(secret).toMatchObject({
      declared: [],
      left: [
        {
          path: 'backend.smtp_password',
          reason: 'the old value was a secret, and journals do not store secrets',
        },
      ],
    });
    const same = journalOf({ ...user, before: password('a'), expected: password('a') });
    expect(undoRun(same, false).left).toEqual([]);
  });
});

describe('undoing a change of a map', () => {
  const change: RunChange = {
    ...user,
    before: { metadata: { a: 1, b: 2, kept: 0 } },
    expected: { metadata: { a: 9, c: 3, kept: 0 } },
  };

  it('restores its keys, and removes added ones', () => {
    const fields = [{ metadata: { a: 1, b: 2, c: null } }];
    expect(undoOf(change, { metadata: { a: 9, c: 3, kept: 0 } })).toEqual({ fields, left: [] });
  });

  it.each<[string, Fields, Fields, string[]]>([
    ['took away', { c: 3, kept: 0 }, { b: 2, c: null }, ['metadata.a']],
    ['changed', { a: 9, b: 7, c: 4, kept: 5 }, { a: 1 }, ['metadata.b', 'metadata.c']],
  ])('leaves the keys that somebody %s since', (_, now, metadata, paths) => {
    const { fields, left } = undoOf(change, { metadata: now });
    expect(fields).toEqual([{ metadata }]);
    expect(left.map(({ path }) => path)).toEqual(paths);
  });
});

it('undoing a change of members leaves members that somebody changed since', () => {
  const change: RunChange = {
    ...user,
    before: { backend: { smtp_port: 1, smtp_relay: 'a', smtp_from: 'x' } },
    expected: { backend: { smtp_port: 2, smtp_relay: 'b' } },
    after: { backend: { smtp_port: 2, smtp_relay: 'b', smtp_from: 'y' } },
  };
  const now = { backend: { smtp_port: 2, smtp_relay: 'c', smtp_from: 'y' } };
  const { fields, left } = undoOf(change, now);
  expect(fields).toEqual([{ backend: { smtp_port: 1 } }]);
  expect(left.map(({ path }) => path)).toEqual(['backend.smtp_relay']);
});

describe('undoing a change of a template', () => {
  const template = { kind: 'EmailTemplate', identity: { backend_id: 'b', type: 't' } } as const;
  const made: RunChange = { ...template, existed: false, before: {}, expected: { txt_content: 'new' } };

  it.each(['constructor', 'toString', '__proto__'])('a key named %s is a normal key', (name) => {
    const one = (value: string): Fields => JSON.parse(`{"metadata": {"${name}": ${value}, "kept": 0}}`);
    const gone = { ...user, before: one('"a"'), expected: { metadata: { kept: 0 } } };
    const { fields, left } = undoOf(gone, { metadata: { kept: 0 } });
    expect([JSON.stringify(fields), left]).toEqual([`[{"metadata":{"${name}":"a"}}]`, []]);
    const come = { ...user, before: { metadata: { kept: 0 } }, expected: one('"a"') };
    const back = undoOf(come, one('"a"'));
    expect([JSON.stringify(back.fields), back.left]).toEqual([`[{"metadata":{"${name}":null}}]`, []]);
  });

  it('deletes a template that the run created, unless somebody changed it since', () => {
    const gone = undoOf(made, { id: '1', txt_content: 'new' });
    expect(gone).toEqual({ fields: [{ state: 'absent' }], left: [] });
    const reason = "it isn't deleted, since txt_content changed since the run (--force deletes it anyway)";
    expect(undoOf(made, { id: '1', txt_content: 'other' })).toEqual({
      fields: [{}],
      left: [{ address: 'EmailTemplate/b/t', path: null, reason }],
    });
  });

  it('deletes a created template with a secret body, unless somebody changed it since', () => {
    const secret = { ...made, expected: { txt_content: new Sensitive('new') } };
    expect(undoOf(secret, { id: '1', txt_content: 'new' }).fields).toEqual([{ state: 'absent' }]);
    expect(undoOf(secret, { id: '1', txt_content: 'other' }).left).toHaveLength(1);
  });

  it('deletes a template that replaced the built-in one', () => {
    const builtIn = { ...made, existed: true, before: { id: null, txt_content: 'built in' } };
    expect(undoOf(builtIn, { id: '1', txt_content: 'new' }).fields).toEqual([{ state: 'absent' }]);
  });

  it('writes a deleted template again, although the built-in one exists', () => {
    const before = { id: '1', txt_content: 'old', html_content: null };
    const deleted: RunChange = { ...template, action: 'delete', before, expected: {} };
    const back = undoOf(deleted, { id: null, txt_content: 'built in' });
    expect(back).toEqual({ fields: [{ txt_content: 'old' }], left: [] });
    expect(undoOf(deleted, { id: '2', txt_content: 'other' }).left).toHaveLength(1);
  });

  it('knows a built-in template by an answer without the id that the customized one has', () => {
    const deleted: RunChange = {
      ...template,
      action: 'delete',
      before: { id: '1', txt_content: 'old' },
      expected: {},
    };
    const back = undoOf(deleted, { txt_content: 'built in' });
    expect(back).toEqual({ fields: [{ txt_content: 'old' }], left: [] });

    const customized = { ...made, existed: true, before: { txt_content: 'built in' } };
    expect(undoOf(customized, { id: '1', txt_content: 'new' }).fields).toEqual([{ state: 'absent' }]);
    expect(undoOf(customized, { id: '1', txt_content: 'other' }).left).toHaveLength(1);
    // No answer shows an id, so this template may be a customized one.
    expect(undoOf(customized, { txt_content: 'new' }).fields).toEqual([{ txt_content: 'built in' }]);
  });

  it("reports that it can't restore a deleted secret body", () => {
    const before = { id: '1', txt_content: 'old', html_content: new Sensitive('hidden') };
    const deleted: RunChange = { ...template, action: 'delete', before, expected: {} };
    const reason = 'the old value was a secret, and journals do not store secrets';
    expect(undoOf(deleted, { id: null })).toEqual({
      fields: [{ txt_content: 'old' }],
      left: [{ address: 'EmailTemplate/b/t', path: 'html_content', reason }],
    });
  });

  it("does nothing for a deletion of something that didn't exist", () => {
    const gone: RunChange = { ...template, action: 'delete', existed: false, before: {}, expected: {} };
    expect(undoRun(journalOf(gone), false)).toMatchObject({ declared: [], left: [] });
  });
});

describe('undoing a regeneration', () => {
  const client = { kind: 'Client', identity: { id: 'c' } } as const;
  const change: RunChange = { ...client, action: 'regenerate', before: { did: 'a' }, expected: {} };

  it.each<[string, Partial<RunChange>, number]>([
    ['that was done can not be', {}, 1],
    ['that has no answer can not be', { after: null }, 1],
    ['that failed has nothing to put back', { status: 'failed' }, 0],
  ])('%s', (_, parts, left) => {
    const undone = undoRun(journalOf({ ...change, ...parts }), false);
    expect(undone.declared).toEqual([]);
    expect(undone.left).toHaveLength(left);
  });
});

describe('undoing a move of the default key pair', () => {
  const moved: RunChange = {
    kind: 'KeyPair',
    identity: { id: 'new' },
    before: { is_default: false, defaults: ['old'] },
    expected: { is_default: true },
  };

  it('gives it back to the key pair that lost it', () => {
    const undone = undoRun(journalOf(moved), false);
    const defaults = ['new'];
    const { fields, left } = requested(
      undone,
      { is_default: true, defaults },
      { is_default: false, defaults },
    );
    expect(undone.declared.map(({ identity }) => identity.id)).toEqual(['new', 'old']);
    expect(fields).toEqual([{ is_default: false }, { is_default: true }]);
    expect(left).toEqual([]);
  });

  it('leaves it if somebody moved it since', () => {
    const third = { is_default: false, defaults: ['third'] };
    const { fields, left } = undoOf(moved, third, third);
    expect(fields).toEqual([{ is_default: false }, {}]);
    expect(left).toEqual([{ address: 'KeyPair/old', path: 'is_default', reason: since }]);
  });

  it('moves it with force, or if there is no default now', () => {
    const third = { is_default: false, defaults: ['third'] };
    const forced = requested(undoRun(journalOf(moved), true), third, third);
    expect(forced.fields[1]).toEqual({ is_default: true });
    const none = { is_default: false, defaults: [] };
    expect(undoOf(moved, none, none).left).toEqual([]);
  });

  it('moves it to no key pair if several had it, none had it, or the run cleared it itself', () => {
    const documents = (...change: readonly RunChange[]): unknown[] =>
      undoRun(journalOf(...change), false).declared.map(({ identity }) => identity.id);
    expect(documents({ ...moved, before: { is_default: false, defaults: ['a', 'b'] } })).toEqual(['new']);
    expect(documents({ ...moved, before: { is_default: false, defaults: [] } })).toEqual(['new']);
    expect(documents({ ...moved, before: { is_default: true, defaults: ['new'] } })).toEqual([]);
    const loses: RunChange = {
      ...moved,
      identity: { id: 'old' },
      before: { is_default: true, defaults: ['old'] },
      expected: { is_default: false },
    };
    expect(documents(moved, loses)).toEqual(['new', 'old']);
  });
});
