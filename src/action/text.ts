import { escapeText } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { withoutUndefined } from '../base/values.js';
import { changesServer, type Plan, type Share, summarize } from '../plan/plan.js';
import { problemsReport, type RenderOptions, renderText } from '../report/formats.js';
import { planComment } from '../report/markdown.js';
import { fence } from '../report/markdown-escape.js';
import type { Forge } from '../report/render-options.js';
import { headline } from '../report/review.js';
import type { WorkflowEvent } from './event.js';
import { runAddress } from './places.js';
import { aboutText, type Subject, selectedSentence } from './subject.js';

/** GitHub's limit for a comment or the body of an issue, in characters. */
export const commentLimit = 65_536;
/** GitHub's limit for the summary of a step, in bytes. */
const summaryLimit = 1_024 * 1_024;
/** The part of it that is reserved for a result or problems, in bytes. */
const summaryRest = 200_000;
/** The characters that are shown of problems. */
const blockRoom = 30_000;

const renderOptions: RenderOptions = { color: false, debug: false, folder: '' };

/** A plan, and what is shown of it. */
export interface SharedPlan {
  readonly plan: Plan;
  readonly only: Share | undefined;
  /** The forge that shows its files; undefined if unknown. */
  readonly forge: Forge | undefined;
  readonly subject: Subject;
  /** What must be said before anything else, in Markdown; may be empty. */
  readonly note: string;
}

/** What a text has besides the plan. */
export interface TextOptions {
  /** A sentence before it. */
  readonly note?: string;
  /** The reserved part of the comment, in characters. */
  readonly taken?: number;
  /** The last line, which says what happens next. It depends on whether the comment shows the whole plan. */
  readonly next?: (isWhole: boolean) => string;
}

/**
 * A redacted plan with its origin, as much as a comment has room for. `isWhole` says whether it shows everything, so that a reader can
 * approve the plan.
 */
export function planText(
  shown: SharedPlan,
  event: WorkflowEvent,
  { note = '', taken = 0, next }: TextOptions = {},
): { text: string; isWhole: boolean } {
  const end = (whole: boolean): string =>
    next === undefined ? `\n${origin(event)}\n` : `\n${origin(event)} ${page(event)}\n\n${next(whole)}\n`;
  const head = headOf(shown, note);
  const kept = Math.max(end(true).length, end(false).length);
  const { text, isWhole } = fitting(shown, head, (one) => one.length, commentLimit - taken - kept);
  return { text: `${text}${end(isWhole)}`, isWhole };
}

/** A short text without a plan. `title` is Markdown. */
export function plainText(title: string, text: string, event: WorkflowEvent): string {
  return `## ${title}\n\n${text}\n\n${origin(event)}\n`;
}

/** A plan for the summary of a step, as much as GitHub's limit allows. */
export function planSummary(shown: SharedPlan): string {
  const limit = summaryLimit - summaryRest;
  return fitting(shown, headOf(shown, ''), (text) => Buffer.byteLength(text), limit).text;
}

/** The text above a plan. */
interface Head {
  readonly title: string;
  readonly intro: string;
}

/** The heading of a plan, and what a reader must know first. */
function headOf({ plan, subject, note: before }: SharedPlan, note: string): Head {
  const { adopt, blocked } = summarize(plan);
  const sentences = [
    before,
    note,
    blocked > 0 ? 'What is blocked can not be done as things are, and `apply` refuses the whole plan.' : '',
    adopt > 0 && blocked === 0 && !changesServer(plan)
      ? 'What is to be adopted is only recorded: nothing is sent to the server.'
      : '',
    selectedSentence(subject),
  ];
  return {
    title: `${aboutText('idops plan', subject)}: ${headline(plan)}`,
    intro: sentences.filter((sentence) => sentence !== '').join(' '),
  };
}

/** Problems as a fenced block. */
export async function problemsBlock(problems: readonly Problem[], room = blockRoom): Promise<string> {
  return block(await renderText(problemsReport, 'text', problems, renderOptions), room);
}

function block(text: string, room: number): string {
  const short = text.length > room ? `${text.slice(0, room)}\n… (the log has all of it)` : text;
  return `${fence(short.trimEnd().split('\n'))}\n`;
}

/** The origin of a text: the commit, and the run with its summary. */
export function origin(event: WorkflowEvent): string {
  const commit = escapeText(event.sha).replaceAll('`', '');
  return `<sub>Commit \`${commit}\`, [run with its summary](${runAddress(event)}).</sub>`;
}

/**
 * A link to the page with the rendered emails. The artifact contains this text, so the text can't have the artifact's own address; the page
 * of the run lists the artifacts.
 */
function page({ runUrl }: WorkflowEvent): string {
  return `<sub>The plan as a page, with its emails rendered, is in [the artifact of the run](${encodeURI(runUrl)}#artifacts).</sub>`;
}

/** Renders with a smaller budget until the text fits, since bytes aren't characters. */
function fitting(
  { plan, only, forge }: SharedPlan,
  head: Head,
  measure: (text: string) => number,
  limit: number,
): { text: string; isWhole: boolean } {
  const given = withoutUndefined({ only, forge });
  const render = (budget: number) => planComment(plan, { ...renderOptions, ...given, ...head, budget });
  let budget = limit;
  let made = render(budget);
  while (measure(made.text) > limit && budget > 1_000) {
    budget = Math.floor(Math.min(budget - 500, (budget * limit) / measure(made.text)));
    made = render(budget);
  }
  return made;
}
