import { resolve } from 'node:path';
import { migrate, planMigration } from '../../apply/migrate.js';
import type { StateHome } from '../../apply/owner.js';
import { error, ProblemsError } from '../../base/problems.js';
import { DEFAULT_STATE, type Project } from '../../project/index.js';
import { plural } from '../../report/words.js';
import { backendOf, backendWithoutBuffer } from '../../session/backend.js';
import type { StateBackend } from '../../state/backend.js';
import { fileBackend } from '../../state/file/index.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { consent, holding, where } from './apply-plan.js';

interface Options {
  readonly from?: string;
  readonly yes?: boolean;
}

/** `idops state migrate`: brings the state and its journals to where the configuration says that it is kept, after a question. */
export async function migrateState(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const project = await context.project();
  await context.learnTokens();
  // What waits here for the former place is no part of what is copied.
  const to = await backendWithoutBuffer(project, context.redactor.add);
  const from = await formerPlace(project, options.from, context);
  if (from.place === to.place) {
    throw new ProblemsError([
      error(
        'wrong-option',
        `the state is at ${to.place} already`,
        [],
        'say in the configuration where it is to be kept, and with --from where it is now',
      ),
    ]);
  }
  await from.check('write');
  await to.check('write');
  return await holding(from, 'state migrate', context, (held) =>
    holding(to, 'state migrate', context, (taken) =>
      move({ backend: from, environment: project.environment }, to, project, options, context, () =>
        Promise.all([held, taken].map((lock) => lock.confirm())),
      ),
    ),
  );
}

/** With the locks of both, which `confirm` makes sure of. */
async function move(
  home: StateHome,
  to: StateBackend,
  project: Project,
  options: Options,
  context: Context,
  confirm: () => Promise<unknown>,
): Promise<ExitCode> {
  const { backend: from, environment } = home;
  const server = await project.server(context.sessionOptions()).catch(() => undefined);
  const migration = await planMigration(home, to, server?.baseUrl);
  const { state, journals } = migration;
  const what = `${plural(Object.keys(state.resources).length, 'record')} and ${plural(journals.length, 'journal')}`;
  const whose = where({ server: state.server, environment });
  const agreed = await consent(
    {
      text: `Move the state of ${whose}, ${what}, from ${from.place} to ${to.place}?`,
      otherwise: 'Nothing was moved.',
    },
    options.yes === true,
    context,
  );
  if ('refused' in agreed) return agreed.refused;
  // Somebody may have removed a lock while the question was open.
  await confirm();
  await migrate(migration, from, to);
  context.output.message(
    `Moved ${what} to ${to.place}. What is left at ${from.place} is refused from now on; it can be removed.`,
  );
  return exit.done;
}

/** Where the state is now: as it is said, or at its default place. */
async function formerPlace(
  project: Project,
  from: string | undefined,
  context: Context,
): Promise<StateBackend> {
  const { cwd, root } = project;
  if (from !== undefined && /\.ya?ml$/.test(from)) {
    const { env } = context.options;
    const { loadProject } = await import('../../project/index.js');
    const former = await loadProject({
      cwd,
      variables: process.env,
      config: from,
      ...(env === undefined ? {} : { env }),
    });
    return await backendOf(former, context.redactor.add);
  }
  const path = from === undefined ? resolve(root, DEFAULT_STATE) : resolve(cwd, from);
  return await fileBackend({ path, allowTracked: true });
}
