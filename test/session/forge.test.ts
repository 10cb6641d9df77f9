import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeOf } from '../../src/session/forge.js';
import { temporaryFolder } from '../cleanups.js';

const merge = 'a'.repeat(40);
const head = 'b'.repeat(40);

/** A repository that CI checked out, with a project in a subfolder. */
async function checkout(): Promise<string> {
  const root = await temporaryFolder('forge');
  await mkdir(join(root, '.git'));
  await mkdir(join(root, 'infra', 'id'), { recursive: true });
  return root;
}

function github(root: string): { [name: string]: string } {
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_REPOSITORY: 'acme/identity',
    GITHUB_SHA: merge,
    GITHUB_WORKSPACE: root,
  };
}

function gitlab(root: string): { [name: string]: string } {
  return {
    GITLAB_CI: 'true',
    CI_PROJECT_URL: 'https://gitlab.example/group/sub/identity',
    CI_COMMIT_SHA: merge,
    CI_PROJECT_DIR: root,
  };
}

describe('the URL of files on a forge', () => {
  it("uses the run's commit on GitHub, or a pull request's last commit", async () => {
    const root = await checkout();
    const env = github(root);
    const files = 'https://github.example/acme/identity/blob';
    expect(await forgeOf(env, root)).toEqual({ files: `${files}/${merge}`, folder: '' });
    const event = join(root, 'event.json');
    await writeFile(event, JSON.stringify({ pull_request: { number: 7, head: { sha: head } } }));
    expect(await forgeOf({ ...env, GITHUB_EVENT_PATH: event }, join(root, 'infra', 'id'))).toEqual({
      files: `${files}/${head}`,
      folder: 'infra/id',
    });
  });

  it("differs on Gitea, and uses GitLab's variables there", async () => {
    const root = await checkout();
    expect(await forgeOf({ ...github(root), GITEA_ACTIONS: 'true' }, root)).toMatchObject({
      files: `https://github.example/acme/identity/src/commit/${merge}`,
    });
    const files = 'https://gitlab.example/group/sub/identity/-/blob';
    const infra = join(root, 'infra');
    expect(await forgeOf(gitlab(root), infra)).toEqual({ files: `${files}/${merge}`, folder: 'infra' });
    const merged = { ...gitlab(root), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head };
    expect(await forgeOf(merged, root)).toMatchObject({ files: `${files}/${head}` });
  });

  it("is unknown elsewhere, outside CI's folder, or with invalid variables", async () => {
    const root = await checkout();
    const outside = await checkout();
    await rm(join(outside, '.git'), { recursive: true });
    expect(await forgeOf({}, root)).toBeUndefined();
    expect(await forgeOf(github(root), outside)).toBeUndefined();
    for (const wrong of [
      { GITHUB_SHA: 'main' },
      { GITHUB_SERVER_URL: '' },
      { GITHUB_SERVER_URL: 'javascript:alert(1)//' },
      { GITHUB_SERVER_URL: 'https://user:pass@github.example' },
      { GITHUB_REPOSITORY: 'acme/"><b>' },
      { GITHUB_REPOSITORY: 'acme/x) [y](https://evil.example' },
    ]) {
      expect(await forgeOf({ ...github(root), ...wrong }, root)).toBeUndefined();
    }
    expect(await forgeOf({ ...gitlab(root), CI_PROJECT_URL: 'https://x.example/a b' }, root)).toBeUndefined();
  });

  it('is unknown for another repository inside the one that CI checked out', async () => {
    const root = await checkout();
    const inner = join(root, 'infra', 'id');
    await mkdir(join(inner, '.git'));
    expect(await forgeOf(github(root), inner)).toBeUndefined();
  });

  it('is found through a symbolic link', async () => {
    const root = await checkout();
    const link = join(await checkout(), 'link');
    await symlink(root, link);
    expect(await forgeOf(github(link), join(link, 'infra'))).toMatchObject({ folder: 'infra' });
  });
});
