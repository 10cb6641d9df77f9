import { escapeText } from '../base/escape.js';
import { noProgress, type Progress } from '../base/progress.js';
import type { Output } from './output.js';

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
/** A terminal needs no more than this, and a fast phase would only flicker. */
const redrawEvery = 80;
/** Smaller phases say in plain lines that they began and ended, and nothing in between. */
const tellingSize = 20;

/**
 * Progress on standard error. The bar is drawn here since the one of @clack/prompts takes over the keyboard and
 * leaves the process at Ctrl-C, with requests in flight.
 */
export function createProgress(options: ProgressOptions): Progress {
  if (options.quiet) return noProgress;
  return options.terminal ? bar(options) : plainLines(options);
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
  done: number;
}

function begin(name: string, total: number): Phase {
  return { name: escapeText(name), total, done: 0 };
}

function bar({ output, columns, now }: ProgressOptions): Progress {
  let phase: Phase | null = null;
  let drawn = 0;
  const draw = ({ name, total, done }: Phase): void => {
    drawn = now();
    const filled = total === 0 ? barWidth : Math.floor((Math.min(done, total) / total) * barWidth);
    const line = `${'━'.repeat(filled)}${'─'.repeat(barWidth - filled)} ${done}/${total} ${name}`;
    // A line that wraps couldn't be erased.
    output.transient([...line].slice(0, (columns || 80) - 1).join(''));
  };
  return {
    phase: (name, total) => {
      phase = begin(name, total);
      draw(phase);
    },
    step: () => {
      if (phase === null) return;
      phase.done += 1;
      if (phase.done >= phase.total || now() - drawn >= redrawEvery) draw(phase);
    },
    end: () => {
      phase = null;
      output.transient(null);
    },
  };
}

function plainLines({ output }: ProgressOptions): Progress {
  let phase: Phase | null = null;
  const tell = ({ name, total, done }: Phase): void => output.message(`${name}: ${done}/${total}`);
  return {
    phase: (name, total) => {
      phase = begin(name, total);
      tell(phase);
    },
    step: () => {
      if (phase === null) return;
      phase.done += 1;
      const { done, total } = phase;
      const tenth = (steps: number): number => Math.floor((steps * 10) / total);
      if (total >= tellingSize && done < total && tenth(done) > tenth(done - 1)) tell(phase);
    },
    end: (how) => {
      if (phase !== null && how === 'failed') {
        output.message(`${phase.name}: stopped after ${phase.done} of ${phase.total}`);
      } else if (phase !== null && phase.done > 0) tell(phase);
      phase = null;
    },
  };
}
