import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { shardOptions } from '../../src/session/shard.js';
import { failed, project, succeeded } from '../e2e/running.js';
import { watchingWith } from '../e2e/watching.js';

/** A resource in a file of the examples. */
type Resource = ReturnType<typeof JSON.parse>;

const textOf = (name: string): Promise<string> => readFile(join('examples/kubernetes', name), 'utf8');

async function resources(name: string): Promise<Resource[]> {
  const documents = parseAllDocuments(await textOf(name));
  for (const document of documents) expect(document.errors).toEqual([]);
  return documents.map((document) => document.toJS());
}

/** The specifications of the jobs, by name. */
async function jobs() {
  const files = ['cronjob.yaml', 'apply.yaml', 'shards.yaml'];
  const [cron, , plan, apply, shards, ...more] = (await Promise.all(files.map(resources))).flat();
  expect(more).toEqual([]);
  return { drift: cron.spec.jobTemplate.spec, plan: plan.spec, apply: apply.spec, shards: shards.spec };
}

/** The pod of the deployment, and its specification. */
async function deployment() {
  const [, { kind, spec }] = await resources('watch.yaml');
  expect(kind).toBe('Deployment');
  return { spec, pod: spec.template.spec, annotations: spec.template.metadata.annotations };
}

/** The file of the examples for each key of the ConfigMap, from the comment that creates it. */
async function configMap(): Promise<ReadonlyMap<string, string>> {
  const [, text = ''] = (await textOf('cronjob.yaml')).split('create configmap');
  return new Map(
    [...text.matchAll(/^#.*--from-file=([\w.]+)=(\S+\w)/gm)].map(([, key = '', file = '']) => [key, file]),
  );
}

/** Lays files out as Kubernetes does: in a folder that is swapped as a whole, with a link to the top of each path. */
async function mount(
  folder: string,
  files: ReadonlyMap<string, string>,
  stamp = '1234567890',
): Promise<void> {
  const swapped = `..2026_11_22_20_00_00.${stamp}`;
  await rm(join(folder, '..data'), { force: true });
  await mkdir(join(folder, swapped), { recursive: true });
  await symlink(swapped, join(folder, '..data'));
  for (const [path, source] of files) {
    await mkdir(dirname(join(folder, swapped, path)), { recursive: true });
    await copyFile(source, join(folder, swapped, path));
    const [first = ''] = path.split('/');
    await rm(join(folder, first), { force: true });
    await symlink(join('..data', first), join(folder, first));
  }
}

/** What a pod of these jobs sees, in folders of a test, and how its container runs. */
async function cluster() {
  const at = await project({});
  const place = (path: string): string => join(at.folder, 'pod', path);
  const keys = await configMap();
  const { plan } = await jobs();
  const { items } = plan.template.spec.volumes.find(({ name }: Resource) => name === 'project').configMap;
  const sources = new Map<string, string>(
    items.map(({ key, path }: Resource) => [path, resolve('examples', keys.get(key) ?? key)]),
  );
  await mount(place('/project'), sources);
  for (const path of ['/project/.idops', '/var/lib/idops']) await mkdir(place(path), { recursive: true });
  await writeFile(join(at.folder, 'token'), `${at.sandbox.token}\n`);
  await mount(place('/var/run/idops'), new Map([['token', join(at.folder, 'token')]]));
  const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
  const given = ({ args, workingDir }: Resource) => ({
    args: args.map((arg: string) =>
      arg.replace('https://id.acme.example', at.sandbox.url).replace(/(?<=^|=)\/(?=var\/)/, `${place('/')}`),
    ),
    surroundings: { cwd: place(workingDir), env },
  });
  return {
    ...at,
    place,
    given,
    /** Swaps the ConfigMap for one with another email text. */
    async change() {
      await at.write({ 'changed.txt': 'Another text {{ url }}\n' });
      sources.set('manifests/emails/reset_password.txt', join(at.folder, 'changed.txt'));
      await mount(place('/project'), sources, '2345678901');
    },
    run: ({ template }: Resource) => {
      const { args, surroundings } = given(template.spec.containers[0]);
      return at.idopsWith(args, surroundings);
    },
  };
}

describe('examples/kubernetes', () => {
  it('runs one job at a time, without privileges, with the released image', async () => {
    const { drift, plan, apply } = await jobs();
    const [cron] = await resources('cronjob.yaml');
    expect(cron).toMatchObject({ kind: 'CronJob', spec: { concurrencyPolicy: 'Forbid' } });
    expect([drift.suspend, plan.suspend, apply.suspend]).toEqual([undefined, undefined, true]);
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    for (const { backoffLimit, template } of [drift, plan, apply]) {
      expect(backoffLimit).toBe(0);
      expect(template.spec).toMatchObject({
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true },
      });
      const [container] = template.spec.containers;
      expect(container).toMatchObject({
        image: `ghcr.io/idops/idops:${version}`,
        args: expect.arrayContaining(['--base-url=https://id.acme.example']),
        securityContext: { readOnlyRootFilesystem: true },
      });
      expect(container).not.toHaveProperty('command');
    }
  });

  it('runs one pod for watch, without privileges, with probes', async () => {
    const { spec, pod, annotations } = await deployment();
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      shareProcessNamespace: true,
      securityContext: { runAsNonRoot: true },
    });
    const [container] = pod.containers;
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(container).toMatchObject({
      image: `ghcr.io/idops/idops:${version}`,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      ports: [{ name: 'metrics', containerPort: 9464 }],
      readinessProbe: { httpGet: { path: '/healthz', port: 'metrics' } },
      livenessProbe: { httpGet: { path: '/livez', port: 'metrics' } },
    });
    const given = ['--base-url=https://id.acme.example', '--listen=0.0.0.0:9464'];
    expect(container.args).toEqual(expect.arrayContaining(given));
    expect(annotations).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9464',
      'prometheus.io/path': '/metrics',
    });
    const [claim] = await resources('watch.yaml');
    expect([claim]).toEqual((await resources('apply.yaml')).slice(0, 1));
    const { plan } = await jobs();
    expect(pod.volumes.slice(0, 2)).toEqual(plan.template.spec.volumes.slice(0, 2));
  });

  it('accepts metrics requests only from scrapers', async () => {
    const { pod, spec } = await deployment();
    const policies = (await resources('watch.yaml')).filter(({ kind }) => kind === 'NetworkPolicy');
    const [
      {
        ports: [{ containerPort: port }],
      },
    ] = pod.containers;
    expect(policies.map((one) => one.spec)).toMatchObject([
      {
        podSelector: spec.selector,
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ protocol: 'TCP', port }] }],
      },
    ]);
  });

  it('runs all shards of one run in the pods of one Job', async () => {
    const { apply, shards } = await jobs();
    const { template, ...spec } = shards;
    const completions = 4;
    expect(spec).toEqual({
      completionMode: 'Indexed',
      completions,
      parallelism: completions,
      backoffLimitPerIndex: 4,
      activeDeadlineSeconds: 1800,
    });
    const [container] = template.spec.containers;
    // Privileges and image are those of the job that applies a plan.
    const { containers, volumes, ...pod } = apply.template.spec;
    const [{ env: _, args: __, volumeMounts: ___, ...rest }] = containers;
    expect(template.spec).toMatchObject(pod);
    expect(container).toMatchObject(rest);
    const without = (all: Resource, left: string) => all.filter(({ name }: Resource) => name !== left);
    expect(without(template.spec.volumes, 'kept')).toEqual(without(volumes, 'state'));
    expect(container.args).toEqual([...container.args.slice(0, 3), ...['apply', '--shard=auto', '--yes']]);
    const uid = "metadata.labels['batch.kubernetes.io/controller-uid']";
    const [count, run, state] = container.env ?? [];
    expect(run).toEqual({ name: 'IDOPS_SHARD_RUN', valueFrom: { fieldRef: { fieldPath: uid } } });
    expect(state).toMatchObject({ name: 'IDOPS_STATE_URL', valueFrom: { secretKeyRef: { key: 'url' } } });
    for (let index = 0; index < completions; index += 1) {
      const of = { JOB_COMPLETION_INDEX: String(index), IDOPS_SHARD_RUN: 'uid' };
      const shard = { index: index + 1, count: completions };
      const options = shardOptions('auto', { ...of, [count.name]: count.value });
      expect(options).toEqual({ shard, ofJob: true, sharedRun: 'uid' });
    }
  });

  it('has all files that the manifests name in its ConfigMap, and mounts the same in each job', async () => {
    const paths = [...(await configMap())].map(([key, file]) => [key, file.replace(/^kubernetes\//, '')]);
    for (const { template } of Object.values(await jobs())) {
      const [{ configMap: mounted }] = template.spec.volumes;
      expect(mounted.items.map(({ key, path }: Resource) => [key, path])).toEqual(paths);
    }
  });

  it('reads manifests and bodies from a ConfigMap, applies the plan, and then finds no drift', async () => {
    const { run, writes, idops, place } = await cluster();
    const { drift, plan, apply } = await jobs();
    expect(await idops('validate', { cwd: place('/project') })).toMatchObject({ code: 0 });
    expect(await run(drift)).toMatchObject({ code: 2 });
    const stdout = expect.stringContaining('reset_password_instructions');
    expect(await run(plan)).toMatchObject({ code: 0, stdout });
    expect(writes()).toEqual([]);
    expect(await run(apply)).toMatchObject({ code: 0 });
    expect(writes().join('\n')).toContain('/email-templates/reset_password_instructions');
    expect(await run(drift)).toMatchObject({ code: 0 });
  });

  it('applies each shard in its pod, all as one run', async () => {
    const { given, idopsWith, writes, run, place } = await cluster();
    const { drift, shards } = await jobs();
    const { args, surroundings } = given(shards.template.spec.containers[0]);
    const env = { ...surroundings.env, IDOPS_SHARD_COUNT: '4', IDOPS_SHARD_RUN: 'the uid of the job' };
    const pod = (index: number) =>
      idopsWith(args, { ...surroundings, env: { ...env, JOB_COMPLETION_INDEX: String(index) } });
    for (const index of [2, 0, 3, 1]) {
      const { stdout } = await succeeded(pod(index));
      expect(stdout).toContain(`${index + 1}/4`);
    }
    expect(writes().join('\n')).toContain('/email-templates/reset_password_instructions');
    expect(await run(drift)).toMatchObject({ code: 0 });
    const all = ['--env=production', 'runs', '--format=json'];
    const runs = await idopsWith(all, { ...surroundings, cwd: place('/project') });
    expect(new Set(JSON.parse(runs.stdout).runs.map(({ run: name }: { run: string }) => name)).size).toBe(1);
  });

  it('applies nothing if the ConfigMap changed after the plan', async () => {
    const { run, writes, change } = await cluster();
    const { plan, apply } = await jobs();
    await run(plan);
    await change();
    await failed(run(apply), 'stale-plan');
    expect(writes()).toEqual([]);
  });

  it('keeps the server as the ConfigMap declares, also after a change', async () => {
    const at = await cluster();
    const { pod } = await deployment();
    const { args, surroundings } = at.given(pod.containers[0]);
    const given = args.map((arg: string) => arg.replace('0.0.0.0:9464', '127.0.0.1:0'));
    const watch = watchingWith(given, surroundings);
    const address = await watch.address();
    expect(await watch.turns(2)).toEqual(['applied', 'unchanged']);
    const [{ readinessProbe, livenessProbe }] = pod.containers;
    for (const { httpGet } of [readinessProbe, livenessProbe])
      expect((await fetch(`${address}${httpGet.path}`)).status).toBe(200);
    const before = at.writes().length;
    await at.change();
    expect(await watch.turn()).toBe('applied');
    expect((await watch.stop()).code).toBe(130);
    expect(at.writes().slice(before).join()).toContain('/email-templates/reset_password_instructions');
  });
});
