import type { Command } from 'commander';

interface Example {
  /** What stands behind `idops`. */
  readonly args: string;
  /** What it does, as an addition to what the command does anyway. */
  readonly does: string;
}

/** One for each command, by the names that lead to it; that of the whole has none. */
export const examples: { readonly [command: string]: Example } = {
  '': {
    args: 'plan --env production',
    does: 'show what would change on the server that idops.yaml has for production; idops init writes an idops.yaml',
  },
  init: {
    args: 'init acme --base-url https://id.example.com --ci gitlab',
    does: 'begin a project for this server in the folder acme, with a pipeline for GitLab',
  },
  validate: {
    args: 'validate --format github',
    does: 'what is wrong, as annotations of the lines that a pull request changes',
  },
  plan: {
    args: 'plan --out plan.json',
    does: 'show what would change, and store it for idops apply plan.json',
  },
  apply: { args: 'apply plan.json', does: 'apply what was reviewed, or refuse where it no longer holds' },
  watch: {
    args: 'watch --interval 5m --apply --listen 127.0.0.1:9464',
    does: 'keep the server as it is declared, and tell Prometheus how that goes',
  },
  pull: {
    args: 'pull --check',
    does: 'say whether the server has moved away from the manifests, and what would be written',
  },
  list: { args: 'list User --format json', does: 'the ids and names of all users, for a program' },
  undo: { args: 'undo --last', does: 'put back what the newest run changed' },
  runs: { args: 'runs', does: 'list the runs, the newest last' },
  'runs list': { args: 'runs list --format json', does: 'the same for a program' },
  'runs show': { args: 'runs show 20260131T', does: 'the run whose name begins so, and what it changed' },
  'runs settle': {
    args: 'runs settle 20260131T120000Z-4f2a1c Client/6a2f --done',
    does: 'say that this DID was regenerated, after a look at the server',
  },
  'runs prune': {
    args: 'runs prune --keep 90d --keep-last 20',
    does: 'remove older journals, but for the last 20',
  },
  'runs forget': {
    args: 'runs forget 20260131T120000Z-4f2a1c',
    does: 'after its journal was damaged, and no good copy of it is left',
  },
  'runs unlock': { args: 'runs unlock', does: 'after a crash on a machine that is gone' },
  state: { args: 'state', does: 'list what the state has recorded' },
  'state show': {
    args: 'state show Client/6a2f0d1e-0000-4000-8000-000000000001',
    does: 'the fields that are known of one object, and its did_generation',
  },
  'state rm': {
    args: 'state rm User/4000f0d1-0000-4000-8000-000000000001',
    does: 'forget an object that was moved to another project',
  },
  'state migrate': {
    args: 'state migrate --from .idops/production.json --env production',
    does: 'once the configuration names another place for it',
  },
  'regenerate-did': {
    args: 'regenerate-did 6a2f0d1e-0000-4000-8000-000000000001 --yes',
    does: 'without a question, as a job of its own',
  },
  doctor: { args: 'doctor --format json', does: 'whether everything is ready, for a program' },
  schema: { args: 'schema config > config.schema.json', does: 'the schema of idops.yaml, for an editor' },
  completion: {
    args: 'completion bash > ~/.idops-completion.bash',
    does: 'then, in ~/.bashrc: source ~/.idops-completion.bash',
  },
  preview: { args: 'preview --serve', does: 'look at the emails while they are being written' },
  sandbox: {
    args: 'sandbox --profile boruta --latency 50ms',
    does: 'a server to try things on that behaves as Boruta does',
  },
};

/** Puts its example below the help of a program and of every command in it that has one. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  const example = examples[path.join(' ')];
  if (example !== undefined)
    command.addHelpText('after', `\nExample:\n  idops ${example.args}\n      ${example.does}`);
  for (const one of command.commands) addExamples(one, [...path, one.name()]);
}
