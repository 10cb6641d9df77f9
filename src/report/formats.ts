import type { Pruning } from '../apply/prune.js';
import type { Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import type { NamedSample } from '../mail/samples.js';
import type { Plan } from '../plan/plan.js';
import { redactReport } from '../secrets/redact-report.js';
import type { Redactor } from '../secrets/redactor.js';
import type { ShownAccess } from './access.js';
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
  readonly formats: { readonly [format: string]: () => Promise<(shown: T, look: Look) => string | object> };
}

export function formatNames<T>({ formats }: Report<T>): string[] {
  return Object.keys(formats);
}

/** Renders something that is redacted. Throws a TypeError for an unknown format. */
export async function render<T>(report: Report<T>, format: string, shown: T, look: Look): Promise<Rendering> {
  const make = await report.formats[format]?.();
  if (make === undefined) throw new TypeError(`there is no ${format} of it`);
  const made = make(shown, look);
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

/** Adapts a report of a plan alone. */
const ofPlan =
  <R>(make: (plan: Plan, look: Look) => R) =>
  ({ plan }: ShownPlan, look: Look): R =>
    make(plan, look);

/** `plan`. */
export const planReport: Report<ShownPlan> = {
  redact: ({ plan, samples }, redactor) => ({
    plan: redactPlan(plan, redactor),
    ...redactReport(samples === undefined ? {} : { samples }, redactor),
  }),
  formats: {
    text: async () => ofPlan((await import('./text.js')).planText),
    json: async () => ofPlan((await import('./json.js')).planJson),
    markdown: async () => ofPlan((await import('./markdown.js')).planMarkdown),
    async html() {
      const { planHtml } = await import('./html.js');
      return ({ plan, samples = new Map() }, look) => planHtml(plan, { ...look, samples });
    },
    github: async () => ofPlan((await import('./github.js')).planGithub),
    gitlab: async () => ofPlan((await import('./json.js')).planGitlab),
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
    async text() {
      const { resultText } = await import('./result-text.js');
      // If there was nothing to do, the plan says so.
      return ({ result }, look) => (result.run === null ? '' : resultText(result, look));
    },
    async json() {
      const { resultJson } = await import('./json.js');
      return ({ result }) => resultJson(result);
    },
    async markdown() {
      const { resultMarkdown } = await import('./result-markdown.js');
      return ({ result }, look) => resultMarkdown(result, look);
    },
    async html() {
      const { resultHtml } = await import('./result-page.js');
      return ({ result, plan, samples = new Map() }, look) => resultHtml(result, plan, { ...look, samples });
    },
    async github() {
      const { resultGithub } = await import('./github.js');
      return ({ result, plan }, look) => resultGithub(result, plan, look);
    },
  },
};

/** Problems, such as those of `validateProject`. */
export const problemsReport: Report<readonly Problem[]> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./problems.js')).problemsText,
    json: async () => (await import('./json.js')).problemsJson,
    github: async () => (await import('./github.js')).problemsGithub,
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
    async text() {
      const { validText } = await import('./problems.js');
      return ({ problems, objects }) =>
        problems.some(({ severity }) => severity === 'error') ? '' : `${validText(objects)}.\n`;
    },
    async json() {
      const { problemsJson } = await import('./json.js');
      return ({ problems }) => problemsJson(problems);
    },
    async github() {
      const { problemsGithub } = await import('./github.js');
      return ({ problems }, look) => problemsGithub(problems, look);
    },
  },
};

/** `runs list`. */
export const runsReport: Report<ShownRuns> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./runs.js')).runsText,
    json: async () => (await import('./runs.js')).runsJson,
  },
};

/** `runs show`. */
export const runReport: Report<PastRun> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./runs.js')).runText,
    json: async () => (await import('./runs.js')).runJson,
  },
};

/** `runs --address`. */
export const historyReport: Report<History> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./history.js')).historyText,
    json: async () => (await import('./history.js')).historyJson,
  },
};

/** `state show`; undefined if there is no state. */
export const stateReport: Report<ShownState | undefined> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./recorded.js')).stateText,
    json: async () => (await import('./recorded.js')).stateJson,
  },
};

/** `runs prune`. */
export const pruningReport: Report<Pruning> = {
  // Runs, commands and times contain no secrets.
  redact: (pruning) => pruning,
  formats: {
    text: async () => (await import('./runs.js')).pruningText,
    json: async () => (await import('./runs.js')).pruningJson,
  },
};

/** `pull`. */
export const pullReport: Report<ShownPull> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./pull.js')).pullText,
    json: async () => (await import('./pull.js')).pullJson,
  },
};

/** `list`. */
export const listReport: Report<ShownListing> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./pull.js')).listText,
    json: async () => (await import('./pull.js')).listJson,
  },
};

/** `access`. */
export const accessReport: Report<ShownAccess> = {
  redact: redactReport,
  formats: {
    text: async () => (await import('./access.js')).accessText,
    csv: async () => (await import('./access.js')).accessCsv,
    json: async () => (await import('./access.js')).accessJson,
    html: async () => (await import('./access.js')).accessHtml,
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
    text: async () => (await import('./diagnosis.js')).diagnosisText,
    json: async () => (await import('./diagnosis.js')).diagnosisJson,
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
    text: async () => (await import('./turn.js')).turnText,
    json: async () => (await import('./turn.js')).turnJson,
  },
};
