import { describe, expect, it } from 'vitest';
import { project } from './running.js';

const named = 'kind: Organization\nname:';
const name = '"name" in Organization:';
const user = 'kind: User\nid: u\n';
const flag = '"blocked" in User: expected true or false';
const template = 'kind: EmailTemplate\nbackend_id: b\ntype: tx_code\n';

describe('a value of another type is reported as written, with what to write', () => {
  it.each([
    [`${named} 123\n`, `${name} expected a string, got the number 123`, 'put it in quotes'],
    [`${named}\n`, `${name} expected a string, got nothing`, 'write a value, or remove the key'],
    [`${named} [acme]\n`, `${name} expected a string, got a list`, null],
    [`${user}blocked: yes\n`, `${flag}, got the string "yes"`, 'write true or false, without quotes'],
    [`${user}blocked: "true"\n`, `${flag}, got the string "true"`, 'write true or false, without quotes'],
    [
      `${user}authorized_scopes: ["users:read"]\n`,
      'a scope of a user needs a "name" and a "label"',
      'the API requires name and label in each element of authorized_scopes',
    ],
    [
      `${user}metadata: [a]\n`,
      '"metadata" in User: expected a map, got a list',
      'write it as "key: value" on lines below, indented further',
    ],
    [
      `${user}backend: {smtp_password: 12345}\n`,
      '"backend.smtp_password" in User: expected a string or {file: PATH}, got a number',
      'put it in quotes',
    ],
    [
      `${template}txt_content: {fiel: x}\n`,
      '"txt_content" in EmailTemplate: expected a string or {file: PATH}, got a map',
      null,
    ],
    [
      'kind: Client\nid: c\ndid_generation: 1.5\n',
      '"did_generation" in Client: expected an integer, got the number 1.5',
      null,
    ],
    [
      'kind: Organization\nname: *acme\n',
      'this alias has no anchor before it',
      'put quotes around a text that begins with "*", or write the anchor "&name" first',
    ],
  ])('%j', async (manifest, message, hint) => {
    const { json } = await project({ 'manifests/a.yaml': manifest });
    const { problems } = await json('validate');
    expect(problems).toEqual([expect.objectContaining({ message, hint })]);
  });

  it.each([
    ['version: "1"\n', '"version" in configuration must be 1', null],
    ['server: {}\n', 'missing field "version" in configuration', null],
    [
      'version: 1\nserver: {auth: hunter2}\n',
      '"server.auth" in configuration: expected a map, got a string',
      'write its fields as "key: value" on lines below, indented further',
    ],
  ])('in the configuration too: %j', async (configuration, message, hint) => {
    const { idops } = await project({ 'idops.yaml': configuration });
    const { stdout, stderr } = await idops('validate --format json');
    expect(JSON.parse(stdout).problems).toContainEqual(expect.objectContaining({ message, hint }));
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('but not a value of a variable', async () => {
    const { idops } = await project({ 'manifests/a.yaml': `${user}blocked: \${IDOPS_BLOCKED}\n` });
    const env = { IDOPS_BLOCKED: 'hunter2hunter2' };
    const { stdout, stderr } = await idops('validate --format json', { env });
    expect(stdout).toContain('expected true or false, got a string');
    expect(stderr).toContain(`blocked: \${IDOPS_BLOCKED}\n   |          ^^^^^^^^^^^^^^^^\n`);
    expect(stdout + stderr).not.toContain('hunter2');
  });
});
