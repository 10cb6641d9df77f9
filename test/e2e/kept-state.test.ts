import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { borutaProject } from './running.js';

it('a state that is lost with its CI runner is reported if users of a Boruta depend on it', async () => {
  const at = await borutaProject({ 'manifests/a.yaml': `kind: User\nid: ${ids.ada}\ngroup: ops\n` });
  const env = { CI: 'true' };
  expect((await at.idops('apply --yes', { env })).stderr).not.toContain('state-not-kept');
  execFileSync('git', ['init', '-q', at.folder]);
  expect((await at.idops('doctor')).stdout).toContain('users permanently lose their lists');
  expect((await at.idops('apply --yes', { env })).stderr).toContain('warning[state-not-kept]');
  expect((await at.idops('apply --yes', { env: { CI: '' } })).stderr).not.toContain('state-not-kept');
  expect((await at.idops('plan', { env })).stderr).not.toContain('state-not-kept');
});
