import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { project } from './running.js';
import { expectToFit } from './schemas.js';

const organization = 'kind: Organization\nname: acme\nlabel: New\n';
const user = `kind: User\nid: ${ids.ada}\ngroup: guests\n`;
const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new\n`;

const busy: Intercept = { kind: 'answer', status: 503, headers: { 'retry-after': '0' } };

// Pauses between tries last as long as chance says.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

async function resultOf(ran: Promise<{ stdout: string; code: number | null }>) {
  const { stdout, code } = await ran;
  const result = JSON.parse(stdout);
  expectToFit('run', result);
  return { code, ...result };
}

describe('a fault that passes', () => {
  it.each([
    ['0', 1],
    ['5', 6],
  ])('is given as many more tries as --retries %s says', async (retries, tries) => {
    const { idops, reads } = await project({ 'manifests/all.yaml': organization }, { intercept: () => busy });
    expect((await idops(`plan --retries ${retries}`)).code).toBe(1);
    expect(reads()).toHaveLength(tries);
    for (const wrong of ['-1', '1.5', 'x', '101']) {
      const { code, stderr } = await idops(`plan --retries=${wrong}`);
      expect(code).toBe(1);
      expect(stderr).toContain('It must be a whole number from 0 to 100');
    }
  });
});

describe('a server that refuses', () => {
  it('to be read for want of a scope keeps everything from being written', async () => {
    const { idops, writes } = await project(
      { 'manifests/all.yaml': [organization, template].join('---\n') },
      { tokens: { token: ['users:manage:all'] } },
    );
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('It needs the scope identity-providers:manage:all');
    expect(writes()).toEqual([]);
  });
});

describe('a server that answers 200', () => {
  it('and keeps another value has not converged, and the next plan says so', async () => {
    const { idops, sandbox } = await project(
      { 'manifests/all.yaml': [organization, user, template].join('---\n') },
      {
        intercept: ({ path, method }) => {
          if (method === 'GET') return undefined;
          const data = path.includes('/users/')
            ? { id: ids.ada, group: 'staff' }
            : path.includes('/organizations/')
              ? { id: ids.acme, name: 'acme', label: 'ACME Corp' }
              : { type: 'tx_code', backend_id: ids.backend, txt_content: 'built-in', html_content: 'x' };
          return { kind: 'answer', status: 200, body: { data } };
        },
      },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 1, summary: { applied: 0, not_converged: 3 } });
    expect(result.results[1].error).toContain('group: asked "guests", the server has "staff"');
    expect(sandbox.data.organizations[0]?.label).toBe('ACME Corp');
    const plan = JSON.parse((await idops('plan --format json')).stdout);
    expect(plan.summary).toMatchObject({ update: 3, unchanged: 0 });
  });
});
