import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/base/problems.js';
import { loadProject } from '../../src/project/index.js';
import { problemsText } from '../../src/report/problems.js';
import { validateProject } from '../../src/session/validation.js';
import { temporaryFolder } from '../cleanups.js';

const secret = 'sup3rs3cretval';

const config = (server: string): string =>
  `version: 1\nserver:\n  base_url: https://id.example.com\n${server}\nmanifests: [m.yaml]\n`;

/** The problems of a configuration and a manifest, as data and as text. */
async function problemsIn(
  server: string,
  manifest: string,
): Promise<{ problems: readonly Problem[]; shown: string }> {
  const cwd = await temporaryFolder('broken');
  await writeFile(join(cwd, 'idops.yaml'), config(server));
  await writeFile(join(cwd, 'm.yaml'), manifest);
  const { problems } = await validateProject(() => loadProject({ cwd, variables: {}, above: false }), {
    onSecret: () => {},
  });
  return { problems, shown: `${JSON.stringify(problems)}\n${problemsText(problems, { color: false })}` };
}

const good = '  auth:\n    token: ${IDOPS_TOKEN}';

describe('problems of a broken configuration show no secret', () => {
  test.each([
    `  auth:\n    header:\n      name: X-Api-Key\n      vlaue: ${secret}`,
    `  auth:\n    header:\n      name: X-Api-Key\n      key: "${secret}"`,
    `  auth:\n    header: {nam: X, vale: "${secret}"}`,
    `  auth:\n    header: {name: X, value:${secret}}`,
    `  auth:\n    header: {name: X, value :${secret}}`,
    `  auth:\n    header: {name: X, value ${secret}}`,
    `  auth:\n    header: {name: X, ${secret}}`,
    `  auth:\n    header: {name: X, value: ${secret}, value: ${secret}}`,
    `  auth:\n    header: ${secret}`,
    `  auth:\n    header: [X, ${secret}]`,
    `  auth:\n    header:\n      name: X\n      value ${secret}`,
    `  auth:\n    header:\n      name: X\n      value ${secret}\n      x: y`,
    `  auth:\n    header:\n      name: X\n      value: |\n      ${secret}\n      x: y`,
    `  auth:\n    header:\n      name: X\n     vlaue: ${secret}`,
    `  auth:\n    header:\n    vlaue: ${secret}`,
    `  auth:\n  header:\n    vlaue: ${secret}`,
    `  auth:\n  vlaue: ${secret}`,
    `  auht: {heder: {vlaue: ${secret}}}`,
    `  auth {header: {vlaue: ${secret}}}`,
    `  auth\n    vlaue: ${secret}`,
    `  auth: {${secret}}`,
    `  auth: {token:${secret}}`,
    `  auth: {token ${secret}}`,
    `  auth: [${secret}]`,
    `  auth:\n    ${secret}:`,
    `  auth:\n    - ${secret}`,
    `  auth:\n    token:${secret}`,
    `  auth:\n    token ${secret}`,
    `  auth:\n    token ${secret}\n    x: y`,
    `  auth:\n    token = ${secret}\n    x: y`,
    `  auth:\n    token: |\n    ${secret}\n    x: y`,
    `  auth:\n  token ${secret}\n  x: y`,
    `  auth:\n    client_credentials:\n      client_secret ${secret}\n      client_id: x`,
    `  auth:\n    client_credentials: {client_id: x, client_secret:${secret}}`,
    `  auth:\n    client_credentials:\n    client_sercet ${secret}\n    client_id: x`,
    `${good}\n  tls:\n    client_key: ${secret}`,
    `${good}\n  tls: {client_key:${secret}}`,
    `${good}\n  tls:\n    client_key: |\n    ${secret}\n    x: y`,
    `${good}\n  token ${secret}\n  x: y`,
    `server: {auth: {header: {vlaue: ${secret}}}}`,
    `environments:\n  a:\n    server:\n      auth:\n        header:\n          vlaue: ${secret}`,
  ])('%j', async (server) => {
    const { problems, shown } = await problemsIn(server, '');
    expect(problems.filter(({ severity }) => severity === 'error')).not.toEqual([]);
    expect(shown).not.toContain(secret);
  });
});

describe('problems of a broken manifest show no secret', () => {
  test.each([
    `backend: {smtp_password:${secret}}`,
    `backend: {smtp_password :${secret}}`,
    `backend: {smtp_password ${secret}}`,
    `backend: {smtp_password=${secret}, smtp_from: a}`,
    `backend: {smtp_password${secret}}`,
    `backend: {smtp_password:${secret}, smtp_from: [}`,
    `backend: {smtp_password ${secret}, smtp_from: [}`,
    `backend:\n  smtp_password:${secret}`,
    `backend:\n  smtp_password ${secret}`,
    `backend: smtp_password ${secret}`,
    `backend: smtp_password:${secret}`,
    `backend:\n  - smtp_password ${secret}`,
    `backend:\n  smtp_password ${secret}\n  smtp_from: a`,
    `backend:\n  smtp_password = ${secret}\n  smtp_from: a`,
    `backend:\n  smtp_pasword ${secret}: x\n  smtp_from: a: b`,
    `backend:\n  smtp_password: |\n  ${secret}\n  smtp_from: a`,
    `backend:\n  smtp_password: |\n${secret}\n  smtp_from: a`,
    `backend:\n  smtp_password: >-\n  one\n  ${secret}\n  smtp_from: a`,
    `backend:\n  smtp_password\n  ${secret}\n  smtp_from: a`,
    `backend:\n  "smtp_password" ${secret}\n  smtp_from: a`,
    `backend: {smtp_password, ${secret}}`,
    `backend: {smtp_password, hunter: , ${secret}}`,
    `backend:\n  smtp_password:\n  ${secret}:\n`,
    `backend: {smtp_password: "\${${secret}"}`,
    `backend: {smtp_password: "\${${secret}-rest}"}`,
    `backend: {smtp_password: "a\${b:-\${${secret}"}`,
    `smtp_password:${secret}`,
    `"smtp_password:${secret}": x`,
    `metadata: {"smtp_password:${secret}": 1, "smtp_password:${secret}": {}}`,
  ])('%j', async (fields) => {
    const { problems, shown } = await problemsIn(good, `kind: User\nusername: a@example.com\n${fields}\n`);
    expect(problems.filter(({ severity }) => severity === 'error')).not.toEqual([]);
    expect(shown).not.toContain(secret);
  });
});

test('problems stay readable if they contain no secret', async () => {
  const { shown } = await problemsIn('  auth:\n    header: {name: X-Api-Key, vlaue: "${IDOPS_API_KEY}"}', '');
  expect(shown).toContain('did you mean \\"value\\"?');
  const manifest = 'kind: User\nbackend:\n  smtp_password ${SMTP_PASSWORD}\n  smtp_from: a\n';
  expect((await problemsIn(good, manifest)).shown).toContain('smtp_password ${SMTP_PASSWORD}');
});

test('a missing space after the colon of a secret field is reported', async () => {
  const { problems } = await problemsIn(good, `kind: User\nbackend: {smtp_password:${secret}}\n`);
  expect(problems.map(({ message, hint }) => `${message} / ${hint}`)).toContain(
    'a space is missing after the colon of "smtp_password" in backend of User / write it as "smtp_password: …"',
  );
});
