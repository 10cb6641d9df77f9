import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { project } from '../e2e/running.js';

const script = `
const fs = require('node:fs');
const above = (() => {
  try {
    return fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8');
  } catch {
    return '';
  }
})();
fs.writeFileSync('seen.json', JSON.stringify({ own: process.env, above }));
console.log(process.env.HANDED_ON);
`;

const marks = {
  INPUT_TOKEN: 'canary-of-an-input',
  GITHUB_TOKEN: 'canary-of-github',
  AWS_SECRET_ACCESS_KEY: 'canary-of-a-cloud',
  IDOPS_SMTP: 'canary-of-a-manifest',
};

describe('a token_command', () => {
  it('gets the fewest variables: those that programs need, and those that are handed to it', async () => {
    const at = await project({
      'idops.yaml': `version: 1
server:
  profile: documented
  base_url: \${IDOPS_BASE_URL}
  auth: {token_command: ["${process.execPath}", print.cjs], pass_env: [HANDED_ON]}
`,
      'print.cjs': script,
      'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
    });
    const env = { ...marks, IDOPS_TOKEN: undefined, HANDED_ON: at.sandbox.token };
    // What its parent was started with is a part of it.
    const ran = await at.begin(['plan'], { env }).ended;
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update') });
    const { own, above } = JSON.parse(await at.read('seen.json'));
    expect(own.HANDED_ON).toBe(at.sandbox.token);
    expect(own.PATH).toBe(process.env.PATH);
    for (const [name, value] of Object.entries(marks)) {
      expect(Object.keys(own)).not.toContain(name);
      expect(JSON.stringify(own)).not.toContain(value);
    }
    // What remains, and what docs/security.md says of it.
    if (above !== '') expect(above).toContain(marks.INPUT_TOKEN);
    expect(await readFile('docs/security.md', 'utf8')).toContain('as in `/proc/PPID/environ`');
  });
});
