import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, failed, project } from './running.js';

const manifests = { 'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

describe('a missing variable', () => {
  const withToken = (token: string) => ({
    ...manifests,
    'idops.yaml': config.replace('${IDOPS_TOKEN}', () => token),
  });

  it.each(['${IDOPS_TOKEN}', '${MY_TOKEN}', '${IDOPS_TOKEN', '${{ secrets.TOKEN }}', '$IDOPS_TOKEN'])(
    'gets no advice to write a secret into a file: %s',
    async (written) => {
      const { idops } = await project(withToken(written));
      const help = /help: .*(set it|set a process|write \$\{NAME\})/;
      const { stderr } = await failed(idops('plan', { env: { IDOPS_TOKEN: undefined } }), help);
      expect(stderr).not.toMatch(/:-|add it to vars/);
    },
  );

  it('gets no default as advice for a password in a manifest, but does for a plain field', async () => {
    const { idops } = await project({
      'manifests/a.yaml':
        'kind: User\nid: u\ngroup: ${IDOPS_GROUP}\nbackend: {id: b, smtp_password: "${IDOPS_SMTP}"}\n',
    });
    const { stderr } = await idops('plan');
    expect(stderr).toContain('help: set it, or write ${IDOPS_GROUP:-default}');
    expect(stderr).not.toContain('IDOPS_SMTP:-');
    expect(stderr).toContain('help: set it in the environment, in CI from a secret');
  });
});

describe('a file or folder in the way is reported with what to do', () => {
  it.each([
    ['plan --out there', "there can't be written: it is a folder (EISDIR)"],
    ['plan --format html=there', "there can't be written: it is a folder (EISDIR)"],
    ['plan --out README/plan.json', "README/plan.json can't be written: a file is where a folder has to"],
    ['apply there', "there can't be read: it is a folder (EISDIR)"],
    ['apply nosuch.json', 'nosuch.json does not exist'],
    ['init README --yes', 'README'],
  ])('%s', async (args, message) => {
    const { idops, folder } = await project({ ...manifests, README: 'a file' });
    await mkdir(join(folder, 'there'));
    const { stderr } = await failed(idops(args), message, /= help: /);
    expect(stderr).not.toMatch(/mkdir|scandir|, open|, read/);
  });
});
