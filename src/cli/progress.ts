import { statusWords } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Progress, StepResult } from '../base/progress.js';
import { commonMessage } from '../report/group-equal.js';
import type { Output } from './output.js';

export interface ProgressOptions {
  readonly output: Pick<Output, 'message' | 'transient'>;
  readonly terminal: boolean;
  /** In milliseconds. */
  readonly now: () => number;
}

const barWidth = 24;
/** Milliseconds between two drawings. */
const redrawEvery = 80;
/** Smaller phases print only their start and end. */
const smallestCounted = 20;

interface Phase {
  readonly name: string;
  readonly total: number;
  done: number;
  skipped: number;
  drawn: number;
  readonly retries: Set<string>;
}

/** Progress on standard error. The bar of @clack/prompts would take over the keyboard and exit at Ctrl-C, with requests in flight. */
export function createProgress({ output, terminal, now }: ProgressOptions) {
  const flying = new Set<string>();
  let phase: Phase | null = null;
  /** The same, outside phases. */
  const outside = new Set<string>();
  /** Failures by status and reason. */
  let bad = new Map<string, { readonly status: string; readonly how: string; count: number }>();

  const say = (text: string): void => output.message(escapeText(text));
  const sayProgress = ({ name, done, total }: Phase): void => say(`${name}: ${done}/${total}`);
  const draw = (shown: Phase): void => {
    const { name, total, done, skipped } = shown;
    shown.drawn = now();
    const filled = total === 0 ? barWidth : Math.floor((Math.min(done + skipped, total) / total) * barWidth);
    const line = `${'━'.repeat(filled)}${'─'.repeat(barWidth - filled)} ${done}/${total} ${name}`;
    output.transient(escapeText(line));
  };
  /** Prints the first failure of each kind at once, and counts the rest. */
  const count = (made: StepResult): void => {
    const { address, status, error } = made;
    const how = commonMessage(made, error ?? status);
    const key = JSON.stringify([status, how]);
    const alike = bad.get(key) ?? { status, how, count: 0 };
    alike.count += 1;
    bad.set(key, alike);
    if (status === 'skipped' || alike.count > 1) return;
    say(`${markOf(status)} ${address} ${statusWords(status)}${error === null ? '' : `: ${error}`}`);
  };

  const progress: Required<Progress> = {
    phase(name, total) {
      phase = { name, total, done: 0, skipped: 0, drawn: 0, retries: new Set() };
      if (terminal) draw(phase);
      else sayProgress(phase);
    },
    begin: (address) => void flying.add(address),
    retry({ attempt, of, why, wait }) {
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
      } else if (total >= smallestCounted && done < total && tenth(done) > tenth(done - 1))
        sayProgress(phase);
    },
    end(how) {
      const ended = phase;
      phase = null;
      flying.clear();
      if (terminal) output.transient(null);
      else if (ended !== null && how === 'failed')
        say(`${ended.name}: stopped after ${ended.done} of ${ended.total}`);
      else if (ended !== null && ended.done > 0) sayProgress(ended);
      for (const { status, how: way, count: all } of bad.values()) {
        if (status === 'skipped') say(`- ${all} ${way}`);
        else if (all > 1) say(`${markOf(status)} ${all - 1} more ${statusWords(status)} alike: ${way}`);
      }
      bad = new Map();
    },
  };
  return {
    ...progress,
    /** Shows what an interruption waits for. */
    interrupted(): void {
      const { size } = flying;
      if (size > 0)
        say(`Finishing ${size} in flight; a second Ctrl-C ends at once and leaves their outcome unknown.`);
      else if (phase !== null) say('Stopping: nothing new will start.');
    },
    inFlight: (): readonly string[] => [...flying],
  };
}

/** Whether to draw a bar; CI logs would keep every drawing. */
export function drawsBar(
  stderr: { readonly isTTY?: boolean },
  env: { readonly [name: string]: string | undefined },
): boolean {
  return stderr.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

function markOf(status: string): string {
  return status === 'unknown' ? '?' : '✗';
}
