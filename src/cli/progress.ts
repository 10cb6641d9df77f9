import { escapeText } from '../base/escape.js';
import type { Progress, Stepped } from '../base/progress.js';
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
  /** The time in milliseconds. */
  readonly now: () => number;
}

const barWidth = 24;
/** A terminal needs no more than this, and a fast phase would only flicker. */
const redrawEvery = 80;
/** Smaller phases say in plain lines that they began and ended, and nothing in between. */
const tellingSize = 20;

interface Phase {
  readonly name: string;
  readonly total: number;
  done: number;
  skipped: number;
  drawn: number;
  /** The reasons for retries that were told. */
  readonly retries: Set<string>;
}

/**
 * Progress on standard error. The bar is drawn here since the one of @clack/prompts takes over the keyboard and
 * leaves the process at Ctrl-C, with requests in flight.
 */
export function createProgress({ output, terminal, now }: ProgressOptions): Watched {
  const flying = new Set<string>();
  let phase: Phase | null = null;
  /** The reasons for retries that were told between phases. */
  const outside = new Set<string>();
  /** The ways in which objects ended badly, and how many did. */
  let bad = new Map<string, { readonly status: string; readonly how: string; count: number }>();

  const say = (text: string): void => output.message(escapeText(text));
  const tell = ({ name, done, total }: Phase): void => say(`${name}: ${done}/${total}`);
  const draw = (shown: Phase): void => {
    const { name, total, done, skipped } = shown;
    shown.drawn = now();
    const filled = total === 0 ? barWidth : Math.floor((Math.min(done + skipped, total) / total) * barWidth);
    const line = `${'━'.repeat(filled)}${'─'.repeat(barWidth - filled)} ${done}/${total} ${name}`;
    output.transient(escapeText(line));
  };
  /** Says what ended badly as it happens; what ends in the same way is counted, and so is what was not sent. */
  const count = (made: Stepped): void => {
    const { address, status, error } = made;
    const how = gistOf(made, error ?? status);
    const key = JSON.stringify([status, how]);
    const alike = bad.get(key) ?? { status, how, count: 0 };
    alike.count += 1;
    bad.set(key, alike);
    if (status === 'skipped' || alike.count > 1) return;
    say(`${markOf(status)} ${address} ${inWords(status)}${error === null ? '' : `: ${error}`}`);
  };

  return {
    phase(name, total) {
      phase = { name, total, done: 0, skipped: 0, drawn: 0, retries: new Set() };
      if (terminal) draw(phase);
      else tell(phase);
    },
    begin: (address) => void flying.add(address),
    retry({ attempt, of, why, wait }) {
      // One line for each reason says enough.
      const { name, retries } = phase ?? { name: null, retries: outside };
      if (retries.has(why)) return;
      retries.add(why);
      const when = wait === undefined ? '' : ` in ${Math.ceil(wait)} s`;
      say(`${name === null ? 'Retrying' : `${name}: retrying`}${when}, attempt ${attempt} of ${of}: ${why}`);
    },
    step(made) {
      if (made !== undefined) flying.delete(made.address);
      if (phase === null) return;
      if (made?.status === 'skipped') phase.skipped += 1;
      else phase.done += 1;
      if (made !== undefined && made.status !== 'applied') count(made);
      const { done, skipped, total, drawn } = phase;
      const tenth = (steps: number): number => Math.floor((steps * 10) / total);
      if (terminal) {
        if (done + skipped >= total || now() - drawn >= redrawEvery) draw(phase);
      } else if (total >= tellingSize && done < total && tenth(done) > tenth(done - 1)) tell(phase);
    },
    end(how) {
      const ended = phase;
      phase = null;
      flying.clear();
      if (terminal) output.transient(null);
      else if (ended !== null && how === 'failed')
        say(`${ended.name}: stopped after ${ended.done} of ${ended.total}`);
      else if (ended !== null && ended.done > 0) tell(ended);
      for (const { status, how: way, count: all } of bad.values()) {
        if (status === 'skipped') say(`- ${all} ${way}`);
        else if (all > 1) say(`${markOf(status)} ${all - 1} more ${inWords(status)} alike: ${way}`);
      }
      bad = new Map();
    },
    interrupted() {
      const { size } = flying;
      if (size > 0) say(`Finishing ${size} in flight; a second Ctrl-C ends at once and leaves them open.`);
      else if (phase !== null) say('Stopping: nothing new is started.');
    },
    inFlight: () => [...flying],
  };
}

/** Whether a bar can be drawn; CI logs keep every drawing, even where they pretend to be a terminal. */
export function drawsBar(
  stderr: { readonly isTTY?: boolean },
  env: { readonly [name: string]: string | undefined },
): boolean {
  return stderr.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

/** What isn't known has not failed. */
function markOf(status: string): string {
  return status === 'unknown' ? '?' : '✗';
}

function inWords(status: string): string {
  return status.replace('_', ' ');
}
