import { describe, expect, it } from 'vitest';
import { blocked, config, failed, project, trustedConfig } from './running.js';

/** A Boruta, with all checks of emails. */
const strict = config.replace('server:\n', 'server:\n  profile: boruta\n');

const backend = '20000000-0000-4000-8000-000000000001';
const template = (body: string) =>
  `kind: EmailTemplate\nbackend_id: ${backend}\ntype: reset_password_instructions\n${body}`;
const html =
  '\uFEFF<!DOCTYPE html>\r\n<html>\r\n<head><meta charset="utf-8"></head>\r\n<p>ä🎉<img src="a.png">{{ user.username }}\r\n</html>\r\n';

describe('a problem in the body of an email', () => {
  it('is reported at its line in the body file, in every format', async () => {
    const infra = {
      'infra/idops.yaml': trustedConfig,
      'infra/manifests/emails.yaml': template('html_content: {file: emails/reset.html}\n'),
      'infra/manifests/emails/reset.html': html,
    };
    const { idopsWith, write, json } = await project(infra, { profile: 'boruta' });
    const config = ['--config', 'infra/idops.yaml'];
    const idops = (args: string) => idopsWith([...args.split(' '), ...config]);
    const at = 'infra/manifests/emails/reset.html:4:7';
    const text = await idops('validate');
    expect(text.stderr).toContain(`  --> ${at}\n`);
    expect(text.stderr).toContain(' 4 | <p>ä🎉<img src="a.png">{{ user.username }}\n');
    expect(text.stderr).toMatch(/\n {3}\| {6,8}\^{17}\n/);
    const place = { file: 'manifests/emails/reset.html', line: 4, column: 7 };
    const found = await json('validate --config infra/idops.yaml');
    expect(found.problems).toMatchObject([{ code: 'image-without-alt', places: [place] }]);
    const annotation = '::warning file=infra/manifests/emails/reset.html,line=4,col=7,title=';
    for (const command of ['validate', 'plan'])
      expect((await idops(`${command} --format github`)).stdout).toContain(annotation);
    const plan = await idops('plan');
    expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain(`without alt text: a.png (${at})`);
    const planned = await json('plan --config infra/idops.yaml');
    expect(planned.changes[0].warnings).toContainEqual({
      code: 'image-without-alt',
      message: 'the html body has 1 image without alt text: a.png',
      place,
    });
    expect((await idops('preview --out -')).stdout).toContain(`without alt text: a.png (${at})`);
    const inline = template(`html_content: |\n  <meta charset="utf-8">\n  <img src="b.png">\n`);
    await write({ 'infra/manifests/emails.yaml': inline });
    const written = await idops('validate');
    expect(written.stderr).toContain('  --> infra/manifests/emails.yaml:4:1\n');
  });

  it('is a path without "file:"', async () => {
    const { idops } = await project({
      'idops.yaml': trustedConfig,
      'manifests/emails.yaml': template('txt_content: emails/reset.text\n'),
      'manifests/emails/reset.text': 'Hello',
    });
    for (const command of ['validate', 'plan']) {
      const { stderr } = await idops(command);
      expect(stderr).toContain('warning[forgotten-file]: "txt_content" is the text "emails/reset.text"');
      expect(stderr).toContain('write txt_content: {file: emails/reset.text}');
      expect(stderr).toContain('  --> manifests/emails.yaml:4:14\n');
    }
  });

  it('is a placeholder that the server leaves empty, at its places in both bodies', async () => {
    const files = {
      'manifests/emails.yaml': template('txt_content: {file: a.txt}\nhtml_content: {file: a.html}\n'),
      'manifests/a.txt': 'http://id.example.com/{{ reset_password_url }} {{ company }} {{ url }}',
      'manifests/a.html': '<meta charset="utf-8">\n<p>{{ reset_password_url }} {{ company }} {{ url }}',
    };
    const { idops, json } = await project({ 'idops.yaml': strict, ...files }, { profile: 'boruta' });
    const at = (line: number, column: number) => ({ line, column });
    expect((await json('validate')).problems).toMatchObject([
      { code: 'unknown-placeholder', places: [at(1, 23), at(2, 4)] },
      { code: 'unknown-placeholder', places: [at(1, 48), at(2, 29)] },
      { code: 'insecure-link', places: [at(1, 1)] },
    ]);
    const plan = (await idops('plan')).stdout.replaceAll(/\s+/g, ' ');
    expect(plan).toContain('did you mean {{ url }}? (manifests/a.txt:1:23, manifests/a.html:2:4)');
  });

  it.each([
    ['without its link', 'Hello {{ reset_password_url }}', 'missing-link'],
    ["that the server can't render", 'Hello {{ user }} {{ url }}', 'template-syntax'],
  ])(
    'is an error in a new body if it makes a mail %s, and a warning in an existing one',
    async (_, body, code) => {
      const text = `${body}\n`;
      const docs = template('txt_content: {file: a.txt}\nhtml_content: "<meta charset=utf-8> Hello"\n');
      const at = await project(
        { 'idops.yaml': strict, 'manifests/emails.yaml': docs, 'manifests/a.txt': text },
        { profile: 'boruta' },
      );
      await failed(at.idops('validate'), `error[${code}]`);
      await blocked(at.idops('plan'), '1 blocked');
      expect((await at.idops('apply --yes')).code).toBe(1);
      expect(at.writes()).toEqual([]);

      const live = at.sandbox.data.templates.find(({ type }) => type === 'reset_password_instructions');
      Object.assign(live ?? {}, { txt_content: text, html_content: '<meta charset=utf-8> Hello' });
      expect((await at.idops('apply --yes')).code).toBe(0);
      const known = await at.idops('validate');
      expect(known).toMatchObject({ code: 0, stderr: expect.stringContaining(`warning[${code}]`) });
      expect((await at.idops('plan')).code).toBe(0);
    },
  );

  it('is reported without source lines if the body is secret', async () => {
    const { idops } = await project({
      'idops.yaml': trustedConfig,
      'manifests/emails.yaml': template('html_content: "<img src=a.png> ${IDOPS_FOOTER}"\n'),
    });
    const { stderr, stdout } = await idops('validate', { env: { IDOPS_FOOTER: 'hunter2-hunter2' } });
    expect(stderr + stdout).not.toMatch(/a\.png|hunter2/);
  });
});
