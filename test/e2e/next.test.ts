import { expect, test } from 'vitest';
import { project, sure } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: Acme Inc.\n';

const typed = (said: string, after: string): string => {
  const [, line = ''] = new RegExp(`^${after}idops (.+)$`, 'm').exec(said) ?? [];
  return line;
};

test('each command says what can follow, and what it says works as it stands', async () => {
  const made = await project({
    'idops.yaml': `${sure}environments: {production: {vars: {region: eu}}}\n`,
    'manifests/a.yaml': organization,
  });
  const planned = await made.idops('plan --env production --out plan.json');
  const applied = await made.idops(typed(planned.stderr, 'The plan is stored. To apply exactly it: '));
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/Applied: 1 applied\.\n$/) });
  const undo = typed(applied.stderr, 'To put back what this run changed: ');
  expect(undo).toMatch(/^undo \S+ --env production$/);
  const undone = await made.idops(`${undo} --yes`);
  expect(undone.code).toBe(0);
  expect(undone.stderr).toContain('The manifests still say otherwise: the next apply does it again');
  const again = await made.idops(`${undo} --yes`);
  expect(again.stdout).toContain('Nothing to put back.');
  const redone = await made.idops('undo --last --env production --yes --format json');
  expect(redone.stderr).not.toContain('the next apply does it again');
  expect(JSON.parse(redone.stdout).undoes).toMatch(/^\d{8}T\d{6}Z-/);
  expect((await made.idops('plan --env production --out plan.json --quiet')).stderr).toBe('');
});

test('a plan of which something is blocked is stored with what that means, and what can be done about it works', async () => {
  const made = await project({
    'idops.yaml': sure,
    'manifests/a.yaml': organization,
    'manifests/b.yaml': 'kind: Organization\nname: nowhere\nlabel: Nowhere\n',
  });
  const planned = await made.idops('plan --out plan.json');
  expect(planned.code).toBe(1);
  expect(planned.stderr).toContain("it can't be applied while something in it is blocked");
  const refused = await made.idops('apply plan.json');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('one without it: idops plan --target');
  expect((await made.idops('apply --yes')).stderr).toContain('mend it, or leave it out with --target');
  await made.idops('plan --target Organization/acme --out plan.json');
  expect(await made.idops('apply plan.json')).toMatchObject({ code: 0 });
});

test('what goes on after a failure sends no more than was selected', async () => {
  let refusals = 2;
  const made = await project(
    {
      'idops.yaml': sure,
      'manifests/a.yaml': organization,
      'manifests/b.yaml': 'kind: Organization\nname: globex\nlabel: Globex Inc.\n',
    },
    {
      intercept: ({ method }) =>
        method === 'PATCH' && refusals-- > 0 ? { kind: 'answer', status: 422, body: {} } : undefined,
    },
  );
  const failed = await made.idops('apply --yes --target Organization/acme');
  const again = typed(failed.stderr, 'To go on, which plans anew and sends what is left: ');
  expect(again).toBe('apply --target Organization/acme');
  await made.idops('plan --target Organization/acme --out plan.json');
  const stored = await made.idops('apply plan.json');
  expect(typed(stored.stderr, 'To go on, which plans anew and sends what is left: ')).toBe(again);
  const applied = await made.idops(`${again} --yes`);
  expect(applied.stdout).toMatch(/Applied: 1 applied\.\n$/);
});

test('undoing is not offered where it can put back nothing, and says what it would leave', async () => {
  const user = (last: number): string =>
    `kind: User\nid: 40000000-0000-4000-8000-00000000000${last}\ngroup: first\n`;
  const made = await project({ 'idops.yaml': sure, 'manifests/a.yaml': user(1) });
  const unknown = await made.idops('apply --yes');
  expect(unknown.code).toBe(0);
  expect(unknown.stderr).not.toContain('To put back');
  await made.write({ 'manifests/a.yaml': `${user(2)}---\n${organization}` });
  const applied = await made.idops('apply --yes');
  expect(applied.stderr).toMatch(
    /^To put back what this run changed \(all but 1: User\/40000000-0000-4000-8000-000000000002 group\): idops undo \S+$/m,
  );
});
