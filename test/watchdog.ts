import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** How long the process of a file may say nothing beyond the limit of its test. */
const grace = 60_000;

/** Says what a file is at, and ends all, where its process is too busy to notice a test's limit itself. */
export class Watchdog implements Reporter {
  readonly #limit: number;
  readonly #end: (words: string) => void;
  readonly #files = new Map<string, NodeJS.Timeout>();
  /** What is said of a test may come after the end of its file. */
  readonly #ended = new Set<string>();

  /** `limit` is what a test has in milliseconds, where it doesn't say so itself. */
  constructor(limit: number, end: (words: string) => void = endAll) {
    this.#limit = limit;
    this.#end = end;
  }

  onTestModuleStart(file: TestModule): void {
    this.#ended.delete(file.moduleId);
    this.#heard(file, 'before its first test', this.#limit);
  }

  onTestCaseReady(test: TestCase): void {
    this.#heard(test.module, `in "${test.fullName}"`, test.options.timeout || this.#limit);
  }

  onTestCaseResult(test: TestCase): void {
    this.#heard(test.module, `after "${test.fullName}"`, this.#limit);
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#ended.add(moduleId);
    clearTimeout(this.#files.get(moduleId));
    this.#files.delete(moduleId);
  }

  #heard({ moduleId }: TestModule, words: string, limit: number): void {
    if (this.#ended.has(moduleId)) return;
    clearTimeout(this.#files.get(moduleId));
    const timer = setTimeout(() => {
      const name = relative(process.cwd(), moduleId);
      this.#end(`${name} hangs ${words}: nothing was heard of it for ${(limit + grace) / 1000} s`);
    }, limit + grace);
    timer.unref();
    this.#files.set(moduleId, timer);
  }
}

/** A busy process doesn't end by being asked to. */
function endAll(words: string): void {
  process.stderr.write(`\n${words}\n`);
  let children = '';
  try {
    children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  } catch {
    // Elsewhere the system has no such list.
  }
  for (const pid of children.split(' ').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
  process.exit(1);
}
