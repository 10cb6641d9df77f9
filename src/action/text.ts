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
import { headingOf, type Subject, selectionSentence } from './subject.js';
import { attemptUrl } from './workspace.js';

/** GitHub's limit for a comment or the body of an issue, in characters. */
export const commentLimit = 65_536;
/** GitHub's limit for the summary of a step, in bytes. */
const summaryLimit = 1_024 * 1_024;
/** The part of the summary that is reserved for a result or problems, in bytes. */
const summaryReserve = 200_000;
/** The maximum length of problems, in characters. */
const maxProblemsLength = 30_000;

const renderOptions: RenderOptions = { color: false, debug: false, folder: '' };

/** A redacted plan for comments, issues and summaries. */
export interface PostedPlan {
  readonly plan: Plan;
  readonly only: Share | undefined;
  /** The forge that shows the files of the commit; undefined if unknown. */
  readonly forge: Forge | undefined;
  readonly subject: Subject;
  /** The first sentence, in Markdown; may be empty. */
  readonly note: string;
}

/** What a text contains in addition to the plan. */
export interface PlanTextOptions {
  /** A sentence before the plan. */
  readonly note?: string;
  /** The characters of the comment that are reserved for other text. */
  readonly reserved?: number;
  /** The last line, which says what happens after the merge; `isWhole`: the comment shows the whole plan. */
  readonly next?: (isWhole: boolean) => string;
}

/**
 * A plan with its origin, shortened to fit into a comment. `isWhole` says whether it shows everything, so that a reader can approve the
 * plan.
 */
export function planText(
  shown: PostedPlan,
  event: WorkflowEvent,
  { note = '', reserved = 0, next }: PlanTextOptions = {},
): { text: string; isWhole: boolean } {
  const end = (isWhole: boolean): string =>
    next === undefined
      ? `\n${originLine(event)}\n`
      : `\n${originLine(event)} ${artifactLine(event)}\n\n${next(isWhole)}\n`;
  const head = titleAndIntro(shown, note);
  const endLength = Math.max(end(true).length, end(false).length);
  const { text, isWhole } = renderWithin(
    shown,
    head,
    ({ length }) => length,
    commentLimit - reserved - endLength,
  );
  return { text: `${text}${end(isWhole)}`, isWhole };
}

/** A short text without a plan. `title` is Markdown. */
export function plainText(title: string, text: string, event: WorkflowEvent): string {
  return `## ${title}\n\n${text}\n\n${originLine(event)}\n`;
}

/** A plan for the summary of a step, shortened to GitHub's limit. */
export function planSummary(shown: PostedPlan): string {
  const limit = summaryLimit - summaryReserve;
  return renderWithin(shown, titleAndIntro(shown, ''), (text) => Buffer.byteLength(text), limit).text;
}

/** The text above a plan. */
interface TitleAndIntro {
  readonly title: string;
  readonly intro: string;
}

/** The heading of a plan, and what a reader must know first. */
function titleAndIntro({ plan, subject, note: before }: PostedPlan, note: string): TitleAndIntro {
  const { adopt, blocked } = summarize(plan);
  const sentences = [
    before,
    note,
    blocked > 0
      ? "Blocked changes can't be made now, and `apply` refuses the whole plan because of them."
      : '',
    adopt > 0 && blocked === 0 && !changesServer(plan)
      ? 'Adopted objects are only recorded: nothing is sent to the server.'
      : '',
    selectionSentence(subject),
  ];
  return {
    title: `${headingOf('idops plan', subject)}: ${headline(plan)}`,
    intro: sentences.filter((sentence) => sentence !== '').join(' '),
  };
}

/** Problems as a fenced block of at most `maxLength` characters. */
export async function problemsBlock(
  problems: readonly Problem[],
  maxLength = maxProblemsLength,
): Promise<string> {
  const text = await renderText(problemsReport, 'text', problems, renderOptions);
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}\n… (the log has all of it)` : text;
  return `${fence(short.trimEnd().split('\n'))}\n`;
}

/** Where a text comes from: the commit, and a link to the run with its summary. */
export function originLine(event: WorkflowEvent): string {
  const commit = escapeText(event.headSha).replaceAll('`', '');
  return `<sub>Commit \`${commit}\`, [run with its summary](${attemptUrl(event)}).</sub>`;
}

/** A link to the artifacts of the run. The artifact contains this text, so the text can't contain the address of the artifact. */
function artifactLine({ runUrl }: WorkflowEvent): string {
  return `<sub>The plan as a page, with its emails rendered, is in [the artifact of the run](${encodeURI(runUrl)}#artifacts).</sub>`;
}

/** Renders with smaller budgets until the text fits: a budget is in characters, and `measure` may count bytes. */
function renderWithin(
  { plan, only, forge }: PostedPlan,
  head: TitleAndIntro,
  measure: (text: string) => number,
  limit: number,
): { text: string; isWhole: boolean } {
  const given = withoutUndefined({ only, forge });
  const render = (budget: number) => planComment(plan, { ...renderOptions, ...given, ...head, budget });
  let budget = limit;
  let comment = render(budget);
  while (measure(comment.text) > limit && budget > 1_000) {
    budget = Math.floor(Math.min(budget - 500, (budget * limit) / measure(comment.text)));
    comment = render(budget);
  }
  return comment;
}
