import type { PastRun } from '../apply/history.js';
import type { Pruning } from '../apply/prune.js';
import type { Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { NamedSample } from '../mail/samples.js';
import type { Plan } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import type { Diagnosed } from './diagnosis.js';
import type { Forge } from './forge.js';
import type { History } from './history.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';
import {
  redactHistory,
  redactListing,
  redactPlan,
  redactProblems,
  redactPull,
  redactResult,
  redactRun,
  redactSamples,
  redactState,
} from './redacted.js';
import type { ShownTurn } from './turn.js';

/*
 * Everything that can be shown, and the formats that there are of it. The command and the action know no others; what a format
 * is made with is loaded when it is asked for.
 */

/** How something is to look. */
export interface Look {
  /** With the escape sequences of a terminal's colours. */
  readonly color: boolean;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Where idops was started, from the root of the repository that annotations are for; empty where it was there. */
  readonly folder: string;
  /** How wide the terminal is that text is for; left out where there is none. */
  readonly columns?: number;
  /** Whether a plan was made before, and says when. */
  readonly stored?: boolean;
  /** Which changes of a plan are shown; all where it isn't given. */
  readonly only?: Share;
  /** How many characters Markdown may have at most; as many as a comment takes where it isn't given. */
  readonly budget?: number;
  /** Where Markdown leads to files; nowhere where it isn't given. */
  readonly forge?: Forge;
  /** What a heading in Markdown says; its own words where it isn't given. */
  readonly title?: string;
  /** What is said below the heading of a plan or of a result in Markdown. */
  readonly intro?: string;
}

/** Something in a format: JSON as a value, which is laid out otherwise in a file. */
export type Rendering = { readonly text: string } | { readonly json: unknown };

export type Renderer<T> = (shown: T, look: Look) => Rendering;

/** Something that can be shown. */
export interface Report<T> {
  /** Takes out the secrets; to be done before it is rendered. */
  redact(shown: T, redactor: Redactor): T;
  /** How it is shown in each format, by its name. */
  readonly formats: { readonly [format: string]: () => Promise<Renderer<T>> };
}

/** The names of the formats that there are of something. */
export function formatNames<T>({ formats }: Report<T>): string[] {
  return Object.keys(formats);
}

/** Shows something that is without secrets already. Throws a TypeError for a format that there is not of it. */
export async function render<T>(report: Report<T>, format: string, shown: T, look: Look): Promise<Rendering> {
  const renderer = await report.formats[format]?.();
  if (renderer === undefined) throw new TypeError(`there is no ${format} of it`);
  return renderer(shown, look);
}

/** The same for a format that is text. */
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

/** What a formatting function gives, as text. */
const asText =
  <T>(write: (shown: T, look: Look) => string): Renderer<T> =>
  (shown, look) => ({ text: write(shown, look) });

/** The same, as JSON. */
const asJson =
  <T>(make: (shown: T, look: Look) => unknown): Renderer<T> =>
  (shown, look) => ({ json: make(shown, look) });

/** A plan, and what its emails are rendered with, which a page alone shows. */
export interface ShownPlan {
  /** The plan. */
  readonly plan: Plan;
  /** By the template's address, as `planSamples` reads them; made up if left out. */
  readonly samples?: ReadonlyMap<string, readonly NamedSample[]>;
}

/** `plan`. */
export const planReport: Report<ShownPlan> = {
  redact: ({ plan, samples }, redactor) => ({
    plan: redactPlan(plan, redactor),
    ...(samples === undefined ? {} : { samples: redactSamples(samples, redactor) }),
  }),
  formats: {
    async text() {
      const { planText } = await import('./text.js');
      return asText(({ plan }, look) => planText(plan, look));
    },
    async json() {
      const { planJson } = await import('./json.js');
      return asJson(({ plan }, look) => planJson(plan, look));
    },
    async markdown() {
      const { planMarkdown } = await import('./markdown.js');
      return asText(({ plan }, look) => planMarkdown(plan, look));
    },
    async html() {
      const { planHtml } = await import('./html.js');
      return asText(({ plan, samples = new Map() }, look) => planHtml(plan, { ...look, samples }));
    },
    async github() {
      const { planGithub } = await import('./github.js');
      return asText(({ plan }, look) => planGithub(plan, look));
    },
    async gitlab() {
      const { planGitlab } = await import('./gitlab.js');
      return asJson(({ plan }) => planGitlab(plan));
    },
  },
};

/** What a run did, and the plan that it followed, which says where things are declared. */
export interface ShownResult {
  /** The result. */
  readonly result: Result;
  /** The plan that was applied. */
  readonly plan: Plan;
  /** What its emails are rendered with, which a page alone shows; made up where it isn't there. */
  readonly samples?: ReadonlyMap<string, readonly NamedSample[]>;
}

/** `apply`, `undo` and `regenerate-did`. */
export const resultReport: Report<ShownResult> = {
  redact: ({ result, plan, samples }, redactor) => ({
    result: redactResult(result, redactor),
    plan: redactPlan(plan, redactor),
    ...(samples === undefined ? {} : { samples: redactSamples(samples, redactor) }),
  }),
  formats: {
    async text() {
      const { resultText } = await import('./result-text.js');
      // Where there was nothing to do, the plan has said so.
      return asText(({ result }, look) => (result.run === null ? '' : resultText(result, look)));
    },
    async json() {
      const { resultJson } = await import('./json.js');
      return asJson(({ result }) => resultJson(result));
    },
    async markdown() {
      const { resultMarkdown } = await import('./results.js');
      return asText(({ result }, { budget, title, intro }) =>
        resultMarkdown(result, {
          ...(budget === undefined ? {} : { budget }),
          ...(title === undefined ? {} : { title }),
          ...(intro === undefined ? {} : { intro }),
        }),
      );
    },
    async html() {
      const { resultHtml } = await import('./result-page.js');
      return asText(({ result, plan, samples = new Map() }, { debug }) =>
        resultHtml(result, { plan, samples, debug }),
      );
    },
    async github() {
      const { resultGithub } = await import('./github.js');
      return asText(({ result, plan }, { folder }) => resultGithub(result, plan, { folder }));
    },
  },
};

/** What went wrong, beside whatever else is shown. */
export const problemsReport: Report<readonly Problem[]> = {
  redact: redactProblems,
  formats: {
    async text() {
      const { problemsText } = await import('./problems.js');
      return asText((problems, look) => problemsText(problems, look));
    },
    async json() {
      const { problemsJson } = await import('./json.js');
      return asJson(problemsJson);
    },
    async github() {
      const { problemsGithub } = await import('./github.js');
      return asText((problems, { folder }) => problemsGithub(problems, { folder }));
    },
  },
};

/** What is wrong with a project, and how many documents are fine. */
export interface ShownValidation {
  readonly problems: readonly Problem[];
  readonly objects: number;
}

/** `validate`, which tells people its problems beside the result. */
export const validationReport: Report<ShownValidation> = {
  redact: ({ problems, objects }, redactor) => ({ problems: redactProblems(problems, redactor), objects }),
  formats: {
    async text() {
      const { validText } = await import('./problems.js');
      return asText(({ problems, objects }) =>
        problems.some(({ severity }) => severity === 'error') ? '' : `${validText(objects)}.\n`,
      );
    },
    async json() {
      const { problemsJson } = await import('./json.js');
      return asJson(({ problems }) => problemsJson(problems));
    },
    async github() {
      const { problemsGithub } = await import('./github.js');
      return asText(({ problems }, { folder }) => problemsGithub(problems, { folder }));
    },
  },
};

/** Runs of the past; `all` says that none was left out since its journal can't be read. */
export interface ShownRuns {
  readonly runs: readonly PastRun[];
  readonly all: boolean;
}

/** `runs list`. */
export const runsReport: Report<ShownRuns> = {
  redact: ({ runs, all }, redactor) => ({ runs: runs.map((run) => redactRun(run, redactor)), all }),
  formats: {
    async text() {
      const { runsText } = await import('./runs.js');
      return asText(({ runs, all }, look) => runsText(runs, all, look));
    },
    async json() {
      const { runsJson } = await import('./runs.js');
      return asJson(({ runs }) => runsJson(runs));
    },
  },
};

/** `runs show`. */
export const runReport: Report<PastRun> = {
  redact: redactRun,
  formats: {
    async text() {
      const { runText } = await import('./runs.js');
      return asText(runText);
    },
    async json() {
      const { runJson } = await import('./runs.js');
      return asJson(runJson);
    },
  },
};

/** `runs --address`. */
export const historyReport: Report<History> = {
  redact: redactHistory,
  formats: {
    async text() {
      const { historyText } = await import('./history.js');
      return asText(historyText);
    },
    async json() {
      const { historyJson } = await import('./history.js');
      return asJson(historyJson);
    },
  },
};

/** `state show`; undefined where there is no state yet. */
export const stateReport: Report<ShownState | undefined> = {
  redact: (state, redactor) => state && redactState(state, redactor),
  formats: {
    async text() {
      const { stateText } = await import('./recorded.js');
      return asText(stateText);
    },
    async json() {
      const { stateJson } = await import('./recorded.js');
      return asJson(stateJson);
    },
  },
};

/** `runs prune`. */
export const pruningReport: Report<Pruning> = {
  // Names of runs, commands and times are idops' own words.
  redact: (pruning) => pruning,
  formats: {
    async text() {
      const { pruningText } = await import('./pruning.js');
      return asText(pruningText);
    },
    async json() {
      const { pruningJson } = await import('./pruning.js');
      return asJson(pruningJson);
    },
  },
};

/** `pull`. */
export const pullReport: Report<ShownPull> = {
  redact: redactPull,
  formats: {
    async text() {
      const { pullText } = await import('./pull.js');
      return asText(pullText);
    },
    async json() {
      const { pullJson } = await import('./pull.js');
      return asJson(pullJson);
    },
  },
};

/** `list`. */
export const listReport: Report<ShownListing> = {
  redact: redactListing,
  formats: {
    async text() {
      const { listText } = await import('./pull.js');
      return asText(listText);
    },
    async json() {
      const { listJson } = await import('./pull.js');
      return asJson(listJson);
    },
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
    async text() {
      const { diagnosisText } = await import('./diagnosis.js');
      return asText(diagnosisText);
    },
    async json() {
      const { diagnosisJson } = await import('./diagnosis.js');
      return asJson(diagnosisJson);
    },
  },
};

/** A turn of `watch`. */
export const turnReport: Report<ShownTurn> = {
  redact: ({ plan, result, problems, notes, ...turn }, redactor) => ({
    ...turn,
    plan: plan && redactPlan(plan, redactor),
    result: result && redactResult(result, redactor),
    problems: redactProblems(problems, redactor),
    notes: notes.map(redactor.redactSentence),
  }),
  formats: {
    async text() {
      const { turnText } = await import('./turn.js');
      return asText(turnText);
    },
    async json() {
      const { turnJson } = await import('./turn.js');
      return asJson(turnJson);
    },
  },
};
