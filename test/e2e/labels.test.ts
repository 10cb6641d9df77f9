import { describe, expect, it } from 'vitest';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import {
  boruta,
  borutaProject,
  project,
  startedSeed,
  succeeded,
  type TestProject,
  trustedConfig,
} from './running.js';
import { expectToMatchSchema } from './schemas.js';

const user = (group: string): string => `kind: User\nid: ${ids.ada}\ngroup: ${group}\n`;
const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "{{ tx_code }}"\nhtml_content: "<p>{{ tx_code }}</p>"\n`;
const client = `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`;

async function named(
  files: { [path: string]: string },
  change?: (seed: SandboxSeed) => void,
): Promise<TestProject> {
  const seed = await startedSeed();
  change?.(seed);
  return await borutaProject({ ...files }, { seed });
}

describe('the label of an object', () => {
  it('is shown after its address, in every format, without a further request', async () => {
    const { idops, reads, json } = await named({
      'manifests/all.yaml': [user('office'), template, client].join('---\n'),
    });
    const { stdout: text } = await idops('plan');
    expect(reads().toSorted()).toEqual([
      `GET /api/backends/${ids.backend}/email-templates/tx_code`,
      `GET /api/clients/${ids.portal}`,
      'GET /api/organizations?page=1',
      `GET /api/users/${ids.ada}`,
    ]);
    expect(text).toContain(`update User/${ids.ada} (ada@acme.example)\n    at manifests/all.yaml:1\n`);
    expect(text).toMatch(new RegExp(`EmailTemplate/${ids.backend}/tx_code \\(.+\\)\n    at `));
    expect(text).toMatch(new RegExp(`adopt Client/${ids.portal} \\(.+\\)\n    at `));

    const plan = await json('plan');
    expectToMatchSchema('plan', plan);
    const { backends, clients } = await startedSeed();
    expect(plan.changes.map(({ label }: { label?: string }) => label)).toEqual([
      clients[0]?.name,
      'ada@acme.example',
      backends[0]?.name,
    ]);
    expect((await idops('plan --format markdown')).stdout).toContain('` (`ada@acme.example`)');
    expect((await idops('plan --format html')).stdout).toContain('</code> (ada@acme.example)');
    const shown = `User/${ids.ada} (ada@acme.example)`;
    expect((await idops('plan --format github')).stdout).toContain(`${shown}: group`);

    const applied = await json('apply --yes');
    expectToMatchSchema('run', applied);
    expect(applied.results[1]).toMatchObject({ address: `User/${ids.ada}`, label: 'ada@acme.example' });
    expect((await idops(`runs show ${applied.run}`)).stdout).toContain(shown);
  });

  it('is unknown for a template if no response contains its backend', async () => {
    const { json, reads } = await named({ 'manifests/all.yaml': template });
    expect((await json('plan')).changes[0]).not.toHaveProperty('label');
    expect(reads()).toEqual([`GET /api/backends/${ids.backend}/email-templates/tx_code`]);
  });

  it('is recorded from responses to writes if nothing can be read', async () => {
    const { backends, clients } = await startedSeed();
    const made = await project({
      'idops.yaml': trustedConfig,
      'manifests/all.yaml': [user('office'), template, client].join('---\n'),
    });
    const labels = (shown: { readonly [list: string]: readonly { label?: string }[] }) =>
      (shown.results ?? shown.changes ?? []).map(({ label }) => label);
    const { json } = made;
    expect(labels(await json('plan'))).toEqual([undefined, undefined, undefined]);
    const first = await json('apply --yes');
    expect(labels(first)).toEqual([undefined, 'ada@acme.example', backends[0]?.name]);
    expect(labels(await json(`runs show ${first.run}`))).toEqual(labels(first));
    const next = (generation: number, group: string) => ({
      'manifests/all.yaml': [
        user(group),
        template.replace('txt_content: "', `txt_content: "${group} `),
        client.replace('did_generation: 1', `did_generation: ${generation}`),
      ].join('---\n'),
    });
    const all = [clients[0]?.name, 'ada@acme.example', backends[0]?.name];
    await made.write(next(2, 'shop'));
    // Regenerations are last.
    expect(labels(await json('plan'))).toEqual([...all.slice(1), undefined]);
    const second = await json('apply --yes');
    const last = [...all.slice(1), ...all.slice(0, 1)];
    expect(labels(second)).toEqual(last);
    expect(labels(await json(`runs show ${second.run}`))).toEqual(last);
    expect((await made.idops(`undo ${second.run} --yes`)).stderr).toMatch(
      new RegExp(`not-undone\\]: Client/${ids.portal} \\(.+\\) is left: `),
    );
    await made.write(next(3, 'office'));
    expect(labels(await json('plan --kind Client'))).toEqual([clients[0]?.name]);
    expect(made.reads().filter((path) => !path.includes('email-templates'))).toEqual([]);
  });

  it('is shown if the address has an id or a new name', async () => {
    const { idops } = await named({
      'manifests/all.yaml': `kind: Organization\nid: ${ids.acme}\nname: acme-2\nlabel: ACME 2\n---\nkind: Organization\nname: globex\nlabel: G\n`,
    });
    const { stdout } = await idops('plan');
    expect(stdout).toContain('Organization/acme-2 (acme)');
    expect(stdout).toContain('Organization/globex  at');
  });

  it('is masked if it is a secret', async () => {
    const secret = 'sesame-sesame-sesame';
    const metadata = 'metadata: {pin: {value: "${PIN}", status: valid}}\n';
    const { idops } = await named(
      { 'idops.yaml': `${boruta}allow_env: [PIN]\n`, 'manifests/all.yaml': `${user('office')}${metadata}` },
      (seed) => {
        for (const one of seed.users) one.username = secret;
      },
    );
    for (const format of ['text', 'markdown', 'html', 'github', 'json']) {
      const { stdout } = await succeeded(idops(`plan --format ${format}`, { env: { PIN: secret } }));
      expect(stdout).toContain(`User/${ids.ada}`);
      expect(stdout).not.toContain('sesame');
    }
  });
});
