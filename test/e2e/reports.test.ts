import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, config, failed, project, succeeded, trustedConfig } from './running.js';

const template = `kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "Hello {{ user.username }}, {{ tx_code }}"
html_content: {file: tx_code.html}
`;
const html = '<!DOCTYPE html><meta charset="utf-8"><p>Hello {{ user.username }}, {{ tx_code }}</p>\n';
const files = {
  'manifests/emails.yaml': template,
  'manifests/tx_code.html': html,
  'manifests/samples/tx_code.yaml': 'user: {username: Ada Lovelace}\ntx_code: "007"\n',
};

describe('the formats of a plan', () => {
  it('are written to files, and one of them to standard output', async () => {
    const { idops, read } = await project(files);
    const formats = '--format markdown --format html=plan.html --format json=plan.json';
    const { stdout } = await succeeded(idops(`plan ${formats}`));
    expect(stdout).toMatch(/^## idops plan: 1 to update, 0 unchanged\n/);
    expect(await read('plan.html')).toContain('Hello Ada Lovelace, 007</pre>');
    expect(JSON.parse(await read('plan.json')).summary.update).toBe(1);
  });

  it('link in Markdown to the file at the commit of CI, relative to the repository', async () => {
    const organization = { 'infra/manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: X\n' };
    const { idops, folder } = await project({ 'infra/idops.yaml': trustedConfig, ...organization });
    const sha = 'c'.repeat(40);
    const env = {
      GITLAB_CI: 'true',
      CI_PROJECT_URL: 'https://gitlab.example/acme/identity',
      CI_COMMIT_SHA: sha,
      CI_PROJECT_DIR: folder,
    };
    const link = (shown: string) =>
      `— [\`${shown}\`](https://gitlab.example/acme/identity/-/blob/${sha}/infra/manifests/a.yaml#L1)\n`;
    const markdown = '--config infra/idops.yaml --format markdown';
    const { stdout } = await idops(`plan ${markdown} --out plan.json`, { env });
    expect(stdout).toContain(link('infra/manifests/a.yaml:1'));
    const shown = await idops(`plan plan.json ${markdown}`, { env });
    expect(shown.stdout).toContain(link('manifests/a.yaml:1'));
    expect((await idops(`plan ${markdown}`)).stdout).toContain('— `infra/manifests/a.yaml:1`\n');
  });
});

describe('the HTML report of a run', () => {
  it('shows what apply did and how to undo it, and then what undo did', async () => {
    const { idops, read } = await project({
      ...files,
      'manifests/samples/tx_code.yaml': 'user: {username: Ada Lovelace}\n---\nuser: {username: Grace}\n',
    });
    expect((await idops('apply --yes --format html=apply.html')).code).toBe(0);
    const applied = await read('apply.html');
    const [, run] = /Run <code>([^<]+)/.exec(applied) ?? [];
    expect(applied).toMatch(/<h1>idops apply on http/);
    expect(applied).toContain('<strong>1</strong> applied');
    expect(applied).toContain(`<code>idops undo ${run}</code>`);
    expect(applied).toContain('Hello Grace, 493172</pre>');
    expect(applied).toContain('<summary>document 2</summary>');

    expect((await idops(`undo ${run} --yes --format html=undo.html`)).code).toBe(0);
    const undone = await read('undo.html');
    expect(undone).toMatch(/<h1>idops undo on http/);
    expect(undone).toContain(`run <code>${run}</code>`);
    expect(undone).toContain('class="diff"');
  });

  it('is written despite invalid sample data, with a warning', async () => {
    const { idops, read } = await project({ ...files, 'manifests/samples/tx_code.yaml': '- a\n' });
    const { stderr } = await succeeded(idops('apply --yes --format html=apply.html'));
    expect(stderr).toContain('warning[wrong-type]: sample data must be one map, got a list');
    expect(await read('apply.html')).toContain('<strong>1</strong> applied');
  });
});

describe('validate', () => {
  it('warns about problems in bodies, or refuses them', async () => {
    const { idops, write } = await project({ ...files, 'manifests/tx_code.html': '<p>{{#a}}</p>' });
    const warned = await succeeded(idops('validate --format github'));
    expect(warned.stdout).toContain(
      '::warning file=manifests/tx_code.html,line=1,col=4,title=idops template-syntax::',
    );
    await write({ 'idops.yaml': `${config}checks: {template-syntax: error, html-charset: off}\n` });
    const said = 'error[template-syntax]: the html body is not a Mustache template';
    expect((await failed(idops('validate'), said)).stderr).not.toContain('html-charset');
  });
});

describe('preview', () => {
  it('writes a page of all declared templates, without a server', async () => {
    const { idops, read, reads } = await project(files);
    const { stdout } = await succeeded(idops('preview'));
    expect(stdout).toBe('preview.html: 1 email template\n');
    const page = await read('preview.html');
    expect(page).toContain('Hello Ada Lovelace, 007</pre>');
    expect(page).toContain('manifests/samples/tx_code.yaml');
    expect(reads()).toEqual([]);
  });

  it('refuses invalid sample data and manifests', async () => {
    const { idops } = await project({
      ...files,
      'manifests/samples/tx_code.yaml': '- a\n',
      'manifests/x.yaml': 'kind: Tree\n',
    });
    await failed(idops('preview'), 'sample data must be one map, got a list', 'unknown kind "Tree"');
  });

  it('hides a body with a value of a process variable', async () => {
    const { idops, read } = await project({
      'idops.yaml': `${config}allow_env: [SECRET_TEXT]\n`,
      'manifests/emails.yaml': template.replace('Hello', '${SECRET_TEXT}'),
      'manifests/tx_code.html': html,
    });
    expect((await idops('preview', { env: { SECRET_TEXT: 'hunter22' } })).code).toBe(0);
    const page = await read('preview.html');
    expect(page).toContain('A body is hidden');
    expect(page).not.toContain('hunter22');
  });

  it('names templates as the plan does, so that ids with a slash are unambiguous', async () => {
    const [one, other] = [template.replace(ids.backend, 'a/b'), template.replace(ids.backend, 'a')];
    const both = `${one}---\n${other.replace('tx_code\n', 'b/tx_code\n')}`;
    const { idops, read } = await project({ ...files, 'manifests/emails.yaml': both });
    expect((await idops('preview')).stdout).toBe('preview.html: 2 email templates\n');
    const page = await read('preview.html');
    const { stdout } = await idops('plan');
    for (const address of ['EmailTemplate/a%2Fb/tx_code', 'EmailTemplate/a/b/tx_code']) {
      expect(page).toContain(`>${address}<`);
      expect(stdout).toContain(address);
    }
    // Only the first has sample data: a file can't have the other's type as its name.
    expect(page.match(/sample data from <code>/g)).toHaveLength(1);
  });

  it('names templates by backend and type if the name is known, and shows the address', async () => {
    const { idops, read } = await project(
      {
        'idops.yaml': boruta,
        'manifests/all.yaml': `kind: User\nid: ${ids.ada}\ngroup: office\n---\n${template.replace('html_content: {file: tx_code.html}\n', '')}`,
      },
      { profile: 'boruta' },
    );
    await idops('preview');
    expect(await read('preview.html')).toContain('<h2>tx_code</h2>');
    // The response about a user contains the backend's name.
    expect((await idops('apply --yes')).code).toBe(0);
    await idops('preview');
    const page = await read('preview.html');
    expect(page).toContain('<h2>Company directory: tx_code</h2>');
    expect(page).toContain(`<code>EmailTemplate/${ids.backend}/tx_code</code>`);
  });

  it('reads a manifest among the samples as a manifest', async () => {
    const manifest = template.replace('{file: tx_code.html}', 'null');
    const { idops } = await project({ 'manifests/samples/tx_code.yaml': manifest });
    expect((await idops('preview')).stdout).toBe('preview.html: 1 email template\n');
  });

  it('is served only to this machine, and reports changes', async () => {
    const { begin, write } = await project(files);
    const { child, ended, waitFor } = begin(['preview', '--serve']);
    const printed = once(child.stdout, 'data');
    await waitFor('until you press Ctrl-C');
    const url = String(await printed).trim();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const { body } = await ask(url);
    expect(body).toContain('Ada Lovelace');
    const script = /<script>([^<]*)<\/script>/.exec(body)?.[1] ?? '';
    expect(body).toContain(`sha256-${createHash('sha256').update(script).digest('base64')}&#39;`);
    expect((await ask(url, 'evil.example')).status).toBe(403);
    const changes = (await fetch(`${url}changes`)).body?.pipeThrough(new TextDecoderStream()).getReader();
    await changes?.read();
    await write({ 'manifests/samples/tx_code.yaml': 'user: {username: Grace Hopper}\n' });
    while (!(await changes?.read())?.value?.includes('event: change'));
    expect((await ask(url)).body).toContain('Grace Hopper');
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('refuses conflicting options', async () => {
    const { idops } = await project(files);
    expect((await idops('preview --serve --out x.html')).stderr).toContain('error[wrong-option]');
    expect((await idops('preview --port 80')).stderr).toContain('error[wrong-option]');
  });
});

/** A request with any Host header, which `fetch` doesn't allow. */
async function ask(url: string, host = new URL(url).host) {
  const [response] = await once(get(url, { headers: { host } }), 'response');
  return { status: response.statusCode, body: await text(response) };
}
