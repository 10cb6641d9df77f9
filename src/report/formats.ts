import type { Pruning } from '../apply/prune.js';
import type { Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import type { NamedSample } from '../mail/samples.js';
import type { Plan } from '../plan/plan.js';
import { redactReport } from '../secrets/redact-report.js';
import type { Redactor } from '../secrets/redactor.js';
import type { ShownAccess } from './access.js';
import type { ShownContributions } from './contributions.js';
import type { Diagnosed } from './diagnosis.js';
import type { History } from './history.js';
import type { PastRun } from './past.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';
import { redactPlan } from './redact-plan.js';
import type { RenderOptions } from './render-options.js';
import type { ShownRuns } from './runs.js';
import type { ShownCycle } from './watch-cycle.js';

/* Reports and their formats, for the command and the action; each is loaded on use. */

export type { RenderOptions } from './render-options.js';

/** A report in a format; JSON as a value, since files indent it. */
export type Rendering = { readonly text: string } | { readonly json: unknown };

/** Something that can be shown, and the formats for it. */
export interface Report<T> {
  /** Removes secrets, before rendering. */
  redact(shown: T, redactor: Redactor): T;
  /** Renders each format: a text, or a value for JSON. */
  readonly formats: { readonly [format: string]: Renderer<T> };
}

type Renderer<T> = (shown: T, options: RenderOptions) => Promise<string | object>;

function inTextAndJson<T>(text: Renderer<T>, json: Renderer<T>): Report<T> {
  return { redact: redactReport, formats: { text, json } };
}

export function formatNames({ formats }: { readonly formats: object }): string[] {
  return Object.keys(formats);
}

/** Renders something that is redacted. Throws a TypeError for an unknown format. */
export async function render<T>(
  report: Report<T>,
  format: string,
  shown: T,
  options: RenderOptions,
): Promise<Rendering> {
  const made = await report.formats[format]?.(shown, options);
  if (made === undefined) throw new TypeError(`there is no ${format} of it`);
  return typeof made === 'string' ? { text: made } : { json: made };
}

/** The same for a text format. */
export async function renderText<T>(
  report: Report<T>,
  format: string,
  shown: T,
  options: RenderOptions,
): Promise<string> {
  const rendering = await render(report, format, shown, options);
  if ('json' in rendering) throw new TypeError(`${format} is no text`);
  return rendering.text;
}

/** A plan, and sample data for pages. */
export interface ShownPlan {
  /** The plan. */
  readonly plan: Plan;
  /** By the template's address, from `planSamples`; made up if omitted. */
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

/** A result and its plan, which has the places of declarations. */
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
    // If there was nothing to do, the plan says so.
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

/** `validate`, whose problems go to standard error for people. */
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

export const contributionsReport = inTextAndJson<ShownContributions>(
  async (shown) => (await import('./contributions.js')).contributionsText(shown),
  async (shown) => (await import('./contributions.js')).contributionsJson(shown),
);

export const runsReport = inTextAndJson<ShownRuns>(
  async (shown, options) => (await import('./runs.js')).runsText(shown, options),
  async (shown) => (await import('./runs.js')).runsJson(shown),
);

export const runReport = inTextAndJson<PastRun>(
  async (run, options) => (await import('./runs.js')).runText(run, options),
  async (run) => (await import('./runs.js')).runJson(run),
);

export const historyReport = inTextAndJson<History>(
  async (history, options) => (await import('./history.js')).historyText(history, options),
  async (history) => (await import('./history.js')).historyJson(history),
);

/** `state show`; undefined if there is no state. */
export const stateReport = inTextAndJson<ShownState | undefined>(
  async (state, options) => (await import('./recorded.js')).stateText(state, options),
  async (state) => (await import('./recorded.js')).stateJson(state),
);

export const pruningReport = inTextAndJson<Pruning>(
  async (pruning) => (await import('./runs.js')).pruningText(pruning),
  async (pruning) => (await import('./runs.js')).pruningJson(pruning),
);

export const pullReport = inTextAndJson<ShownPull>(
  async (pull) => (await import('./pull.js')).pullText(pull),
  async (pull) => (await import('./pull.js')).pullJson(pull),
);

export const listReport = inTextAndJson<ShownListing>(
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

export const diagnosisReport: Report<Diagnosed> = {
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
