import { type Result, type Status, summarizeResult as summary } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import { leastBudget } from '../report/format-names.js';
import * as github from '../report/github.js';
import { type GitlabReport, planGitlab as gitlabCounts } from '../report/gitlab.js';
import * as html from '../report/html.js';
import * as json from '../report/json.js';
import * as markdown from '../report/markdown.js';
import * as problemsReport from '../report/problems.js';
import { redactProblems, redactSamples } from '../report/redacted.js';
import * as resultPage from '../report/result-page.js';
import * as resultLines from '../report/result-text.js';
import * as results from '../report/results.js';
import * as text from '../report/text.js';
import { planSamples } from '../session/plan-samples.js';
import { telling } from './errors.js';
import { knownOf, type Plan, shownOf } from './plan.js';
import { said } from './said.js';

export type { GitlabReport };

/** How much of a plan or a result is shown. */
export interface ReportOptions {
  /** Unchanged objects and requests too, and long values whole; false where it isn't given. */
  readonly debug?: boolean;
}

/** How text is laid out. */
export interface TextOptions extends ReportOptions {
  /** With the escape sequences of a terminal's colours; false where it isn't given. */
  readonly color?: boolean;
}

/** How long Markdown may be. */
export interface MarkdownOptions extends ReportOptions {
  /** Characters at most, a whole number from 1000; 60,000 where it isn't given. What matters least is left out first, and the report says so. */
  readonly budget?: number;
}

/** What a page is made with. */
export interface HtmlOptions extends ReportOptions {
  /** Told what is odd about the project's sample data, before the page is there. */
  readonly warn?: (warnings: readonly Problem[]) => void;
}

/** Where annotations find their files. */
export interface GithubOptions {
  /** The folder that places are relative to, from the root of the repository, such as `infra`. */
  readonly folder?: string;
}

/** A plan for a person who reviews it, as `idops plan` prints it. Escaped, so that nothing in it can drive a terminal. */
export function planText(plan: Plan, { color = false, debug = false }: TextOptions = {}): string {
  return text.planText(shownOf(plan), { color, debug });
}

/**
 * A plan as Markdown, for a comment of a pull request. Nothing in it is a mention or markup that isn't idops' own. Throws a
 * TypeError where `budget` is none.
 */
export function planMarkdown(plan: Plan, { debug = false, budget }: MarkdownOptions = {}): string {
  const { redactor } = knownOf(plan).inside;
  if (budget !== undefined && !(Number.isSafeInteger(budget) && budget >= leastBudget))
    throw new TypeError(
      `budget is ${said(budget, redactor)}: it must be a whole number of ${leastBudget} or more`,
    );
  return markdown.planMarkdown(shownOf(plan), { debug, ...(budget === undefined ? {} : { budget }) });
}

/**
 * A plan as one HTML page, which loads nothing and runs no script but its own; emails are rendered with the project's sample data, which
 * is read now. Throws a ProblemsError where that is wrong.
 */
export async function planHtml(plan: Plan, { debug = false, warn }: HtmlOptions = {}): Promise<string> {
  const { made, inside } = knownOf(plan);
  const { project, redactor } = inside;
  const { samples, warnings } = await telling(redactor, () => planSamples(made, project));
  if (warnings.length > 0) warn?.(redactProblems(warnings, redactor));
  return html.planHtml(shownOf(plan), { debug, samples: redactSamples(samples, redactor) });
}

/** A plan as annotations of a GitHub workflow, a line each: print them in a step. */
export function planGithub(plan: Plan, options: GithubOptions = {}): string {
  return github.planGithub(shownOf(plan), options);
}

/** A plan as counts, which GitLab shows beside a merge request as a report of the type `terraform`; regenerated DIDs are updates. */
export function planGitlab(plan: Plan): GitlabReport {
  return gitlabCounts(shownOf(plan));
}

/** A plan as `idops plan --format json` prints it; `idops/schemas/plan.schema.json` describes it. */
export function planJson(plan: Plan, { debug = false }: ReportOptions = {}): object {
  return json.planJson(shownOf(plan), { debug });
}

/** A result as `idops apply` prints it; empty where there was nothing to do. */
export function resultText(result: Result, { color = false, debug = false }: TextOptions = {}): string {
  return result.run === null ? '' : resultLines.resultText(result, { color, debug });
}

/** A result as Markdown. */
export function resultMarkdown(result: Result): string {
  return results.resultMarkdown(result);
}

/**
 * A result as one HTML page, which loads nothing and runs no script but its own. With the plan that was applied it says of which server
 * it is, and shows the differences; emails in them are rendered with sample data that is made up.
 */
export function resultHtml(result: Result, plan?: Plan, { debug = false }: ReportOptions = {}): string {
  return resultPage.resultHtml(result, {
    plan: plan === undefined ? null : shownOf(plan),
    samples: new Map(),
    debug,
  });
}

/** A result as annotations of a GitHub workflow, at the places that its plan knows. */
export function resultGithub(result: Result, plan: Plan, options: GithubOptions = {}): string {
  return github.resultGithub(result, shownOf(plan), options);
}

/** A result as `idops apply --format json` prints it; `idops/schemas/run.schema.json` describes it. */
export function resultJson(result: Result): object {
  return json.resultJson(result);
}

/** How many changes of a result ended in each way. */
export function summarizeResult(result: Result): { readonly [status in Status]: number } {
  return summary(result);
}

/** Problems for a person: the code, the message, the place with its line and a caret, and what to do. */
export function problemsText(
  problems: readonly Problem[],
  { color = false }: Pick<TextOptions, 'color'> = {},
): string {
  return problemsReport.problemsText(problems, { color });
}

/** Problems as annotations of a GitHub workflow, a line each. */
export function problemsGithub(problems: readonly Problem[], options: GithubOptions = {}): string {
  return github.problemsGithub(problems, options);
}

/** Problems as `idops validate --format json` prints them; `idops/schemas/problems.schema.json` describes it. */
export function problemsJson(problems: readonly Problem[]): object {
  return json.problemsJson(problems);
}
