/**
 * idops for programs: load a project, make a plan, show it, apply it.
 *
 * ```ts
 * const project = await loadProject({ cwd: process.cwd(), variables: process.env });
 * const session = await openForWriting(project, 'apply');
 * try {
 *   const plan = await session.plan();
 *   console.log(planText(plan));
 *   await session.apply(approve(plan, { maxDestructive: project.maxDestructive() }));
 * } catch (error) {
 *   if (error instanceof ProblemsError) console.error(problemsText(error.problems));
 *   else throw error;
 * } finally {
 *   await session.close();
 * }
 * ```
 *
 * Nothing that is given or thrown holds a credential. The embedded server is at `idops/sandbox`.
 */
export type { ChangeResult, Result, Status } from './apply/result.js';
export type { Left } from './apply/undo.js';
export { stringifyJson } from './base/json.js';
export { type KindName, kindNames } from './base/kind-names.js';
export { problemCodes } from './base/problem-codes.js';
export { type Place, type Problem, type ProblemCode, ProblemsError, type Severity } from './base/problems.js';
export type { Progress, Retrying, Stepped } from './base/progress.js';
export type { Shard } from './base/shard.js';
export { type ExactNumber, isExactNumber, type Json } from './base/values.js';
export { version } from './base/version.js';
export type { WarningPlace } from './kinds/change.js';
export { type FailedRequest, problemsOf, ServerError } from './library/errors.js';
export {
  type ApprovedPlan,
  approve,
  type Change,
  changesServer,
  type FieldChange,
  type Limits,
  type Plan,
  type PlannedRequest,
  refusalsOf,
  summarize,
} from './library/plan.js';
export { loadProject, type Project, validateProject } from './library/project.js';
export {
  type LackingObject,
  type ListedObject,
  type ListedOther,
  type Listing,
  type ListOptions,
  listObjects,
  type OtherName,
  type PulledFile,
  type Pulling,
  type PullOptions,
  pull,
  type ShownListing,
  type VariableToSet,
} from './library/pull.js';
export {
  type GithubOptions,
  type GitlabReport,
  type HtmlOptions,
  type MarkdownOptions,
  planGithub,
  planGitlab,
  planHtml,
  planJson,
  planMarkdown,
  planText,
  problemsGithub,
  problemsJson,
  problemsText,
  type ReportOptions,
  resultGithub,
  resultHtml,
  resultJson,
  resultMarkdown,
  resultText,
  summarizeResult,
  type TextOptions,
} from './library/reports.js';
export {
  type Applied,
  openForWriting,
  openSession,
  type PlanOptions,
  type Replanned,
  type Session,
  type SessionOptions,
  type UndoPlan,
  type WritingCommand,
  type WritingSession,
} from './library/session.js';
export { readPlan, readPlanFile, type StoredPlan } from './library/stored.js';
export type { Action, PlanWarning, Source, Summary } from './plan/plan.js';
export type { ProjectOptions } from './project/index.js';
export type { FailureKind } from './server/failures.js';
export type { OperationName, Scope } from './server/operations.js';
export type { ProfileName } from './server/profiles.js';
export type { Validation } from './session/validation.js';
