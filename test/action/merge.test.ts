import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { acme, failed, inputsOf, pullRequest, type Step, went, workspace } from './running.js';

const { jobs } = parse(await readFile('examples/github/merge.yml', 'utf8')) as {
  jobs: { readonly [job: string]: { readonly steps: readonly Step[] } };
};

const sha = 'abc123';
const asked = "inputs.digest || 'from-pull-request'";

/** A pull request that was planned and merged, and the jobs of the workflow, each on another runner. */
async function merged() {
  const site = await workspace(acme('Approved'));
  await site.run({ environment: 'production', 'base-url': site.sandbox.url }, pullRequest());
  site.github.merge(7, sha);
  const temporary = join(site.folder, 'second-runner');
  const artifact = join(temporary, 'idops-plan', 'plan.json');
  return {
    site,
    artifact,
    plan: async () => {
      const ran = await site.run(inputsOf(jobs.plan?.steps, 'idops/', site, {}), { sha });
      await mkdir(join(artifact, '..'), { recursive: true });
      if (ran.outputs['plan-file'] !== undefined) await cp(ran.outputs['plan-file'], artifact);
      return ran;
    },
    apply: (digest = '') => {
      const more = { 'runner.temp': temporary, [asked]: digest || 'from-pull-request' };
      const event = digest === '' ? 'push' : 'workflow_dispatch';
      return site.run(inputsOf(jobs.apply?.steps, 'idops/', site, more), { sha, event });
    },
  };
}

describe('the two jobs of a merge', () => {
  it('apply what was approved, and then have nothing to do', async () => {
    const { plan, apply, site } = await merged();
    const { outputs, summary } = await went(plan());
    expect(outputs.changed).toBe('true');
    expect(summary).toContain(outputs.digest);
    expect(site.writes()).toEqual([]);
    expect((await went(apply())).summary).toContain('1 applied');
    expect(site.writes()).toHaveLength(1);
    expect((await plan()).outputs.changed).toBe('false');
  });

  it("send nothing if the server changed since the plan, or if the pull request didn't show the plan", async () => {
    const { plan, apply, site } = await merged();
    await plan();
    site.setLabel('Another');
    await failed(apply(), 'stale-plan');
    // A new plan has another change than the approved one, until a person gives its digest.
    const { outputs } = await plan();
    await failed(apply());
    expect(site.writes()).toEqual([]);
    await went(apply(outputs.digest));
    expect(site.writes()).toHaveLength(1);
  });

  it('send nothing if the artifact was changed', async () => {
    const { plan, apply, site, artifact } = await merged();
    await plan();
    const text = await readFile(artifact, 'utf8');
    await writeFile(artifact, text.replaceAll('Approved', 'Forged'));
    await failed(apply(), 'plan-altered');
    expect(site.writes()).toEqual([]);
  });
});
