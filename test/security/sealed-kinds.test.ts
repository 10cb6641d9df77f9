import { expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project } from '../e2e/running.js';

it('a stored plan can be applied if the token is the name of a kind: kinds in addresses are never masked', async () => {
  const manifest = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "{{ tx_code }}"\n`;
  const at = await project(
    { 'manifests/all.yaml': manifest },
    {
      tokens: { EmailTemplate: ['clients:manage:all', 'users:manage:all', 'identity-providers:manage:all'] },
    },
  );
  expect((await at.idops('plan --out plan.json')).code).toBe(0);
  expect(await at.read('plan.json')).not.toContain('(sensitive)/');
  expect(await at.idops('apply plan.json --yes')).toMatchObject({ code: 0 });
});
