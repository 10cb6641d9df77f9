import { expect, test } from 'vitest';
import { failed, project, succeeded, trustedConfig } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: Acme Inc.\n';

const suggested = (printed: string, after: string): string => {
  const [, line = ''] = new RegExp(`^${after}idops (.+)$`, 'm').exec(printed) ?? [];
  return line;
};

test('each command suggests the next, and the suggestions work', async () => {
  const made = await project({
    'idops.yaml': `${trustedConfig}environments: {production: {vars: {region: eu}}}\n`,
    'manifests/a.yaml': organization,
  });
  const planned = await made.idops('plan --env production --out plan.json');
  const applied = await made.idops(suggested(planned.stderr, 'The plan is stored. To apply it: '));
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/Applied: 1 applied\.\n$/) });
  const undo = suggested(applied.stderr, 'To undo this run: ');
  expect(undo).toMatch(/^undo \S+ --env production$/);
  const undone = await succeeded(made.idops(`${undo} --yes`));
  expect(undone.stderr).toContain('If the manifests still declare the change, the next apply makes it again');
  expect((await made.idops(`${undo} --yes`)).stdout).toContain('Nothing to put back.');
  const { last_run: last } = await made.json('state show --env production');
  const redone = await made.json(`undo ${last} --env production --yes`);
  expect(redone.undoes).toMatch(/^\d{8}T\d{6}Z-/);
  expect((await made.idops('plan --env production --out plan.json --quiet')).stderr).toBe('');
});

test('a plan with blocked changes is stored with a warning, and its suggestions work', async () => {
  const made = await project({
    'idops.yaml': trustedConfig,
    'manifests/a.yaml': organization,
    'manifests/b.yaml': 'kind: Organization\nname: nowhere\nlabel: Nowhere\n',
  });
  await failed(made.idops('plan --out plan.json'), "it can't be applied while a change is blocked");
  await failed(made.idops('apply plan.json'), 'one without it: idops plan --target');
  expect((await made.idops('apply --yes')).stderr).toContain('fix it, or leave it out with --target');
  await made.idops('plan --target Organization/acme --out plan.json');
  expect(await made.idops('apply plan.json')).toMatchObject({ code: 0 });
});
