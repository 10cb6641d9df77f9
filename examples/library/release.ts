/**
 * Checks a project, shows its plan as Markdown, keeps the plan in a file, and applies exactly that one:
 *
 *     node release.js plan  FOLDER PLANFILE
 *     node release.js apply FOLDER PLANFILE
 *
 * `plan` exits 2 if there is something to apply, and both exit 1 if something is wrong, as the command `idops` does.
 */
import { writeFile } from 'node:fs/promises';
import {
  approve,
  changesServer,
  createRedactor,
  loadProject,
  openForWriting,
  openSession,
  type Problem,
  type Project,
  planReport,
  problemsOf,
  problemsReport,
  readPlanFile,
  resultReport,
  show,
  summarizeResult,
  validateProject,
} from 'idops';

/** Learns every secret of the project, so that no report shows one. */
const redactor = createRedactor();

/** Prints what is wrong. */
async function tell(problems: readonly Problem[]): Promise<void> {
  if (problems.length > 0) console.error(await show(problemsReport, 'text', problems, redactor));
}

/** Makes a plan, prints it and stores it. */
async function plan(project: Project, file: string): Promise<number> {
  const session = await openSession(project, { redactor });
  try {
    const made = await session.plan();
    console.log(await show(planReport, 'markdown', { plan: made }, redactor));
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
  const session = await openForWriting(project, 'apply', { redactor });
  try {
    // Made again from what is there now; approve refuses it if it isn't the one that was stored.
    const { plan } = await session.planStored(stored);
    const approved = approve(plan, project.safety());
    const { result, problems } = await session.apply(approved);
    console.log(await show(resultReport, 'markdown', { result, plan }, redactor));
    await tell(problems);
    const { applied } = summarizeResult(result);
    return applied === result.results.length && problems.length === 0 ? 0 : 1;
  } finally {
    await session.close();
  }
}

async function main([command, folder = '.', file = 'plan.json']: readonly string[]): Promise<number> {
  const load = () => loadProject({ cwd: folder, variables: process.env });
  const { problems } = await validateProject(load, { onSecret: redactor.add });
  await tell(problems);
  if (problems.some(({ severity }) => severity === 'error')) return 1;
  try {
    const project = await load();
    return command === 'apply' ? await apply(project, file) : await plan(project, file);
  } catch (error) {
    await tell(problemsOf(error));
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
