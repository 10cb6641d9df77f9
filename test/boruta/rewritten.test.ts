import { describe, expect, test } from 'vitest';
import type { Intercept } from '../../src/sandbox/options.js';
import { ids, once, type Site, site, templateOf, todo } from './site.js';

const type = 'reset_password_instructions';
const address = `EmailTemplate/${ids.backend}/${type}`;
const txt = { kind: 'EmailTemplate', backend_id: ids.backend, type, txt_content: 'asked for' };
const html = { kind: 'EmailTemplate', backend_id: ids.backend, type, html_content: 'asked for' };

/** Writes a template as a person does in the console: as a new row if the template is gone. */
function write(at: Site, bodies: { txt_content?: string; html_content?: string }, of = type): void {
  const there = templateOf(at, of);
  const person = { txt_content: 'person txt', html_content: 'person html', ...bodies };
  if (there !== undefined) Object.assign(there, person);
  else at.sandbox.data.templates.push({ id: ids.nobody, backend_id: ids.backend, type: of, ...person });
}

describe('what a person wrote while a template was replaced', () => {
  const faults: [string, Intercept][] = [
    ['a 503', { kind: 'answer', status: 503, body: {} }],
    ['a 500', { kind: 'answer', status: 500, body: {} }],
    ['a lost connection', { kind: 'reset', when: 'before' }],
  ];
  test.each(faults)('stays after %s instead of the PATCH', async (_, fault) => {
    const at = await site();
    once(at, 'PATCH', fault, () => write(at, {}));
    const { statuses, results } = await at.apply(txt);
    expect(statuses[address]).toMatch(/^failed/);
    expect(results[0]?.error).not.toMatch(/it had lost|; lost:/);
    expect(templateOf(at)).toMatchObject({ txt_content: 'person txt', html_content: 'person html' });
    // The next apply writes what is declared, and keeps the other body that the person wrote.
    at.fault = undefined;
    expect(todo(await at.plan())).toEqual([`update ${address}`]);
    await at.apply();
    expect(templateOf(at)).toMatchObject({ txt_content: 'asked for', html_content: 'person html' });
    expect(todo(await at.plan())).toEqual([]);
  });

  test('stays if the template had never been customised', async () => {
    const at = await site();
    const never = 'confirmation_instructions';
    once(at, 'PATCH', { kind: 'answer', status: 503, body: {} }, () => write(at, {}, never));
    const { results } = await at.apply({ ...txt, type: never });
    expect(results[0]?.status).toBe('failed');
    expect(results[0]?.error).toContain('somebody changed it meanwhile');
    expect(templateOf(at, never)).toMatchObject({ txt_content: 'person txt', html_content: 'person html' });
  });

  test.each([
    ['both halves', txt, {}, { txt_content: 'asked for', html_content: 'person html' }],
    ['both halves, html declared', html, {}, { txt_content: 'person txt', html_content: 'asked for' }],
  ])('stays after a kill between the DELETE and the PATCH: %s', async (_, document, bodies, wanted) => {
    const at = await site();
    // As after a kill, the journal has no response to the PATCH: the outcome is unknown, and the next run determines it.
    at.fault = ({ method, number }) =>
      method === 'PATCH' ||
      (method === 'GET' && at.sandbox.requests.slice(0, number - 1).some((one) => one.method === 'PATCH'))
        ? { kind: 'reset', when: 'before' }
        : undefined;
    const broken = await at.apply(document);
    expect(broken.results[0]?.status).toBe('unknown');
    at.fault = undefined;
    write(at, bodies);
    const plan = await at.plan();
    expect(plan.changes.flatMap(({ warnings }) => warnings.map(({ code }) => code))).not.toContain(
      'restores',
    );
    await at.apply();
    expect(templateOf(at)).toMatchObject(wanted);
    expect(todo(await at.plan())).toEqual([]);
  });
});
