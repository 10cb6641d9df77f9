import { resolve } from 'node:path';
import { migrate, planMigration } from '../../apply/migrate.js';
import { DEFAULT_STATE, type Project } from '../../project/index.js';
import { plural } from '../../report/words.js';
import { backendOf, backendWithoutBuffer } from '../../session/backend.js';
import type { StateBackend } from '../../state/backend.js';
import { fileBackend } from '../../state/file/index.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { wrongOption } from '../misuse.js';
import { serverAndEnvironment, withConsent, withLock } from './consent.js';

interface Options {
  readonly from?: string;
  readonly yes?: boolean;
}

export async function migrateState(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const project = await context.project();
  await context.addConfiguredTokens();
  const to = await backendWithoutBuffer(project, context.redactor.add);
  const from = await formerBackend(project, options.from, context);
  if (from.place === to.place) {
    throw wrongOption(
      `the state is already at ${to.place}`,
      'set the new place in the configuration, and name the current one with --from',
    );
  }
  await from.check('write');
  await to.check('write');
  return await withLock(from, 'state migrate', context, (fromLock) =>
    withLock(to, 'state migrate', context, async (toLock) => {
      const { environment } = project;
      const server = await project.server(context.sessionOptions()).catch(() => undefined);
      const migration = await planMigration({ backend: from, environment }, to, server?.baseUrl);
      const { state, journals } = migration;
      const what = `${plural(Object.keys(state.resources).length, 'record')} and ${plural(journals.length, 'journal')}`;
      const question = {
        text: `Move the state of ${serverAndEnvironment({ server: state.server, environment })}, ${what}, from ${from.place} to ${to.place}?`,
        declinedMessage: 'Nothing was moved.',
      };
      return await withConsent(question, options.yes, context, async () => {
        // Another process may have removed a lock during the question.
        await Promise.all([fromLock.confirm(), toLock.confirm()]);
        await migrate(migration, from, to);
        context.output.message(
          `Moved ${what} to ${to.place}. idops refuses what is left at ${from.place}; remove it.`,
        );
        return exit.done;
      });
    }),
  );
}

/** The current backend: that of `--from`, or the default file. */
async function formerBackend(
  project: Project,
  from: string | undefined,
  context: Context,
): Promise<StateBackend> {
  const { cwd, root } = project;
  if (from !== undefined && /\.ya?ml$/.test(from)) {
    const { env } = context.options;
    const { loadProject } = await import('../../project/index.js');
    const former = await loadProject({ cwd, variables: process.env, config: from, env });
    return await backendOf(former, context.redactor.add);
  }
  const path = from === undefined ? resolve(root, DEFAULT_STATE) : resolve(cwd, from);
  return await fileBackend({ path, allowTracked: true });
}
