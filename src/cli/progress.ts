import { statusWords } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Progress, StepResult } from '../base/progress.js';
import { commonMessage } from '../report/group-equal.js';
import type { Output } from './output.js';

export interface ProgressOptions {
  readonly output: Pick<Output, 'message' | 'showStatus'>;
  readonly terminal: boolean;
  /** In milliseconds. */
  readonly now: () => number;
}

const barWidth = 24;
/** Minimum milliseconds between two redraws. */
const redrawEvery = 80;
/** Phases with fewer steps print only their start and end. */
const smallestCounted = 20;

interface Phase {
  readonly name: string;
  readonly total: number;
  done: number;
  skipped: number;
  drawn: number;
  readonly retries: Set<string>;
}

/** Shows progress on standard error. The bar of @clack/prompts would capture the keyboard and exit at Ctrl-C with requests in flight. */
export function createProgress({ output, terminal, now }: ProgressOptions) {
  const inFlight = new Set<string>();
  let phase: Phase | null = null;
  /** Reasons of retries outside of phases. */
  const retriesOutside = new Set<string>();
  /** Failures of the phase, by status and reason. */
  let failures = new Map<string, { readonly status: string; readonly reason: string; count: number }>();

  const print = (text: string): void => output.message(escapeText(text));
  const sayProgress = ({ name, done, total }: Phase): void => print(`${name}: ${done}/${total}`);
  const draw = (shown: Phase): void => {
    const { name, total, done, skipped } = shown;
    shown.drawn = now();
    const filled = total === 0 ? barWidth : Math.floor((Math.min(done + skipped, total) / total) * barWidth);
    const line = `${'━'.repeat(filled)}${'─'.repeat(barWidth - filled)} ${done}/${total} ${name}`;
    output.showStatus(escapeText(line));
  };
  /** Prints the first failure with each status and reason immediately, and counts the others. */
  const count = (made: StepResult): void => {
    const { address, status, error } = made;
    const reason = commonMessage(made, error ?? status);
    const key = JSON.stringify([status, reason]);
    const group = failures.get(key) ?? { status, reason, count: 0 };
    group.count += 1;
    failures.set(key, group);
    if (status === 'skipped' || group.count > 1) return;
    print(`${markOf(status)} ${address} ${statusWords(status)}${error === null ? '' : `: ${error}`}`);
  };

  const progress: Required<Progress> = {
    phase(name, total) {
      phase = { name, total, done: 0, skipped: 0, drawn: 0, retries: new Set() };
      if (terminal) draw(phase);
      else sayProgress(phase);
    },
    begin: (address) => void inFlight.add(address),
    retry({ attempt, of, why, wait }) {
      const { name, retries } = phase ?? { name: null, retries: retriesOutside };
      if (retries.has(why)) return;
      retries.add(why);
      const when = wait === undefined ? '' : ` in ${Math.ceil(wait)} s`;
      print(
        `${name === null ? 'Retrying' : `${name}: retrying`}${when}, attempt ${attempt} of ${of}: ${why}`,
      );
    },
    step(made) {
      if (made !== undefined) inFlight.delete(made.address);
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
      inFlight.clear();
      if (terminal) output.showStatus(null);
      else if (ended !== null && how === 'failed')
        print(`${ended.name}: stopped after ${ended.done} of ${ended.total}`);
      else if (ended !== null && ended.done > 0) sayProgress(ended);
      for (const { status, reason: way, count: all } of failures.values()) {
        if (status === 'skipped') print(`- ${all} ${way}`);
        else if (all > 1) print(`${markOf(status)} ${all - 1} more ${statusWords(status)} alike: ${way}`);
      }
      failures = new Map();
    },
  };
  return {
    ...progress,
    /** Shows what an interruption waits for. */
    interrupted(): void {
      const { size } = inFlight;
      if (size > 0)
        print(
          `Finishing ${size} in flight; a second Ctrl-C ends immediately and leaves their outcome unknown.`,
        );
      else if (phase !== null) print('Stopping: nothing new will start.');
    },
    inFlight: (): readonly string[] => [...inFlight],
  };
}

/** Whether to draw a bar; a CI log would keep every redraw. */
export function drawsBar(
  stderr: { readonly isTTY?: boolean },
  env: { readonly [name: string]: string | undefined },
): boolean {
  return stderr.isTTY === true && env.TERM !== 'dumb' && !env.CI;
}

function markOf(status: string): string {
  return status === 'unknown' ? '?' : '✗';
}
