import { Writable } from 'node:stream';
import { createOutput, type OutputOptions } from '../../src/cli/output.js';
import { createRedactor } from '../../src/secrets/redactor.js';

/** A stream that collects what is written to it, slowly as a pipe may. */
export class Kept extends Writable {
  text = '';
  readonly isTTY: boolean;
  columns = 80;
  readonly #fail: NodeJS.ErrnoException | null;

  constructor(isTTY = false, fail: NodeJS.ErrnoException | null = null) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.#fail = fail;
  }

  override _write(chunk: unknown, _encoding: string, done: (error?: Error | null) => void): void {
    setImmediate(() => {
      if (this.#fail === null) this.text += String(chunk);
      done(this.#fail);
    });
  }
}

/** An output whose streams are collected, with options of the test. */
export function keptOutput(parts: Partial<Omit<OutputOptions, 'stdout' | 'stderr'>> = {}, terminal = false) {
  const stdout = new Kept(terminal);
  const stderr = new Kept(terminal);
  const redactor = createRedactor();
  redactor.add('s3cret');
  const options = { stdout, stderr, quiet: false, debug: false, color: true, env: {}, redactor, ...parts };
  return { stdout, stderr, output: createOutput(options) };
}
