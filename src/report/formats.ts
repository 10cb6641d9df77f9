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
import type { Look } from './look.js';
import type { PastRun } from './past.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';
import { redactPlan } from './redact-plan.js';
import type { ShownRuns } from './runs.js';
import type { ShownTurn } from './turn.js';

/*
 * All reports and their formats, for the command and the action. A format is loaded on use.
 */

export type { Look } from './look.js';

/** A report in a format; JSON as a value, since files indent it. */
export type Rendering = { readonly text: string } | { readonly json: unknown };

/** Something that can be shown, and the formats for it. */
export interface Report<T> {
  /** Removes secrets, before rendering. */
  redact(shown: T, redactor: Redactor): T;
  /** Renders each format: a text, or a value for JSON. */
  readonly formats: { readonly [format: string]: (shown: T, look: Look) => Promise<string | object> };
}

export function formatNames<T>({ formats }: Report<T>): string[] {
  return Object.keys(formats);
}

/** Renders something that is redacted. Throws a TypeError for an unknown format. */
export async function render<T>(report: Report<T>, format: string, shown: T, look: Look): Promise<Rendering> {
  const made = await report.formats[format]?.(shown, look);
  if (made === undefined) throw new TypeError(`there is no ${format} of it`);
  return typeof made === 'string' ? { text: made } : { json: made };
}

/** The same for a text format. */
export async function renderText<T>(
  report: Report<T>,
  format: string,
  shown: T,
  look: Look,
): Promise<string> {
  const rendering = await render(report, format, shown, look);
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
    text: async ({ plan }, look) => (await import('./text.js')).planText(plan, look),
    json: async ({ plan }, look) => (await import('./json.js')).planJson(plan, look),
    markdown: async ({ plan }, look) => (await import('./markdown.js')).planMarkdown(plan, look),
    html: async ({ plan, samples = new Map() }, look) =>
      (await import('./html.js')).planHtml(plan, { ...look, samples }),
    github: async ({ plan }, look) => (await import('./github.js')).planGithub(plan, look),
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
    text: async ({ result }, look) =>
      result.run === null ? '' : (await import('./result-text.js')).resultText(result, look),
    json: async ({ result }) => (await import('./json.js')).resultJson(result),
    markdown: async ({ result }, look) => (await import('./result-markdown.js')).resultMarkdown(result, look),
    html: async ({ result, plan, samples = new Map() }, look) =>
      (await import('./result-page.js')).resultHtml(result, plan, { ...look, samples }),
    github: async ({ result, plan }, look) => (await import('./github.js')).resultGithub(result, plan, look),
  },
};

/** Problems, such as those of `validateProject`. */
export const problemsReport: Report<readonly Problem[]> = {
  redact: redactReport,
  formats: {
    text: async (problems, look) => (await import('./problems.js')).problemsText(problems, look),
    json: async (problems) => (await import('./json.js')).problemsJson(problems),
    github: async (problems, look) => (await import('./github.js')).problemsGithub(problems, look),
  },
};

/** The problems of a project, and how many documents are valid. */
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
    github: async ({ problems }, look) => (await import('./github.js')).problemsGithub(problems, look),
  },
};

/** `validate --explain`. */
export const contributionsReport: Report<ShownContributions> = {
  redact: redactReport,
  formats: {
    text: async (shown) => (await import('./contributions.js')).contributionsText(shown),
    json: async (shown) => (await import('./contributions.js')).contributionsJson(shown),
  },
};

/** `runs list`. */
export const runsReport: Report<ShownRuns> = {
  redact: redactReport,
  formats: {
    text: async (shown, look) => (await import('./runs.js')).runsText(shown, look),
    json: async (shown) => (await import('./runs.js')).runsJson(shown),
  },
};

/** `runs show`. */
export const runReport: Report<PastRun> = {
  redact: redactReport,
  formats: {
    text: async (run, look) => (await import('./runs.js')).runText(run, look),
    json: async (run) => (await import('./runs.js')).runJson(run),
  },
};

/** `runs --address`. */
export const historyReport: Report<History> = {
  redact: redactReport,
  formats: {
    text: async (history, look) => (await import('./history.js')).historyText(history, look),
    json: async (history) => (await import('./history.js')).historyJson(history),
  },
};

/** `state show`; undefined if there is no state. */
export const stateReport: Report<ShownState | undefined> = {
  redact: redactReport,
  formats: {
    text: async (state, look) => (await import('./recorded.js')).stateText(state, look),
    json: async (state) => (await import('./recorded.js')).stateJson(state),
  },
};

/** `runs prune`. */
export const pruningReport: Report<Pruning> = {
  // Runs, commands and times contain no secrets.
  redact: (pruning) => pruning,
  formats: {
    text: async (pruning) => (await import('./runs.js')).pruningText(pruning),
    json: async (pruning) => (await import('./runs.js')).pruningJson(pruning),
  },
};

/** `pull`. */
export const pullReport: Report<ShownPull> = {
  redact: redactReport,
  formats: {
    text: async (pull) => (await import('./pull.js')).pullText(pull),
    json: async (pull) => (await import('./pull.js')).pullJson(pull),
  },
};

/** `list`. */
export const listReport: Report<ShownListing> = {
  redact: redactReport,
  formats: {
    text: async (listing) => (await import('./pull.js')).listText(listing),
    json: async (listing) => (await import('./pull.js')).listJson(listing),
  },
};

/** `access`. */
export const accessReport: Report<ShownAccess> = {
  redact: redactReport,
  formats: {
    text: async (shown, look) => (await import('./access.js')).accessText(shown, look),
    csv: async (shown) => (await import('./access.js')).accessCsv(shown),
    json: async (shown) => (await import('./access.js')).accessJson(shown),
    html: async (shown) => (await import('./access.js')).accessHtml(shown),
  },
};

/** `doctor`. */
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

/** A turn of `watch`. */
export const turnReport: Report<ShownTurn> = {
  redact: ({ plan, result, problems, notes, ...turn }, redactor) => ({
    ...turn,
    plan: plan && redactPlan(plan, redactor),
    ...redactReport({ result, problems, notes }, redactor),
  }),
  formats: {
    text: async (turn, look) => (await import('./turn.js')).turnText(turn, look),
    json: async (turn, look) => (await import('./turn.js')).turnJson(turn, look),
  },
};
