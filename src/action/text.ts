import { escapeText } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import type { Share } from '../plan/drift.js';
import type { Plan } from '../plan/plan.js';
import type { Forge } from '../report/forge.js';
import { type Look, planReport, problemsReport, renderText } from '../report/formats.js';
import { fence } from '../report/marked.js';
import type { WorkflowEvent } from './event.js';

/** What GitHub takes as a comment or as the body of an issue. */
const commentLimit = 65_536;
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
}

/** A plan without secrets under a first line of its own, as a comment: never longer than GitHub takes. */
export async function planComment(
  first: string,
  shown: SharedPlan,
  event: WorkflowEvent,
  intro = '',
): Promise<string> {
  const end = `\n${origin(event)}\n`;
  const start = `${first}\n${intro}`;
  const markdown = await fitting(shown, (text) => text.length, commentLimit - start.length - end.length);
  return `${start}${markdown}${end}`;
}

/** A comment that says in one paragraph why it shows no plan. */
export function plainComment(first: string, title: string, text: string, event: WorkflowEvent): string {
  return `${first}\n## idops plan: ${title}\n\n${text}\n\n${origin(event)}\n`;
}

/** A plan for the summary of a step: all of it, as far as GitHub takes it. */
export async function planSummary(shown: SharedPlan): Promise<string> {
  return await fitting(shown, (text) => Buffer.byteLength(text), summaryLimit - summaryRest);
}

/** Problems as a block that shows them as they are. */
export async function problemsBlock(problems: readonly Problem[]): Promise<string> {
  return block(await renderText(problemsReport, 'text', problems, look));
}

function block(text: string): string {
  const short = text.length > blockRoom ? `${text.slice(0, blockRoom)}\n… (the log has all of it)` : text;
  return `${fence(short.trimEnd().split('\n'))}\n`;
}

function origin({ sha, runUrl }: WorkflowEvent): string {
  return `<sub>Commit \`${escapeText(sha).replaceAll('`', '')}\`, [run](${encodeURI(runUrl)}).</sub>`;
}

/** Renders with a smaller budget until it fits: bytes are no characters. */
async function fitting(
  { plan, only, forge }: SharedPlan,
  measure: (text: string) => number,
  limit: number,
): Promise<string> {
  const given = { ...(only === undefined ? {} : { only }), ...(forge === undefined ? {} : { forge }) };
  const render = (budget: number): Promise<string> =>
    renderText(planReport, 'markdown', { plan, samples: new Map() }, { ...look, ...given, budget });
  let budget = limit;
  let text = await render(budget);
  while (measure(text) > limit && budget > 1_000) {
    budget = Math.floor(Math.min(budget - 500, (budget * limit) / measure(text)));
    text = await render(budget);
  }
  return text;
}
