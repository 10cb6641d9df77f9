import type { Reporter, TestModule } from 'vitest/node';

/** Prints the seed with which a failed run can be repeated. */
export class Seeds implements Reporter {
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  onTestRunEnd(files: readonly TestModule[]): void {
    if (files.some((file) => !file.ok())) console.error(`\nIDOPS_SEED=${this.#seed} repeats this run.`);
  }
}
