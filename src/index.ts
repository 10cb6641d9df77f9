/**
 * idops for programs: load a project, make a plan, show it, apply it.
 *
 * ```ts
 * const redactor = createRedactor();
 * const project = await loadProject({ cwd: process.cwd(), variables: process.env });
 * const session = await openForWriting(project, 'apply', { redactor });
 * try {
 *   const plan = await session.plan();
 *   console.log(await show(planReport, 'text', { plan }, redactor));
 *   await session.apply(approve(plan, project.safety()));
 * } catch (error) {
 *   console.error(await show(problemsReport, 'text', problemsOf(error), redactor));
 * } finally {
 *   await session.close();
 * }
 * ```
 *
 * The command and the action use the same functions and types. The embedded server is `idops/sandbox`.
 */
import { jsonText } from './base/escape.js';
import { type RenderOptions, type Report, render } from './report/formats.js';
import type { Redactor } from './secrets/redactor.js';

export type { Applied } from './apply/apply.js';
export { type ChangeResult, type Result, type Status, summarizeResult } from './apply/result.js';
export type { Left } from './apply/undo.js';
export { failuresIn } from './base/concurrency.js';
export { type KindName, kindNames } from './base/kind-names.js';
export { problemCodes } from './base/problem-codes.js';
export { type Place, type Problem, type ProblemCode, ProblemsError, type Severity } from './base/problems.js';
export type { Progress, Retrying, StepResult } from './base/progress.js';
export type { Safety } from './base/safety.js';
export type { Shard } from './base/shard.js';
export { ExactNumber, type Fields, type Json, Sensitive, type Value } from './base/values.js';
export { version } from './base/version.js';
export type { Action, FieldChange, PlanWarning, WarningPlace } from './kinds/change.js';
export { type ApprovedPlan, approve, type Limits, refusalsOf } from './plan/approve.js';
export {
  type ApplyInfo,
  type Change,
  changesServer,
  type Plan,
  type Source,
  type Summary,
  summarize,
} from './plan/plan.js';
export type { StoredPlan } from './plan/stored.js';
export type { ProjectOptions } from './project/find-config.js';
export { loadProject, type Project } from './project/project.js';
export type { ServerSettings } from './project/server.js';
export {
  planReport,
  problemsReport,
  type RenderOptions as Look,
  type Report,
  resultReport,
  type ShownPlan,
  type ShownResult,
} from './report/formats.js';
export { createRedactor, type Redactor } from './secrets/redactor.js';
export { type FailureFacts, type FailureKind, ServerFailure } from './server/failures.js';
export type { OperationName, Scope, WriteRequest } from './server/operations.js';
export { problemsOf } from './session/failures.js';
export { openForWriting, openSession } from './session/open.js';
export { readPlanFile } from './session/plan-file.js';
export { planSamples } from './session/plan-samples.js';
export type {
  PlanOptions,
  Session,
  SessionOptions,
  UndoPlan,
  WritingCommand,
  WritingSession,
} from './session/session.js';
export { type Validation, validateProject } from './session/validation.js';

/**
 * A plan, a result or problems as text in a format of the command, such as `markdown` or `json`. Masks the secrets that the redactor
 * knows, and escapes the text for the format. Throws a TypeError if the report doesn't have the format.
 */
export async function show<T>(
  report: Report<T>,
  format: string,
  shown: T,
  redactor: Redactor,
  look: Partial<RenderOptions> = {},
): Promise<string> {
  const defaults = { color: false, debug: false, folder: '' };
  const rendering = await render(report, format, report.redact(shown, redactor), { ...defaults, ...look });
  return 'json' in rendering ? jsonText(rendering.json) : rendering.text;
}
