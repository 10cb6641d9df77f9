import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Files, project } from '../e2e/running.js';
import { emailsIn } from '../report/trees.js';

const script = "<script>document.title = 'ran'</script>";
const link = 'https://phish.example.com/reset';

/** Emails with a script and a link, and a user whose secrets are parts of idops's own markup. */
const files: Files = {
  'manifests/all.yaml': `kind: User
id: ${ids.ada}
group: staff
backend:
  smtp_password: 'sandbox=""'
  ldap_master_password: Content-Security-Policy
---
kind: User
id: ${ids.grace}
backend:
  smtp_password: action
  ldap_master_password: '${link}'
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "{{ tx_code }} ${link} \`\`\`\`"
html_content: |
  <html><head><meta charset="utf-8">${script}</head><body>{{ tx_code }} <a href="${link}">go on</a></body></html>
`,
};

describe('a secret declared in a manifest', () => {
  test('removes neither sandbox nor policy from the frames of emails, in the plan and the preview', async () => {
    const it = await project(files);
    const plan = await it.idops('plan --format html=plan.html');
    expect(plan.code).toBe(0);
    await it.idops('preview');
    for (const name of ['plan.html', 'preview.html']) {
      const page = await it.read(name);
      expect(page).not.toContain('<script');
      expect(emailsIn(page).length).toBeGreaterThan(0);
      expect(page).toMatch(/<meta http-equiv="Content-Security-Policy"/);
      expect(page).not.toContain('(sensitive)=');
    }
  });

  test('hides its own field, and neither words of idops nor a link elsewhere', async () => {
    const it = await project(files);
    const { stdout } = await it.idops('plan --format json');
    const plan = JSON.parse(stdout);
    expect(plan.changes).toMatchObject([{ action: 'update' }, { action: 'update' }, { action: 'update' }]);
    const [, , email] = plan.changes;
    expect(email.fields[0].after).toContain(link);
    expect(email.warnings.map(({ code }: { code: string }) => code)).not.toContain('masked-body');
    const secret = plan.changes[1].fields.find(
      ({ path }: { path: string }) => path === 'backend.smtp_password',
    );
    expect(secret).toMatchObject({ sensitive: true, after: { sensitive: true } });
    const { stdout: annotations } = await it.idops('plan --format github');
    expect(annotations).toMatch(/^::notice file=manifests\/all\.yaml,line=\d+,title=idops update::/m);
    const { stdout: markdown } = await it.idops('plan --format markdown');
    expect(markdown).toContain('- **update** ');
    expect(markdown).toContain(link);
    expect(markdown).toMatch(/^`{5,}diff$/m);
  });

  test("doesn't make a stored plan stale", async () => {
    const short =
      files['manifests/all.yaml']?.replace('smtp_password: action', 'smtp_password: "sha2"') ?? '';
    const it = await project({ 'manifests/all.yaml': short });
    expect((await it.idops('plan --out plan.json')).code).toBe(0);
    expect(await it.read('plan.json')).toContain('"digest": "sha256:');
    const applied = await it.idops('apply plan.json');
    expect(applied.stderr).not.toContain('stale');
    expect(applied.code).toBe(0);
  });
});

describe('a credential', () => {
  const env = { IDOPS_LINK: link, IDOPS_SHORT: 'sha2' };
  const text = `kind: User
id: ${ids.ada}
group: "\${IDOPS_LINK} \${IDOPS_SHORT}"
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "{{ tx_code }} ${link}"
`;

  test('is masked in an undeclared body with a warning, in every format', async () => {
    const it = await project({ 'manifests/all.yaml': text });
    for (const format of ['text', 'json', 'markdown', 'html', 'github']) {
      const { stdout } = await it.idops(`plan --format ${format}`, { env });
      expect(stdout).toContain('masked-body');
      expect(stdout).not.toContain('phish.example.com');
    }
    await it.idops('preview', { env });
    expect(await it.read('preview.html')).toContain('masked-body');
  });

  test('that is the name of an organization is in no output and no stored plan, and the plan can be applied', async () => {
    const it = await project({
      'manifests/all.yaml': `kind: Organization\nid: ${ids.acme}\nlabel: another\n`,
    });
    const [acme] = it.sandbox.data.organizations;
    if (acme === undefined) throw new Error('there is no organization');
    acme.name = it.sandbox.token;
    const plan = await it.idops('plan --debug --out plan.json --format html=plan.html --format github');
    expect(plan.code).toBe(0);
    const applied = await it.idops('apply plan.json --debug --format json');
    expect(applied.code).toBe(0);
    const shown = [plan.stdout, plan.stderr, applied.stdout, applied.stderr, await it.read('plan.json')];
    expect([...shown, await it.read('plan.html')].filter((one) => one.includes(it.sandbox.token))).toEqual(
      [],
    );
    expect(JSON.parse(applied.stdout).results[0].address).toBe('Organization/(sensitive)');
  });
});

test('a secret in a response masks no short word, and is reported if it masks a link', async () => {
  const it = await project(
    {
      'manifests/all.yaml': `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "{{ tx_code }} ${link}"\n`,
    },
    {
      intercept: ({ method }) =>
        method === 'GET'
          ? {
              kind: 'answer',
              status: 200,
              body: {
                data: { id: ids.txCode, type: 'tx_code', txt_content: 'a', html_content: 'b', secret: link },
                client_secret: 'update',
              },
            }
          : undefined,
    },
  );
  const { stdout } = await it.idops('plan --format json');
  const [change] = JSON.parse(stdout).changes;
  expect(change.action).toBe('update');
  expect(change.fields[0].after).toBe('{{ tx_code }} (sensitive)');
  expect(change.warnings.map(({ code }: { code: string }) => code)).toContain('masked-body');
});
