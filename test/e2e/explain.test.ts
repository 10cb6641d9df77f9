import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, borutaProject, project, refused, succeeded } from './running.js';
import { expectDocumented } from './schemas.js';

const manifests = {
  'idops.yaml': `${boruta}allow_env: [PHONE]\n`,
  'manifests/a.yaml':
    'kind: User\nusername: ada@acme.example\nmetadata: {phone: {value: "${PHONE}", status: valid}}\n' +
    '---\nkind: Users\nusers: [ada@acme.example]\nroles: {add: [member]}\n' +
    '---\nkind: Users\nmatch: {group: staff}\nexcept: [grace]\norganizations: {add: [acme]}\n',
};

it('--explain lists the documents that declare an object, a match as a condition, without requests', async () => {
  const { idops, sandbox } = await project(manifests, { profile: 'boruta' });
  const env = { PHONE: 'a-secret-number' };
  const { stdout } = await succeeded(idops('validate --explain User/ada@acme.example', { env }));
  expect(stdout).toBe(
    [
      'User/ada@acme.example',
      '  User at manifests/a.yaml:1',
      '    metadata: {"phone": {"value": (sensitive), "status": "valid"}} (manifests/a.yaml:3)',
      '  Users at manifests/a.yaml:5',
      '    roles.add: ["member"] (manifests/a.yaml:7)',
      '  Users at manifests/a.yaml:9, if the server shows {"group": "staff"}, except for ["grace"]',
      '    organizations.add: ["acme"] (manifests/a.yaml:12)',
      '',
    ].join('\n'),
  );
  const json = await succeeded(idops('validate --explain User/other --format json', { env }));
  expect(JSON.parse(json.stdout)).toEqual({
    format_version: 1,
    address: 'User/other',
    documents: [
      {
        kind: 'Users',
        at: { file: 'manifests/a.yaml', line: 9, column: 1 },
        condition: { group: 'staff', except: ['grace'] },
        declares: [
          {
            path: 'organizations.add',
            at: { file: 'manifests/a.yaml', line: 12, column: 17 },
            value: ['acme'],
          },
        ],
      },
    ],
    named_otherwise: 0,
  });
  await refused(idops('validate --explain User/grace', { env }), 'no-such-address');
  await refused(idops('validate --explain Client/x', { env }), 'no-such-address');
  expect(sandbox.requests).toEqual([]);
});

it('--explain shows a match for a user who may not be the one whom except names', async () => {
  const { idops } = await borutaProject({
    'manifests/a.yaml':
      'kind: Users\nmatch: {group: staff}\nexcept: [grace@x, {name: dup@x, backend: Main}]\ngroup: x\n',
  });
  const condition = 'except for ["grace@x", {"name": "dup@x", "backend": "Main"}]';
  for (const name of ['dup@x', 'GRACE@x']) {
    const { stdout } = await succeeded(idops(`validate --explain User/${name}`));
    expect(stdout).toContain(condition);
  }
  await refused(idops('validate --explain User/grace@x'), 'no-such-address');
});

it('--explain shows that a document deletes or regenerates', async () => {
  const { idops } = await borutaProject({
    'manifests/a.yaml':
      'kind: User\nusername: grace@x\nstate: absent\n---\n' +
      `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n`,
  });
  const deleted = await succeeded(idops('validate --explain User/grace@x'));
  expect(deleted.stdout).toContain('    state: "absent" (manifests/a.yaml:3)\n');
  const regenerated = await succeeded(idops(`validate --explain Client/${ids.portal}`));
  expect(regenerated.stdout).toContain('    did_generation: 2 (manifests/a.yaml:7)\n');
});

it('--explain as JSON hides a secret, not what is beside it, and no token shows in literals', async () => {
  const { json, sandbox, write, folder } = await project({});
  const backend = `backend: {smtp_from: ${sandbox.token}, smtp_port: 25, smtp_password: hush-hush}`;
  await write({ 'manifests/a.yaml': `kind: User\nid: ${ids.ada}\n${backend}\n`, 'below/x': '' });
  const explained = await json(`validate --config ../idops.yaml --explain User/${ids.ada}`, {
    cwd: join(folder, 'below'),
  });
  expectDocumented('An explanation', explained);
  expect(explained.documents).toMatchObject([
    {
      at: { file: 'manifests/a.yaml', line: 1 },
      condition: null,
      declares: [
        {
          at: { file: 'manifests/a.yaml', line: 3 },
          value: { smtp_from: '(sensitive)', smtp_port: 25, smtp_password: { sensitive: true } },
        },
      ],
    },
  ]);
});

it('--explain as JSON prints the problems if a manifest is wrong', async () => {
  const { json } = await borutaProject({ 'manifests/a.yaml': 'kind: User\nusername: ada\ngruop: x\n' });
  const printed = await json('validate --explain User/ada');
  expectDocumented('Problems', printed);
  expect(printed.problems).toMatchObject([{ code: 'unknown-field', severity: 'error' }]);
});

it('--explain counts the documents that only the server can match to the address', async () => {
  const id = '40000000-0000-4000-8000-000000000001';
  const { idops, json, write } = await borutaProject({
    'manifests/a.yaml':
      `kind: User\nid: ${id}\ngroup: staff\n---\nkind: Users\nusers: [ada@acme.example]\ngroup: staff\n` +
      `---\nkind: Users\nusers: [{id: ${id}}]\nroles: {add: [member]}\n---\nkind: KeyPair\nid: ${id}\n`,
  });
  const byName = await succeeded(idops('validate --explain User/ada@acme.example'));
  expect(byName.stdout).toMatch(
    /Users at manifests\/a.yaml:5\n.*\n\n2 documents name objects .* by their ids /,
  );
  expect(byName.stdout).toContain('may be about this one: idops plan resolves them.\n');
  const byId = await succeeded(idops(`validate --explain User/${id}`));
  expect(byId.stdout).toContain('1 document names an object of this kind by its name and');
  const explained = { named_otherwise: 2, documents: [{}] };
  expect(await json('validate --explain User/ada@acme.example')).toMatchObject(explained);
  const ofKind = '2 documents name objects of this kind by their ids';
  await refused(idops('validate --explain User/grace'), ofKind);
  // Counts only templates of the same type.
  const template = 'kind: EmailTemplate\nbackend: Staff\ntxt_content: x\ntype: ';
  const types = `${template}tx_code\n---\n${template}reset_password_instructions\n`;
  await write({ 'manifests/a.yaml': types });
  const one = '1 document names an object of this kind by its name and';
  await refused(idops(`validate --explain EmailTemplate/${id}/tx_code`), one);
  // A document with both id and name is only about this object.
  const other = `---\nkind: Organization\nid: ${id.replace('1', '2')}\nlabel: x\n`;
  await write({ 'manifests/a.yaml': `kind: Organization\nid: ${id}\nname: acme\n${other}` });
  for (const address of ['Organization/acme', `Organization/${id}`]) {
    const { stdout } = await succeeded(idops(`validate --explain ${address}`));
    expect(stdout).toMatch(/^Organization[/].*\n {2}Organization at manifests[/]a.yaml:1\n.*\n$/);
  }
});
