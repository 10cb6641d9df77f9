import { describe, expect, it } from 'vitest';
import { project } from './running.js';
import { expectDocumented } from './schemas.js';

const organization = 'kind: Organization\nname: acme\nlabel: New\n';
const nobodyListens = { IDOPS_BASE_URL: 'http://127.0.0.1:1' };

describe('a failure is JSON on standard output', () => {
  it.each<[string, string, string, { readonly [path: string]: string }?, object?]>([
    ['a bad configuration', 'plan', 'unknown-field', { 'idops.yaml': 'version: 1\nsrver: {}\n' }],
    ['no configuration', '--config nosuch.yaml plan', 'no-config'],
    ['a bad manifest', 'plan', 'unknown-kind', { 'manifests/b.yaml': 'kind: Usr\n' }],
    ['an unknown environment', '--env nosuch validate', 'unknown-environment'],
    ['no token', 'plan', 'unresolved-variable', {}, { IDOPS_TOKEN: undefined }],
    ['a rejected token', 'plan', 'server-unauthorized', {}, { IDOPS_TOKEN: 'not-the-token' }],
    ['an unreachable server', 'plan --retries 0', 'server-unreachable', {}, nobodyListens],
    ['a target that matches nothing', 'plan --target User/x', 'no-such-target'],
    ['a folder as an output file', 'validate --format text=manifests', 'not-writable'],
    ['an unknown option', 'plan --targte User/x', 'wrong-option'],
    ['an option without its value', 'plan --concurrency 0', 'wrong-option'],
    ['an unknown command', 'plam', 'wrong-option'],
    ['a missing plan file', 'apply nosuch.json', 'plan-unreadable'],
    ['a missing plan file to show', 'plan nosuch.json', 'plan-unreadable'],
    ['no terminal to ask', 'apply', 'no-terminal'],
    ['a lock', 'apply --yes', 'locked', { '.idops/state.json.lock': '{}' }],
    ['a missing run', 'runs show 2001', 'no-such-run'],
    ['a missing run to undo', 'undo 2001', 'no-such-run'],
    ['an address that no run wrote', 'runs --address nosuch', 'no-such-address'],
    ['a user who is not recorded', 'access --user nosuch', 'not-found'],
    ['an object that no document declares', 'validate --explain User/nosuch', 'no-such-address'],
    ['no server to list from', 'list --retries 0', 'server-unreachable', {}, nobodyListens],
    ['no server to pull from', 'pull --retries 0', 'server-unreachable', {}, nobodyListens],
  ])('%s: %s', async (_, args, code, files = {}, env = {}) => {
    const { idops, writes } = await project({ 'manifests/a.yaml': organization, ...files });
    const ran = await idops(`${args} --format json`, { env: { ...env } });
    expect(ran.code).toBe(1);
    const printed = JSON.parse(ran.stdout);
    expectDocumented('Problems', printed);
    expect(printed.problems).toContainEqual(expect.objectContaining({ code, severity: 'error' }));
    expect(ran.stderr).toContain(`error[${code}]`);
    expect(writes()).toEqual([]);
  });

  it('but remains one object if a result was printed', async () => {
    const { idops } = await project({ 'manifests/a.yaml': organization, README: 'a file' });
    const { code, stdout, stderr } = await idops('plan --format json --format html=README/page.html');
    expect({ code, object: JSON.parse(stdout).format_version }).toEqual({ code: 1, object: 1 });
    expect(stderr).toContain('error[not-writable]');
  });

  it('but nothing if another format or a file was requested', async () => {
    const { idops } = await project({ 'manifests/b.yaml': 'kind: Usr\n' });
    expect((await idops('plan --format markdown')).stdout).toBe('');
    expect((await idops('plan --format json=plan.json')).stdout).toBe('');
  });
});
