/**
 * idops for programs: load a project, make a plan, apply it.
 *
 * ```ts
 * const project = await loadProject({ cwd: process.cwd(), variables: process.env });
 * const session = await openForWriting(project, 'apply');
 * try {
 *   const plan = await session.plan();
 *   await session.apply(approve(plan, { maxDestructive: project.maxDestructive() }));
 * } finally {
 *   await session.close();
 * }
 * ```
 */
export type { Applied } from './apply/apply.js';
export type { ChangeResult, Result, Status } from './apply/result.js';
export { stringifyJson } from './base/json.js';
export { problemCodes } from './base/problem-codes.js';
export { type Place, type Problem, type ProblemCode, ProblemsError, type Severity } from './base/problems.js';
export type { Progress } from './base/progress.js';
export { version } from './base/version.js';
export { type ApprovedPlan, approve, type Limits, refusalsOf } from './plan/approve.js';
export type { Action, Change, FieldChange, Plan, PlanWarning, Source, Summary } from './plan/plan.js';
export { changesServer, summarize } from './plan/plan.js';
export { loadProject, type Project, type ProjectOptions } from './project/index.js';
export { planJson, problemsJson, resultJson } from './report/json.js';
export { problemsText } from './report/problems.js';
export { planText, resultText } from './report/text.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/index.js';
export { openForWriting, openSession } from './session/open.js';
export type {
  PlanOptions,
  Session,
  SessionOptions,
  UndoPlan,
  WritingCommand,
  WritingSession,
} from './session/session.js';
