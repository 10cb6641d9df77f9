import { displayWidth, escapeText } from '../base/escape.js';
import type { Progress, Retrying, Stepped } from '../base/progress.js';
import { gistOf } from '../report/alike.js';
import type { Output } from './output.js';

/** What a person watches, and what it knows of the work that is under way. */
export interface Watched extends Required<Progress> {
  /** Says what an interruption waits for. */
  interrupted(): void;
  /** The objects about which requests are under way. */
  inFlight(): readonly string[];
}

export interface ProgressOptions {
  readonly output: Pick<Output, 'message' | 'transient'>;
  /** Whether standard error is a terminal, which takes a bar; elsewhere there are plain lines. */
  readonly terminal: boolean;
  /** How wide the terminal is, where that is known. */
  readonly columns: number | undefined;
  readonly quiet: boolean;
  /** The time in milliseconds. */
  readonly now: () => number;
}

const barWidth = 24;
const leastBar = 8;
/** A terminal needs no more than this, and a fast phase would only flicker. */
const redrawEvery = 80;
/** Smaller phases say in plain lines that they began and ended, and nothing in between. */
const tellingSize = 20;
/** Milliseconds for which a bar speaks of a retry. */
const retryShown = 3_000;
/** Milliseconds and steps from which on an estimate of the end is worth something. */
const estimateAfter = 5_000;
const estimateSteps = 10;

/**
 * Progress on standard error. The bar is drawn here since the one of @clack/prompts takes over the keyboard and
 * leaves the process at Ctrl-C, with requests in flight.
 */
export function createProgress(options: ProgressOptions): Watched {
  return new Watching(
    options.quiet ? silent : options.terminal ? bar(options) : plainLines(options),
    options,
  );
}

/** Whether a bar can be drawn; CI logs keep every drawing, even where they pretend to be a terminal. */
export function drawsBar(
  stderr: { readonly isTTY?: boolean },
  env: { readonly [name: string]: string | undefined },
): boolean {
  return stderr.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

interface Phase {
  readonly name: string;
  readonly total: number;
  readonly began: number;
  done: number;
  skipped: number;
  /** The last retry, and when it was. */
  retry: { readonly again: Retrying; readonly at: number } | undefined;
  /** How many requests were sent again. */
  retries: number;
}

/** How a phase is shown. */
interface View {
  begin(phase: Phase): void;
  step(phase: Phase): void;
  retry(phase: Phase): void;
  end(phase: Phase, how: 'failed' | undefined): void;
}

const silent: View = { begin() {}, step() {}, retry() {}, end() {} };

class Watching implements Watched {
  readonly #view: View;
  readonly #say: (text: string) => void;
  readonly #now: () => number;
  readonly #flying = new Set<string>();
  #phase: Phase | null = null;
  /** The ways in which objects ended badly, and how many after the first. */
  #alike = new Map<string, { readonly how: string; readonly status: string; more: number }>();
  /** How many objects were left out, by the reason without their names; and the reason of the first. */
  #left = new Map<string, { readonly reason: string; count: number }>();

  constructor(view: View, { output, now }: ProgressOptions) {
    this.#view = view;
    this.#say = (text) => output.message(escapeText(text));
    this.#now = now;
  }

  phase(name: string, total: number): void {
    this.#phase = {
      name: escapeText(name),
      total,
      began: this.#now(),
      done: 0,
      skipped: 0,
      retry: undefined,
      retries: 0,
    };
    this.#view.begin(this.#phase);
  }

  begin(address: string): void {
    this.#flying.add(address);
  }

  retry(again: Retrying): void {
    if (this.#phase === null) return;
    this.#phase.retry = { again, at: this.#now() };
    this.#phase.retries += 1;
    this.#view.retry(this.#phase);
  }

  step(made?: Stepped): void {
    if (made !== undefined) this.#flying.delete(made.address);
    const phase = this.#phase;
    if (phase === null) return;
    if (made?.status === 'skipped') {
      phase.skipped += 1;
      const reason = made.error ?? 'not sent';
      const gist = gistOf(made, reason);
      const left = this.#left.get(gist) ?? { reason, count: 0 };
      left.count += 1;
      this.#left.set(gist, left);
    } else {
      phase.done += 1;
      if (made !== undefined && made.status !== 'applied') this.#failed(made);
    }
    this.#view.step(phase);
  }

  end(how?: 'failed'): void {
    const phase = this.#phase;
    this.#phase = null;
    this.#flying.clear();
    if (phase !== null) this.#view.end(phase, how);
    for (const { how, status, more } of this.#alike.values())
      if (more > 0) this.#say(`${markOf(status)} ${more} more ${inWords(status)} alike: ${how}`);
    for (const [gist, { reason, count }] of this.#left)
      this.#say(`- ${count} ${count === 1 ? reason : gist}`);
    this.#alike = new Map();
    this.#left = new Map();
  }

  interrupted(): void {
    const { size } = this.#flying;
    if (size > 0)
      this.#say(`Finishing ${size} in flight; a second Ctrl-C ends at once and leaves them open.`);
    else if (this.#phase !== null) this.#say('Stopping: nothing new is started.');
  }

  inFlight(): readonly string[] {
    return [...this.#flying];
  }

  /** Says what ended badly as it happens; what ends in the same way is counted. */
  #failed(made: Stepped): void {
    const { address, status, error } = made;
    const how = gistOf(made, error ?? status);
    const key = JSON.stringify([status, how]);
    const alike = this.#alike.get(key);
    if (alike !== undefined) {
      alike.more += 1;
      return;
    }
    this.#alike.set(key, { how, status, more: 0 });
    this.#say(`${markOf(status)} ${address} ${inWords(status)}${error === null ? '' : `: ${error}`}`);
  }
}

/** What isn't known has not failed. */
function markOf(status: string): string {
  return status === 'unknown' ? '?' : '✗';
}

function inWords(status: string): string {
  return status.replace('_', ' ');
}

function retryText({ attempt, of, why }: Retrying): string {
  return `retrying, attempt ${attempt} of ${of}: ${why}`;
}

/** When a phase may be over, in words; undefined where that can't be told yet. */
function estimate({ began, done, skipped, total }: Phase, now: number): string | undefined {
  const elapsed = now - began;
  const through = done + skipped;
  if (elapsed < estimateAfter || through < estimateSteps || through >= total) return undefined;
  const seconds = Math.ceil(((elapsed / through) * (total - through)) / 1000);
  return seconds < 90 ? `about ${seconds} s left` : `about ${Math.round(seconds / 60)} min left`;
}

function bar(options: ProgressOptions): View {
  const { output, now } = options;
  let drawn = 0;
  const draw = (phase: Phase): void => {
    const { name, total, done, skipped, retry } = phase;
    drawn = now();
    const isRetrying = retry !== undefined && drawn - retry.at < retryShown;
    const more = isRetrying ? retryText(retry.again) : estimate(phase, drawn);
    const words = ` ${done}/${total} ${name}${more === undefined ? '' : ` · ${more}`}`;
    const room = (options.columns || 80) - 1;
    // The bar makes room for the words.
    const width = Math.min(barWidth, Math.max(leastBar, room - displayWidth(words)));
    const filled = total === 0 ? width : Math.floor((Math.min(done + skipped, total) / total) * width);
    const line = `${'━'.repeat(filled)}${'─'.repeat(width - filled)}${words}`;
    // A line that wraps couldn't be erased.
    output.transient(cutTo(line, room));
  };
  return {
    begin: draw,
    step: (phase) => {
      if (phase.done + phase.skipped >= phase.total || now() - drawn >= redrawEvery) draw(phase);
    },
    retry: (phase) => {
      if (now() - drawn >= redrawEvery || phase.retries === 1) draw(phase);
    },
    end: () => output.transient(null),
  };
}

/** The beginning of a line that fits. */
function cutTo(line: string, columns: number): string {
  let width = 0;
  let shown = '';
  for (const character of line) {
    width += displayWidth(character);
    if (width > columns) break;
    shown += character;
  }
  return shown;
}

function plainLines({ output }: ProgressOptions): View {
  const said = new Set<string>();
  const tell = ({ name, total, done }: Phase): void => output.message(`${name}: ${done}/${total}`);
  return {
    begin: (phase) => {
      said.clear();
      tell(phase);
    },
    step: (phase) => {
      const { done, total } = phase;
      const tenth = (steps: number): number => Math.floor((steps * 10) / total);
      if (total >= tellingSize && done < total && tenth(done) > tenth(done - 1)) tell(phase);
    },
    retry: ({ name, retry }) => {
      // A log keeps each line: one for each reason says enough.
      if (retry === undefined || said.has(retry.again.why)) return;
      said.add(retry.again.why);
      output.message(`${name}: ${retryText(retry.again)}`);
    },
    end: (phase, how) => {
      const { name, total, done, retries } = phase;
      if (how === 'failed') output.message(`${name}: stopped after ${done} of ${total}`);
      else if (done > 0) tell(phase);
      if (retries > 1) output.message(`${name}: ${retries} requests were sent again`);
    },
  };
}
