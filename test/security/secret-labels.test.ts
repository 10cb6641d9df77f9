import { expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { failed, filesIn, project, succeeded } from '../e2e/running.js';

const organization = 'kind: Organization\nname: acme\nlabel: ${IDOPS_LABEL}\n';
const ada = (organizations: string) => `---\nkind: User\nid: ${ids.ada}\norganizations: ${organizations}\n`;

it('a secret label of an organization hides neither its members nor a removed membership', async () => {
  const at = await project({ 'manifests/all.yaml': organization + ada('[acme]') });
  const env = { IDOPS_LABEL: 'first-secret' };
  await succeeded(at.idops('apply --yes', { env }));
  expect((await at.idops('access', { env })).stdout).toContain('organization acme');
  env.IDOPS_LABEL = 'second-secret';
  await succeeded(at.idops('apply --yes', { env }));
  await succeeded(at.idops('runs', { env }));
  await at.write({ 'manifests/all.yaml': organization + ada('[]') });
  const { changes } = JSON.parse((await at.idops('plan --format json', { env })).stdout);
  expect(changes).toMatchObject([
    {
      destructive: true,
      fields: [{ path: 'organizations', before: [{ id: ids.acme, name: 'acme' }], after: [] }],
    },
  ]);
  await failed(at.idops('apply --yes --allow-destructive 0', { env }), 'too-destructive');
  expect(JSON.stringify(await filesIn(at.folder))).not.toMatch(/(first|second)-secret/);
});
