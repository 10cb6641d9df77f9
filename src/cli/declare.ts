import { Argument, Command, Option } from 'commander';
import { kindNames } from '../base/kind-names.js';
import { version } from '../base/version.js';
import { formatsByReport } from '../report/format-names.js';
import {
  allowOptions,
  byOption,
  collect,
  connectionOptions,
  debugOption,
  discoveryOptions,
  endedOption,
  kindOption,
  messageOption,
  notEmpty,
  nowOption,
  onlyOption,
  selectionOptions,
  wholeNumber,
} from '../session/options.js';
import { schemaNames } from '../session/schema-names.js';
import type { Context, GlobalOptions } from './context.js';
import { addExamples } from './examples.js';
import { type ExitCode, exit, exitMeanings } from './exit.js';
import {
  age,
  faultNames,
  interval,
  listenAddress,
  milliseconds,
  readFaults,
  since,
  until,
} from './option-values.js';

/** The function of a command: returns its exit code. */
export type CommandFunction<A extends unknown[], O> = (
  context: Context,
  options: O & GlobalOptions,
  ...args: A
) => Promise<ExitCode>;

type Action = <A extends unknown[], O>(
  load: () => Promise<CommandFunction<A, O>>,
) => (...all: unknown[]) => Promise<void>;

/** Declares every command with its arguments and options; `action` runs one. */
export function declare(action: Action): Command {
  const program = new Command('idops')
    .description('Identity server configuration in git: plan, review and apply')
    .version(version)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .option('--config <FILE>', 'configuration file (IDOPS_CONFIG; idops.yaml)', notEmpty)
    .option('--env <NAME>', 'environment of the configuration (IDOPS_ENV)', notEmpty)
    .option('--base-url <URL>', "the server's address (IDOPS_BASE_URL)", notEmpty);
  for (const option of connectionOptions()) program.addOption(option);
  program
    .option('--quiet', 'print only results and errors')
    .addOption(debugOption())
    .option('--no-color', 'no colours (NO_COLOR)')
    .addHelpText('after', exitCodes());

  program
    .command('init')
    .argument('[dir]', 'the folder of the new project (the current one)')
    .description('create a project: a configuration, manifests and a CI workflow; never overwrites')
    .addOption(
      new Option('--profile <NAME>', 'the profile of the server (recognised by its answers)').choices([
        'documented',
        'boruta',
      ]),
    )
    .option('--token-env <NAME>', 'the process variable with the bearer token (IDOPS_TOKEN)', notEmpty)
    .addOption(
      new Option('--ci <NAME>', 'write a workflow for this CI; without a terminal: github').choices([
        'github',
        'gitlab',
        'none',
      ]),
    )
    .addOption(byOption())
    .option('--yes', "don't ask; use defaults")
    .action(action(async () => (await import('./commands/init.js')).init));

  program
    .command('validate')
    .description('check configuration, manifests, references and template bodies; no network')
    .addOption(nowOption())
    .option('--explain <ADDRESS>', 'show which documents declare what about this object', notEmpty)
    .addOption(format('validation'))
    .action(action(async () => (await import('./commands/validate.js')).validate));

  withSelection(program.command('plan'), 'plan')
    .argument('[planfile]', 'a plan stored with plan --out: show it, and send nothing')
    .description('observe the server and print what would change; never writes')
    .addOption(onlyOption())
    .option('--detailed-exitcode', 'exit 2 if there are changes')
    .option('--out <FILE>', 'store the plan in a file, for idops apply FILE', notEmpty)
    .action(action(async () => (await import('./commands/plan.js')).plan));

  withLimits(withSelection(program.command('apply'), 'result'))
    .argument('[planfile]', 'a plan stored with plan --out: apply exactly that, without a question')
    .description('plan, show, ask, apply')
    .option('--yes', "don't ask")
    .addOption(endedOption())
    .addOption(messageOption())
    .action(action(async () => (await import('./commands/apply.js')).apply));

  const watchCommand = program
    .command('watch')
    .description('plan repeatedly until interrupted, and apply with --apply')
    .addOption(
      new Option('--interval <DURATION>', 'the time between turns, from 1s to 24h')
        .argParser(interval)
        .default(300, '5m'),
    )
    .option('--apply', 'apply changes, as apply --yes would; otherwise nothing is written')
    .option(
      '--listen <HOST:PORT>',
      'serve /healthz, /livez and /metrics there, such as 127.0.0.1:9464 (not served)',
      listenAddress,
    );
  for (const option of selectionOptions()) watchCommand.addOption(option);
  withLimits(watchCommand, 'with --apply, each turn: ')
    .addOption(
      new Option('--format <NAME>', 'one line for each turn')
        .choices(formatsByReport.cycle)
        .argParser(collect)
        .default([], 'text'),
    )
    .action(action(async () => (await import('./commands/watch.js')).watch));

  withDiscovery(program.command('pull'))
    .description('write manifests and body files from the live server')
    .addOption(kindOption())
    .option('--out <DIR>', "write fresh files to this folder, instead of the project's own", notEmpty)
    .option('--check', 'write nothing; exit 1 if the server differs from the files')
    .option('--declared', 'update only declared fields; add no document and no field')
    .addOption(byOption())
    .option('--force', 'overwrite files that were edited since they were pulled or committed')
    .option('--all-templates', 'include built-in email templates and pages')
    .option('--from-boruta-file <FILE>', "read Boruta's configuration file instead of the server", notEmpty)
    .addOption(format('pull'))
    .action(action(async () => (await import('./commands/pull.js')).pull));

  withDiscovery(program.command('list'))
    .addArgument(new Argument('[kind...]', 'only these kinds').choices([...kindNames]))
    .description('list the objects of the server, with ids and names')
    .addOption(format('listing'))
    .action(action(async () => (await import('./commands/list.js')).list));

  const accessCommand = program
    .command('access')
    .description('show who has what: live if the profile lists users, otherwise as recorded');
  for (const [of, what] of [
    ['user', 'this user, by id or username'],
    ['organization', 'the members of this organization'],
    ['scope', 'who has this scope, also by a role'],
    ['role', 'who has this role'],
  ])
    accessCommand.addOption(
      new Option(`--${of} <NAME>`, `only ${what}; * matches any characters (repeatable)`)
        .argParser(collect)
        .default([], 'all'),
    );
  accessCommand
    .addOption(nowOption())
    .addOption(format('access'))
    .action(action(async () => (await import('./commands/access.js')).access));

  withLimits(program.command('undo'))
    .argument('[run]', 'the run, or the beginning of its name')
    .description('plan, show, ask, and restore what a run changed')
    .option('--last', 'undo the newest run, or finish an interrupted undo')
    .option('--force', 'restore even what changed since')
    .option('--yes', "don't ask")
    .addOption(messageOption())
    .addOption(format('result'))
    .action(action(async () => (await import('./commands/undo.js')).undo));

  const runs = program
    .command('runs')
    .description('list the runs; show, settle, prune, forget or unlock')
    .enablePositionalOptions();
  runs
    .command('list', { isDefault: true })
    .description('list the runs, or what they did to one object')
    .option('--address <ADDRESS>', 'only changes of this object, by address, id or name', notEmpty)
    .option('--actor <NAME>', 'only runs of this person', notEmpty)
    .addOption(kindOption())
    .option('--since <TIME>', 'only runs since a day (2026-01-31), an RFC 3339 instant or an age (7d)', since)
    .option('--until <TIME>', 'only runs until then, in the same form; a day is included', until)
    .addOption(format('runs'))
    .action(action(async () => (await import('./commands/runs.js')).listRuns));
  runs
    .command('show')
    .argument('<run>', 'the run, or the beginning of its name')
    .description('show who, when, which server, and what changed')
    .addOption(format('run'))
    .action(action(async () => (await import('./commands/runs.js')).showRun));
  runs
    .command('settle')
    .argument('<run>', 'the run, or the beginning of its name')
    .argument('<address>', 'the client, as Client/<id>')
    .description('record the unknown outcome of a regeneration, after a question')
    .option('--done', 'it was regenerated')
    .option('--not-done', 'it was not regenerated')
    .option('--yes', "don't ask")
    .action(action(async () => (await import('./commands/runs.js')).settleRun));
  runs
    .command('prune')
    .description('remove the journals of old runs, after a question')
    .option('--keep <AGE>', 'keep journals younger than 12h, 90d or 8w, for example', age)
    .option('--keep-last <N>', 'keep the last N journals', wholeNumber(0))
    .option('--yes', "don't ask")
    .addOption(format('pruning'))
    .action(action(async () => (await import('./commands/runs-prune.js')).prune));
  runs
    .command('forget')
    .argument('<run>', 'the run, or the beginning of its name')
    .description("remove the journal of a run that can't be read, after a question")
    .option('--yes', "don't ask")
    .action(action(async () => (await import('./commands/runs.js')).forgetRun));
  runs
    .command('unlock')
    .description('remove the lock of a process that has ended, after a question')
    .option('--yes', "don't ask")
    .action(action(async () => (await import('./commands/runs.js')).unlock));

  const state = program
    .command('state')
    .description('show the state, remove records, or move it to another backend')
    .enablePositionalOptions();
  state
    .command('show', { isDefault: true })
    .argument('[address...]', 'only these objects, with their fields')
    .description('show what the state has recorded; no network')
    .addOption(format('state'))
    .action(action(async () => (await import('./commands/state.js')).showState));
  state
    .command('rm')
    .argument('<address...>', 'the objects whose records to remove')
    .description('remove the records of objects from the state, after a question; nothing is sent')
    .option('--yes', "don't ask")
    .action(action(async () => (await import('./commands/state.js')).removeRecords));
  state
    .command('migrate')
    .description('move the state and its journals to the configured backend, after a question')
    .option(
      '--from <FILE>',
      'the former state file, or a configuration that names the former backend (.idops/state.json)',
    )
    .option('--yes', "don't ask")
    .action(action(async () => (await import('./commands/state-migrate.js')).migrateState));

  program
    .command('regenerate-did')
    .argument('<client-id>', 'the id of the client')
    .description("regenerate one client's DID now, after a question")
    .option('--yes', "don't ask")
    .addOption(format('result'))
    .action(action(async () => (await import('./commands/regenerate-did.js')).regenerateDid));

  program
    .command('doctor')
    .description('check configuration, address, TLS, credentials, scopes, profile and state; writes nothing')
    .addOption(format('diagnosis'))
    .action(action(async () => (await import('./commands/doctor.js')).doctor));

  program
    .command('schema')
    .addArgument(new Argument('[name]', 'which schema').choices(schemaNames).default('manifest'))
    .description('print a JSON Schema')
    .action(action(async () => (await import('./commands/schema.js')).schema));

  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .argument('[words...]', 'the typed words, to list completions of the last one')
    .description('print the completion script for a shell')
    .action(action(async () => (await import('./commands/completion.js')).completionCommand(program)));

  program
    .command('preview')
    .description('render every email template and page with sample data into an HTML page')
    .option('--out <FILE>', 'the page to write (preview.html); - for standard output', notEmpty)
    .option('--serve', 'serve the page on this machine, and reload it on changes')
    .option('--port <N>', 'with --serve: the port on 127.0.0.1 (a free one)', wholeNumber(0, 65535))
    .action(action(async () => (await import('./commands/preview.js')).preview));

  program
    .command('sandbox')
    .description('run the embedded server, in memory, until interrupted')
    .addOption(
      new Option('--profile <NAME>', 'how it behaves')
        .choices(['documented', 'boruta'])
        .default('documented'),
    )
    .option('--port <N>', 'port on 127.0.0.1 (a free one)', wholeNumber(0, 65535))
    .option('--latency <TIME>', 'duration of each answer, such as 50ms or 1s (0ms)', milliseconds)
    .addOption(
      new Option('--faults <LIST>', `inject faults: ${faultNames} (repeatable)`)
        .argParser(readFaults)
        .default({}, 'none'),
    )
    .action(action(async () => (await import('./commands/sandbox.js')).sandbox));
  addExamples(program);
  return program;
}

function exitCodes(): string {
  const lines = Object.entries(exit).map(
    ([name, code]) => `  ${String(code).padEnd(5)}${exitMeanings[name as keyof typeof exit]}`,
  );
  return ['\nExit codes:', ...lines].join('\n');
}

function withSelection(command: Command, report: 'plan' | 'result'): Command {
  for (const option of selectionOptions()) command.addOption(option);
  return command.addOption(nowOption()).addOption(format(report));
}

function withLimits(command: Command, when?: string): Command {
  for (const option of allowOptions(when)) command.addOption(option);
  return command;
}

function withDiscovery(command: Command): Command {
  for (const option of discoveryOptions()) command.addOption(option);
  return command;
}

function format(of: keyof typeof formatsByReport): Option {
  return new Option('--format <NAME[=FILE]>', 'output format (repeatable)')
    .choices(formatsByReport[of])
    .argParser(collect)
    .default([], 'text');
}
