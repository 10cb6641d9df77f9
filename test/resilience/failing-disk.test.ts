import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project, type Ran, type TestProject, trustedConfig } from '../e2e/running.js';
import { failing } from './failing-disk.mjs';

const client = (generation: number): string =>
  `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`;
const manifests = { 'manifests/user.yaml': `kind: User\nid: ${ids.ada}\ngroup: staff\n` };

/** A project after an apply. */
const applied = async (): Promise<TestProject> => {
  const at = await project({ 'idops.yaml': trustedConfig, ...manifests });
  expect((await at.idops('apply --yes')).code).toBe(0);
  return at;
};

/** A project whose last run left a regeneration unsettled. */
const unsettled = async (): Promise<TestProject> => {
  const at = await project(
    { 'idops.yaml': trustedConfig, 'manifests/client.yaml': client(1) },
    { intercept: async ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'before' } : undefined) },
  );
  expect((await at.idops('apply --yes')).code).toBe(0);
  await at.write({ 'manifests/client.yaml': client(2) });
  expect((await at.idops('apply --yes')).code).toBe(1);
  return at;
};

/** A project whose state is at another path than configured. */
const moved = async (): Promise<TestProject> => {
  const at = await applied();
  await at.write({ 'idops.yaml': `${trustedConfig}state: {path: .idops/other/state.json}\n` });
  return at;
};

const runOf = async ({ folder }: TestProject): Promise<string> =>
  ((await readdir(join(folder, '.idops/runs'))).sort().at(-1) ?? '').replace('.jsonl', '');

const commands: readonly [string, () => Promise<TestProject>, (at: TestProject) => Promise<string>][] = [
  [
    'apply',
    async () => {
      const at = await project({ 'idops.yaml': trustedConfig, ...manifests });
      await mkdir(join(at.folder, '.idops'));
      return at;
    },
    async () => 'apply --yes',
  ],
  ['state rm', applied, async () => `state rm User/${ids.ada} --yes`],
  [
    'runs settle',
    unsettled,
    async (at) => `runs settle ${await runOf(at)} Client/${ids.portal} --not-done --yes`,
  ],
  [
    'runs prune',
    async () => {
      const at = await applied();
      await at.write({ 'manifests/user.yaml': manifests['manifests/user.yaml'].replace('staff', 'others') });
      expect((await at.idops('apply --yes')).code).toBe(0);
      return at;
    },
    async () => 'runs prune --keep-last 0 --yes',
  ],
  ['state migrate', moved, async () => 'state migrate --yes'],
];

describe('a failing disk', () => {
  it.each(commands)(
    'is reported by %s at any file event, and never as an internal error',
    async (_, make, line) => {
      const at = await make();
      const args = await line(at);
      const folder = join(at.folder, '.idops');
      await cp(folder, `${folder}.before`, { recursive: true });
      const codes = new Set<number | null>();
      for (const once of [true, false]) {
        for (let event = 1; ; event += 1) {
          await rm(folder, { recursive: true });
          await cp(`${folder}.before`, folder, { recursive: true });
          let ran: Ran | undefined;
          const failed = await failing(folder, event, once, async () => {
            ran = await at.idops(args);
          });
          if (failed === undefined) break;
          const { code, stdout, stderr } = ran as Ran;
          const context = `${event}, ${failed}: ${stdout}${stderr}`;
          codes.add(code);
          expect(stderr, context).not.toContain('error[internal]');
          expect(stderr, context).not.toContain('somebody else has it');
          // Some file events are optional, such as a search for files of killed processes.
          if (code !== 0) expect(stdout + stderr, context).toContain('(EIO)');
          // A lock that can't be released is only a warning.
          if (failed === `rm ${folder}/state.json.lock` && once) {
            expect(code, context).toBe(0);
            expect(stderr, context).toContain(
              "warning[not-writable]: the lock .idops/state.json.lock can't be released",
            );
          }
        }
      }
      expect([...codes].sort()).toEqual([0, 1]);
    },
  );
});
