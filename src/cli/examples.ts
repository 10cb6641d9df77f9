import type { Command } from 'commander';

export const examples: { readonly [command: string]: { readonly args: string; readonly does: string } } = {
  '': { args: 'plan --env production', does: 'show what would change on the server of production' },
  init: {
    args: 'init acme --base-url https://id.example.com --ci gitlab',
    does: 'create a project in the folder acme, with a pipeline for GitLab',
  },
  validate: { args: 'validate --format github', does: 'print problems as annotations of a pull request' },
  plan: {
    args: 'plan --out plan.json',
    does: 'show what would change, and store it for idops apply plan.json',
  },
  apply: { args: 'apply plan.json', does: 'apply what was reviewed, or refuse if it is stale' },
  watch: {
    args: 'watch --interval 5m --apply --listen 127.0.0.1:9464',
    does: 'keep the server as declared, with metrics for Prometheus',
  },
  pull: { args: 'pull --check', does: 'show whether the server differs from the manifests' },
  list: { args: 'list User --format json', does: 'print the ids and names of all users, for a program' },
  access: {
    args: "access --scope '*:manage:all' --format html=access.html",
    does: 'write a page of all who may administer',
  },
  undo: { args: 'undo --last', does: 'restore what the newest run changed' },
  runs: { args: 'runs', does: 'list the runs, the newest last' },
  'runs list': { args: 'runs list --format json', does: 'list the runs, for a program' },
  'runs show': { args: 'runs show 20260131T', does: 'show the run whose name begins with this' },
  'runs settle': {
    args: 'runs settle 20260131T120000Z-4f2a1c Client/6a2f --done',
    does: 'record that this DID was regenerated',
  },
  'runs prune': {
    args: 'runs prune --keep 90d --keep-last 20',
    does: 'remove older journals, except the last 20',
  },
  'runs forget': {
    args: 'runs forget 20260131T120000Z-4f2a1c',
    does: 'remove a damaged journal of which no copy is left',
  },
  'runs unlock': { args: 'runs unlock', does: 'remove the lock after a crash on another machine' },
  state: { args: 'state', does: 'list what the state has recorded' },
  'state show': {
    args: 'state show Client/6a2f0d1e-0000-4000-8000-000000000001',
    does: 'show the recorded fields of one object, and its did_generation',
  },
  'state rm': {
    args: 'state rm User/4000f0d1-0000-4000-8000-000000000001',
    does: 'forget an object that was moved to another project',
  },
  'state migrate': {
    args: 'state migrate --from .idops/production.json --env production',
    does: 'move the state after the configuration names another backend',
  },
  'regenerate-did': {
    args: 'regenerate-did 6a2f0d1e-0000-4000-8000-000000000001 --yes',
    does: 'regenerate without a question, as in a CI job',
  },
  doctor: { args: 'doctor --format json', does: 'print the checks, for a program' },
  schema: {
    args: 'schema config > config.schema.json',
    does: 'write the schema of idops.yaml, for an editor',
  },
  completion: {
    args: 'completion bash > ~/.idops-completion.bash',
    does: 'then, in ~/.bashrc: source ~/.idops-completion.bash',
  },
  preview: { args: 'preview --serve', does: 'show emails and pages in a browser while you write them' },
  sandbox: {
    args: 'sandbox --profile boruta --latency 50ms',
    does: 'run a test server that behaves like Boruta',
  },
};

export function addExamples(command: Command, path: readonly string[] = []): void {
  const example = examples[path.join(' ')];
  if (example !== undefined)
    command.addHelpText('after', `\nExample:\n  idops ${example.args}\n      ${example.does}`);
  for (const one of command.commands) addExamples(one, [...path, one.name()]);
}
