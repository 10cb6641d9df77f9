import { escapeText } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { changesServer, type Plan, type Share, summarize } from '../plan/plan.js';
import { type Look, problemsReport, renderText } from '../report/formats.js';
import type { Forge } from '../report/look.js';
import { planComment } from '../report/markdown.js';
import { fence } from '../report/markdown-escape.js';
import { headline } from '../report/review.js';
import type { WorkflowEvent } from './event.js';
import { runAddress } from './places.js';
import { aboutText, type Subject, selectedSentence } from './subject.js';

/** What GitHub takes as a comment or as the body of an issue, in characters. */
export const commentLimit = 65_536;
/** What GitHub takes as the summary of a step, in bytes. */
const summaryLimit = 1_024 * 1_024;
/** What is kept free of it for a result or problems that may follow, in bytes. */
const summaryRest = 200_000;
/** How much is shown of problems, which have no budget of their own. */
const blockRoom = 30_000;

const look: Look = { color: false, debug: false, folder: '' };

/** A plan, and which of its changes are shown. */
export interface SharedPlan {
  readonly plan: Plan;
  readonly only: Share | undefined;
  /** Where its files are shown; undefined where that isn't known. */
  readonly forge: Forge | undefined;
  readonly subject: Subject;
}

/** How a plan is told. */
export interface Telling {
  /** A sentence before it. */
  readonly note?: string;
  /** What is kept free of the comment for others, in characters. */
  readonly taken?: number;
  /** The last line, which says what happens next; it depends on whether the comment shows the whole plan. */
  readonly next?: (isWhole: boolean) => string;
}

/**
 * A plan without secrets, for people, with where it comes from: as long as a comment has room for it. `isWhole` says whether a
 * person who saw it can approve the plan.
 */
export function planText(
  shown: SharedPlan,
  event: WorkflowEvent,
  { note = '', taken = 0, next }: Telling = {},
): { text: string; isWhole: boolean } {
  const end = (whole: boolean): string =>
    next === undefined ? `\n${origin(event)}\n` : `\n${origin(event)} ${page(event)}\n\n${next(whole)}\n`;
  const head = headOf(shown, note);
  const kept = Math.max(end(true).length, end(false).length);
  const { text, isWhole } = fitting(shown, head, (one) => one.length, commentLimit - taken - kept);
  return { text: `${text}${end(isWhole)}`, isWhole };
}

/** Says in a few words why there is no plan. `title` is the heading's, in Markdown. */
export function plainText(title: string, text: string, event: WorkflowEvent): string {
  return `## ${title}\n\n${text}\n\n${origin(event)}\n`;
}

/** A plan for the summary of a step: all of it, as far as GitHub takes it. */
export function planSummary(shown: SharedPlan): string {
  const limit = summaryLimit - summaryRest;
  return fitting(shown, headOf(shown, ''), (text) => Buffer.byteLength(text), limit).text;
}

/** What stands above a plan. */
interface Head {
  readonly title: string;
  readonly intro: string;
}

/** The heading of a plan, and what has to be known of it before it is read. */
function headOf({ plan, subject }: SharedPlan, note: string): Head {
  const { adopt, blocked } = summarize(plan);
  const sentences = [
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

/** Problems as a block that shows them as they are. */
export async function problemsBlock(problems: readonly Problem[], room = blockRoom): Promise<string> {
  return block(await renderText(problemsReport, 'text', problems, look), room);
}

function block(text: string, room: number): string {
  const short = text.length > room ? `${text.slice(0, room)}\n… (the log has all of it)` : text;
  return `${fence(short.trimEnd().split('\n'))}\n`;
}

/** Where a text comes from: the commit, and the run, whose page has the summary. */
export function origin(event: WorkflowEvent): string {
  const commit = escapeText(event.sha).replaceAll('`', '');
  return `<sub>Commit \`${commit}\`, [run with its summary](${runAddress(event)}).</sub>`;
}

/**
 * Leads to the page with the rendered emails. The comment is in the artifact itself, word for word, so it can't name the artifact's own
 * address; the run's page has the artifacts of its last attempt.
 */
function page({ runUrl }: WorkflowEvent): string {
  return `<sub>The plan as a page, with its emails rendered, is in [the artifact of the run](${encodeURI(runUrl)}#artifacts).</sub>`;
}

/** Renders with a smaller budget until it fits: bytes are no characters. */
function fitting(
  { plan, only, forge }: SharedPlan,
  head: Head,
  measure: (text: string) => number,
  limit: number,
): { text: string; isWhole: boolean } {
  const given = { ...(only === undefined ? {} : { only }), ...(forge === undefined ? {} : { forge }) };
  const render = (budget: number) => planComment(plan, { ...look, ...given, ...head, budget });
  let budget = limit;
  let made = render(budget);
  while (measure(made.text) > limit && budget > 1_000) {
    budget = Math.floor(Math.min(budget - 500, (budget * limit) / measure(made.text)));
    made = render(budget);
  }
  return made;
}
