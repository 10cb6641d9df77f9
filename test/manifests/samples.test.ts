import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSamples } from '../../src/manifests/samples.js';
import { loadProject } from '../../src/project/index.js';
import { temporaryFolder, writeFiles } from '../cleanups.js';

let cwd: string;

beforeEach(async () => {
  cwd = await temporaryFolder('samples');
});

async function load(files: { readonly [path: string]: string }, type = 'tx_code') {
  await writeFiles(cwd, { 'project/idops.yaml': 'version: 1\n', ...files });
  const project = await loadProject({ cwd: join(cwd, 'project'), variables: {} });
  const manifest = 'manifests/emails/all.yaml';
  const { found, problems } = await loadSamples(project, [{ address: 'a', type, manifest }]);
  const [sample] = found.get('a') ?? [];
  return { sample, problems: problems.map(({ code }) => code) };
}

describe('the sample data of a template', () => {
  it('is taken from the nearest folder', async () => {
    const name = 'manifests/samples/tx_code.yaml';
    const files = { 'project/samples/tx_code.yaml': 'a: far', [`project/${name}`]: 'a: near' };
    expect(await load(files)).toEqual({ sample: { name, data: { a: 'near' }, file: name }, problems: [] });
  });

  it('is several sets if its file has several documents', async () => {
    await load({ 'project/samples/tx_code.yaml': 'a: 1\n---\na: 2\n' });
    const project = await loadProject({ cwd: join(cwd, 'project'), variables: {} });
    const one = { address: 'a', type: 'tx_code', manifest: 'manifests/all.yaml' };
    expect((await loadSamples(project, [one])).found.get('a')).toEqual([
      { name: 'document 1', file: 'samples/tx_code.yaml', data: { a: 1 } },
      { name: 'document 2', file: 'samples/tx_code.yaml', data: { a: 2 } },
    ]);
    await writeFile(join(cwd, 'project/samples/tx_code.yaml'), 'a: 1\n---\n- a\n');
    const { found, problems } = await loadSamples(project, [one]);
    expect(found.size).toBe(0);
    expect(problems.map(({ code, places }) => [code, places[0]?.line])).toEqual([['wrong-type', 3]]);
  });

  it('is empty without a file or with an empty one', async () => {
    expect(await load({})).toEqual({ sample: undefined, problems: [] });
    expect((await load({ 'project/samples/tx_code.yaml': '# nothing\n' })).sample?.data).toEqual({});
  });

  it('is used unchanged', async () => {
    const { sample } = await load({ 'project/samples/tx_code.yaml': 'a: ${HOME}\nb: [1, {c: null}]\n' });
    expect(sample?.data).toEqual({ a: '${HOME}', b: [1, { c: null }] });
  });

  it.each(['../secret', 'a/b', '..', 'a\\b'])('is never looked for outside its folder: %s', async (type) => {
    expect(await load({ 'project/secret.yaml': 'a: 1', 'project/samples/a/b.yaml': 'a: 1' }, type)).toEqual({
      sample: undefined,
      problems: [],
    });
  });

  it.each([
    ['- a\n', 'wrong-type'],
    ['a: [', 'yaml-syntax'],
  ])("is refused if it isn't a map: %j", async (text, code) => {
    expect(await load({ 'project/samples/tx_code.yaml': text })).toEqual({
      sample: undefined,
      problems: [code],
    });
  });
});
