import { expect, it } from 'vitest';
import { boruta, project, refused, succeeded } from './running.js';

const manifests = {
  'idops.yaml': `${boruta}allow_env: [PHONE]\n`,
  'manifests/a.yaml':
    'kind: User\nusername: ada@acme.example\nmetadata: {phone: {value: "${PHONE}", status: valid}}\n' +
    '---\nkind: Users\nusers: [ada@acme.example]\nroles: {add: [member]}\n' +
    '---\nkind: Users\nmatch: {group: staff}\norganizations: {add: [acme]}\n',
};

it('shows which documents declare what about an object, a match as a condition, and sends nothing', async () => {
  const { idops, sandbox } = await project(manifests, { profile: 'boruta' });
  const env = { PHONE: 'a-secret-number' };
  const { stdout } = await succeeded(idops('validate --explain User/ada@acme.example', { env }));
  expect(stdout).toBe(
    [
      'User/ada@acme.example',
      '  User at manifests/a.yaml:1',
      '    metadata: "(sensitive)" (manifests/a.yaml:3)',
      '  Users at manifests/a.yaml:5',
      '    roles.add: ["member"] (manifests/a.yaml:7)',
      '  Users at manifests/a.yaml:9, if the server shows {"group": "staff"}',
      '    organizations.add: ["acme"] (manifests/a.yaml:11)',
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
        at: 'manifests/a.yaml:9',
        condition: { group: 'staff' },
        declares: [{ path: 'organizations.add', at: 'manifests/a.yaml:11', value: ['acme'] }],
      },
    ],
  });
  expect((await refused(idops('validate --explain Client/x', { env }))).stderr).toContain('no-such-address');
  expect(sandbox.requests).toEqual([]);
});
