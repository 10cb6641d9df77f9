/**
 * Checks a project, shows its plan as Markdown, keeps the plan in a file, and applies exactly that one:
 *
 *     node release.js plan  FOLDER PLANFILE
 *     node release.js apply FOLDER PLANFILE
 *
 * `plan` exits 2 where there is something to apply, and both exit 1 where something is wrong, as the command `idops` does.
 */
import { writeFile } from 'node:fs/promises';
import {
  approve,
  changesServer,
  loadProject,
  openForWriting,
  openSession,
  ProblemsError,
  type Project,
  planMarkdown,
  problemsText,
  readPlanFile,
  resultMarkdown,
  ServerError,
  summarizeResult,
  validateProject,
} from 'idops';

/** Makes a plan, prints it and stores it. */
async function plan(project: Project, file: string): Promise<number> {
  const session = await openSession(project);
  try {
    const made = await session.plan();
    console.log(planMarkdown(made));
    await writeFile(file, await session.storePlan(made), { mode: 0o600 });
    if (made.changes.some(({ action }) => action === 'blocked')) return 1;
    return changesServer(made) ? 2 : 0;
  } finally {
    await session.close();
  }
}

/** Applies the plan that was stored, and nothing else. */
async function apply(project: Project, file: string): Promise<number> {
  const stored = await readPlanFile(file);
  const session = await openForWriting(project, 'apply');
  try {
    // Made anew from what is there now; approve refuses it where it isn't the one that was stored.
    const { plan } = await session.planStored(stored);
    const approved = approve(plan, { maxDestructive: project.maxDestructive() });
    const { result, problems } = await session.apply(approved);
    console.log(resultMarkdown(result));
    if (problems.length > 0) console.error(problemsText(problems));
    const { applied } = summarizeResult(result);
    return applied === result.results.length && problems.length === 0 ? 0 : 1;
  } finally {
    await session.close();
  }
}

async function main([command, folder = '.', file = 'plan.json']: readonly string[]): Promise<number> {
  const options = { cwd: folder, variables: process.env };
  const { problems } = await validateProject(options);
  if (problems.length > 0) console.error(problemsText(problems));
  if (problems.some(({ severity }) => severity === 'error')) return 1;
  try {
    const project = await loadProject(options);
    return command === 'apply' ? await apply(project, file) : await plan(project, file);
  } catch (error) {
    if (error instanceof ServerError) {
      const [{ method, path, status }] = error.requests;
      console.error(
        `${error.code}: ${method} ${path} ended with ${status ?? 'no answer'}; ${error.hint ?? 'try again'}`,
      );
      return 1;
    }
    if (!(error instanceof ProblemsError)) throw error;
    console.error(problemsText(error.problems));
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
