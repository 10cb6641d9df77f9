import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { comparable, ids, type Site, site, templateOf, todo, user } from './site.js';

const resetDoc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'reset_password_instructions' };
const txt = { ...resetDoc, txt_content: 'New {{ url }}\n' };

/**
 * Applies, and resets the state and the journal to the moment when the request arrived, as if the process was killed
 * then. Also removes the given number of lines from the end of the journal.
 */
async function killAt(at: Site, method: string, lines: number, done: boolean): Promise<void> {
  const idops = join(at.folder, '.idops');
  const copy = join(at.folder, 'copy');
  at.fault = (request) => {
    if (request.method !== method) return undefined;
    cpSync(idops, copy, { recursive: true });
    return done ? { kind: 'replace', status: 500, body: {} } : { kind: 'answer', status: 500, body: {} };
  };
  await at.apply();
  at.fault = undefined;
  rmSync(idops, { recursive: true });
  cpSync(copy, idops, { recursive: true });
  rmSync(copy, { recursive: true });
  rmSync(join(idops, 'state.json.lock'), { force: true });
  for (const name of readdirSync(idops)) if (name.includes('lock')) rmSync(join(idops, name));
  const [journal = ''] = readdirSync(join(idops, 'runs')).slice(-1);
  const path = join(idops, 'runs', journal);
  const entries = readFileSync(path, 'utf8').trimEnd().split('\n');
  writeFileSync(path, `${entries.slice(0, entries.length - lines).join('\n')}\n`);
}

describe('a run that was killed while it replaced a template', () => {
  const kills: readonly [string, string, number, boolean][] = [
    ['before the DELETE was carried out', 'DELETE', 0, false],
    ['after the DELETE, before its answer', 'DELETE', 0, true],
    ['between the answer to the DELETE and the PATCH', 'PATCH', 1, false],
    ['before the PATCH was carried out', 'PATCH', 0, false],
    ['after the PATCH, before its answer', 'PATCH', 0, true],
  ];
  test.each(kills)(
    '%s: the next apply leaves both halves right, and can be undone',
    async (_, method, lines, done) => {
      const at = await site();
      const start = at.sandbox.snapshot();
      const wanted = at.sandbox.snapshot();
      const template = wanted.templates.find(({ type }) => type === resetDoc.type);
      if (template !== undefined) template.txt_content = txt.txt_content;
      await at.declare(txt);
      await killAt(at, method, lines, done);
      // The first plan settles the run; the second one must still know the outcome.
      await at.plan();
      const ran = await at.apply();
      expect(ran.results.every(({ status }) => status === 'applied')).toBe(true);
      expect(comparable(at.sandbox.snapshot())).toEqual(comparable(wanted));
      expect(todo(await at.plan())).toEqual([]);
      if (ran.run === null) return;
      await at.undo(ran.run);
      expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
    },
  );

  test.each(kills)('%s: undo restores the former template', async (_, method, lines, done) => {
    const at = await site();
    const start = at.sandbox.snapshot();
    await at.declare(txt);
    await killAt(at, method, lines, done);
    const [run = ''] = readdirSync(join(at.folder, '.idops', 'runs'));
    await at.undo(run.replace('.jsonl', ''));
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
  });

  test("a pending restore doesn't overwrite what somebody wrote since", async () => {
    const at = await site();
    await at.declare(txt);
    await killAt(at, 'PATCH', 0, false);
    await at.plan();
    const html = '<p>written since</p>';
    at.sandbox.data.templates.push({
      id: ids.nobody,
      backend_id: ids.backend,
      type: resetDoc.type,
      txt_content: 'written since',
      html_content: html,
    });
    await at.apply();
    expect(templateOf(at)).toMatchObject({ txt_content: txt.txt_content, html_content: html });
  });
});

test('a killed run that moved the default is settled, and undo knows the former default', async () => {
  const at = await site();
  await at.declare({ kind: 'KeyPair', id: ids.secondKey, is_default: true });
  await killAt(at, 'PATCH', 0, true);
  expect(todo(await at.plan())).toEqual([]);
  const [run = ''] = readdirSync(join(at.folder, '.idops', 'runs'));
  await at.undo(run.replace('.jsonl', ''));
  expect(at.sandbox.data.keyPairs.map(({ is_default }) => is_default)).toEqual([true, false, false]);
});

test('a killed run reports what was lost and somebody has set since', async () => {
  const at = await site();
  await at.declare({ kind: 'User', username: 'ada@acme.example', roles: { add: ['accountant'] } });
  await killAt(at, 'PATCH', 0, false);
  user(at).organizations = [{ id: ids.initech, roles: [] }];
  const notes = await at.session(async (opened) => {
    await opened.plan();
    return opened.notes;
  });
  expect(notes.join()).toMatch(
    /missing: organizations \("acme", "globex"\); idops does not restore this, since the object was changed afterwards/,
  );
});
