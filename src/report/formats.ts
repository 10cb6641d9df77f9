import type { PrunePlan } from '../apply/prune.js';
import type { Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import type { NamedSample } from '../mail/samples.js';
import type { Plan } from '../plan/plan.js';
import { redactReport } from '../secrets/redact-report.js';
import type { Redactor } from '../secrets/redactor.js';
import type { ShownAccess } from './access.js';
import type { ShownContributions } from './contributions.js';
import type { ShownDiagnosis } from './diagnosis.js';
import type { History } from './history.js';
import type { PastRun } from './past.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';
import { redactPlan } from './redact-plan.js';
import type { RenderOptions } from './render-options.js';
import type { ShownRuns } from './runs.js';
import type { ShownCycle } from './watch-cycle.js';

/* Reports and their formats, for the command line and the action. Each format is imported on use. */

export type { RenderOptions } from './render-options.js';

/** A rendered report: a text, or a value for JSON, which callers indent. */
export type Rendering = { readonly text: string } | { readonly json: unknown };

/** How something is shown: it is redacted first, then rendered in a format. */
export interface Report<T> {
  /** Removes secrets. */
  redact(shown: T, redactor: Redactor): T;
  /** Renders each format: a text, or a value for JSON. */
  readonly formats: { readonly [format: string]: Renderer<T> };
}

type Renderer<T> = (shown: T, options: RenderOptions) => Promise<string | object>;

function textAndJsonReport<T>(text: Renderer<T>, json: Renderer<T>): Report<T> {
  return { redact: redactReport, formats: { text, json } };
}

export function formatNames({ formats }: { readonly formats: object }): string[] {
  return Object.keys(formats);
}

/** Renders something redacted. Throws a TypeError if the report lacks the format. */
export async function render<T>(
  report: Report<T>,
  format: string,
  shown: T,
  options: RenderOptions,
): Promise<Rendering> {
  const output = await report.formats[format]?.(shown, options);
  if (output === undefined) throw new TypeError(`the report has no format ${format}`);
  return typeof output === 'string' ? { text: output } : { json: output };
}

/** Renders something redacted as text. Throws a TypeError if the report lacks the format, or if it is JSON. */
export async function renderText<T>(
  report: Report<T>,
  format: string,
  shown: T,
  options: RenderOptions,
): Promise<string> {
  const rendering = await render(report, format, shown, options);
  if ('json' in rendering) throw new TypeError(`the format ${format} is not text`);
  return rendering.text;
}

/** A plan, and sample data for its rendered emails. */
export interface ShownPlan {
  /** The plan. */
  readonly plan: Plan;
  /** Sample data by the template's address, from `planSamples`; generated if omitted. */
  readonly samples?: ReadonlyMap<string, readonly NamedSample[]>;
}

/** `plan`. */
export const planReport: Report<ShownPlan> = {
  redact: ({ plan, samples }, redactor) => ({
    plan: redactPlan(plan, redactor),
    ...redactReport(samples === undefined ? {} : { samples }, redactor),
  }),
  formats: {
    text: async ({ plan }, options) => (await import('./text.js')).planText(plan, options),
    json: async ({ plan }, options) => (await import('./json.js')).planJson(plan, options),
    markdown: async ({ plan }, options) => (await import('./markdown.js')).planMarkdown(plan, options),
    html: async ({ plan, samples = new Map() }, options) =>
      (await import('./html.js')).planHtml(plan, { ...options, samples }),
    github: async ({ plan }, options) => (await import('./github.js')).planGithub(plan, options),
    gitlab: async ({ plan }) => (await import('./json.js')).planGitlab(plan),
  },
};

/** A result, and its plan with the places of declarations. */
export interface ShownResult extends ShownPlan {
  /** The result. */
  readonly result: Result;
}

/** `apply`, `undo` and `regenerate-did`. */
export const resultReport: Report<ShownResult> = {
  redact: ({ result, ...shown }, redactor) => ({
    result: redactReport(result, redactor),
    ...planReport.redact(shown, redactor),
  }),
  formats: {
    // If there was nothing to do, the text of the plan says so.
    text: async ({ result }, options) =>
      result.run === null ? '' : (await import('./result-text.js')).resultText(result, options),
    json: async ({ result }) => (await import('./json.js')).resultJson(result),
    markdown: async ({ result }, options) =>
      (await import('./result-markdown.js')).resultMarkdown(result, options),
    html: async ({ result, plan, samples = new Map() }, options) =>
      (await import('./result-page.js')).resultHtml(result, plan, { ...options, samples }),
    github: async ({ result, plan }, options) =>
      (await import('./github.js')).resultGithub(result, plan, options),
  },
};

/** Problems, such as those of `validateProject`. */
export const problemsReport: Report<readonly Problem[]> = {
  redact: redactReport,
  formats: {
    text: async (problems, options) => (await import('./problems.js')).problemsText(problems, options),
    json: async (problems) => (await import('./json.js')).problemsJson(problems),
    github: async (problems, options) => (await import('./github.js')).problemsGithub(problems, options),
  },
};

export interface ShownValidation {
  readonly problems: readonly Problem[];
  readonly objects: number;
}

/** `validate`. In text, problems are written to standard error. */
export const validationReport: Report<ShownValidation> = {
  redact: redactReport,
  formats: {
    text: async ({ problems, objects }) =>
      problems.some(({ severity }) => severity === 'error')
        ? ''
        : `${(await import('./problems.js')).validText(objects)}.\n`,
    json: async ({ problems }) => (await import('./json.js')).problemsJson(problems),
    github: async ({ problems }, options) => (await import('./github.js')).problemsGithub(problems, options),
  },
};

export const contributionsReport = textAndJsonReport<ShownContributions>(
  async (shown) => (await import('./contributions.js')).contributionsText(shown),
  async (shown) => (await import('./contributions.js')).contributionsJson(shown),
);

export const runsReport = textAndJsonReport<ShownRuns>(
  async (shown, options) => (await import('./runs.js')).runsText(shown, options),
  async (shown) => (await import('./runs.js')).runsJson(shown),
);

export const runReport = textAndJsonReport<PastRun>(
  async (run, options) => (await import('./runs.js')).runText(run, options),
  async (run) => (await import('./runs.js')).runJson(run),
);

export const historyReport = textAndJsonReport<History>(
  async (history, options) => (await import('./history.js')).historyText(history, options),
  async (history) => (await import('./history.js')).historyJson(history),
);

/** `state show`; undefined if there is no state. */
export const stateReport = textAndJsonReport<ShownState | undefined>(
  async (state, options) => (await import('./recorded.js')).stateText(state, options),
  async (state) => (await import('./recorded.js')).stateJson(state),
);

export const pruningReport = textAndJsonReport<PrunePlan>(
  async (pruning) => (await import('./runs.js')).pruningText(pruning),
  async (pruning) => (await import('./runs.js')).pruningJson(pruning),
);

export const pullReport = textAndJsonReport<ShownPull>(
  async (pull) => (await import('./pull.js')).pullText(pull),
  async (pull) => (await import('./pull.js')).pullJson(pull),
);

export const listReport = textAndJsonReport<ShownListing>(
  async (listing) => (await import('./pull.js')).listText(listing),
  async (listing) => (await import('./pull.js')).listJson(listing),
);

export const accessReport: Report<ShownAccess> = {
  redact: redactReport,
  formats: {
    text: async (shown, options) => (await import('./access.js')).accessText(shown, options),
    csv: async (shown) => (await import('./access.js')).accessCsv(shown),
    json: async (shown) => (await import('./access.js')).accessJson(shown),
    html: async (shown) => (await import('./access.js')).accessHtml(shown),
  },
};

export const diagnosisReport: Report<ShownDiagnosis> = {
  redact: ({ checks, ...rest }, { redact }) => ({
    ...rest,
    checks: checks.map(({ message, hint, ...check }) => ({
      ...check,
      message: redact(message),
      hint: hint === null ? null : redact(hint),
    })),
  }),
  formats: {
    text: async (diagnosed) => (await import('./diagnosis.js')).diagnosisText(diagnosed),
    json: async (diagnosed) => (await import('./diagnosis.js')).diagnosisJson(diagnosed),
  },
};

export const cycleReport: Report<ShownCycle> = {
  redact: ({ plan, result, problems, notes, ...cycle }, redactor) => ({
    ...cycle,
    plan: plan && redactPlan(plan, redactor),
    ...redactReport({ result, problems, notes }, redactor),
  }),
  formats: {
    text: async (cycle, options) => (await import('./watch-cycle.js')).cycleText(cycle, options),
    json: async (cycle, options) => (await import('./watch-cycle.js')).cycleJson(cycle, options),
  },
};
