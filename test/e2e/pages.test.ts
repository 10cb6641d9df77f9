import { describe, expect, it } from 'vitest';
import { emailsIn } from '../report/trees.js';
import { borutaProject, config, failed, project, succeeded } from './running.js';

const provider = '90000000-0000-4000-8000-000000000001';
const page = (type: string, rest: string) =>
  `---\nkind: PageTemplate\nidentity_provider: Company accounts\ntype: ${type}\n${rest}\n`;
const layout = page('layout', `content: '<body class="acme">{{> inner_content }}</body>'`);
const login = page('new_session', 'content: {file: pages/login.html}');
const missing = '---\nkind: ErrorTemplate\ntype: 404\ncontent: "<h1>{{ reason.message }}</h1>"\n';
const html =
  '<link rel="stylesheet" href="https://cdn.example/a.css"><form method="post" action="{{ create_user_session_path }}">' +
  '<input type="hidden" name="_csrf_token" value="{{ _csrf_token }}"><input type="password" onclick="alert(1)">' +
  '<button>Sign in</button></form><script>alert(1)</script>\n';
const files = { 'manifests/pages.yaml': layout + login + missing };

const withPage = (text: string) => borutaProject({ ...files, 'manifests/pages/login.html': text });

describe('Boruta pages', () => {
  it('are written unchanged by a pull, with the name of their provider', async () => {
    const { idops, read } = await withPage(html);
    await succeeded(idops('apply --yes'));
    const pulled = await succeeded(idops('pull --kind PageTemplate --kind ErrorTemplate --out new'));
    expect(pulled.stdout).toContain('3 objects added');
    expect(await read('new/page-templates.yaml')).toContain(
      `kind: PageTemplate\nidentity_provider: Company accounts\ntype: new_session\ncontent: {file: pages/${provider}/new_session.html}\n`,
    );
    expect(await read(`new/pages/${provider}/new_session.html`)).toBe(html);
    expect(await read('new/pages/404.html')).toBe('<h1>{{ reason.message }}</h1>');
    const typed = await succeeded(idops('pull --type new_consent --out one'));
    expect(typed.stderr).not.toContain('error');
    expect((await idops('list --type tx_code')).stdout).not.toMatch(/^(?:Page|Error)Template/m);
    expect((await idops('list --type login')).stderr).toContain(
      'the server shows no email template, page template or error template with this type',
    );
    const listed = await succeeded(idops('list PageTemplate ErrorTemplate'));
    expect(listed.stdout).toMatch(new RegExp(`^PageTemplate +${provider}/layout$`, 'm'));
    expect(listed.stdout).toMatch(
      new RegExp(`^PageTemplate +${provider}/edit_user +\\(the built-in page\\)$`, 'm'),
    );
  });

  it('are rendered in their layout, and neither run nor load anything', async () => {
    const { idops, read } = await withPage(html);
    expect((await succeeded(idops('preview'))).stdout).toBe('preview.html: 3 pages\n');
    const gallery = await read('preview.html');
    await succeeded(idops('plan --format html=plan.html'));
    for (const made of [gallery, await read('plan.html')]) {
      const frames = emailsIn(made).filter((frame) => frame.includes('Sign in'));
      expect(frames.length).toBeGreaterThan(0);
      for (const frame of frames) {
        expect(frame).toContain('class="acme"');
        expect(frame).toContain('<input type="password" inert>');
        expect(frame).not.toMatch(/alert|cdn\.example|csrf|action=/);
      }
      expect(made).toContain('Left out here: style sheet https://cdn.example/a.css; script');
      expect(made).not.toMatch(/an email|as email|as text|Emails/);
    }
    expect(gallery).toContain('<h1>Pages</h1>');
    expect(gallery).not.toContain('Shown without its layout');
  });

  it("are refused before they are sent if the server can't render them", async () => {
    const { idops } = await withPage('{{#errors}}<p>');
    await failed(idops('apply --yes'), /with this content the server\s+answers 500 in place of the page/);
  });

  it('are refused by other profiles', async () => {
    const { idops } = await project({ ...files, 'idops.yaml': config, 'manifests/pages/login.html': html });
    await failed(
      idops('validate'),
      "has no operations for a page template, so PageTemplate can't be declared",
      "has no operations for an error template, so ErrorTemplate can't be declared",
    );
  });
});
