import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** How long a file may report nothing after the time limit of its test, in milliseconds. */
const grace = 60_000;

/** Ends the run and names the test if a process is too busy to notice the test's time limit. */
export class Watchdog implements Reporter {
  readonly #limit: number;
  readonly #end: (words: string) => void;
  readonly #files = new Map<string, NodeJS.Timeout>();
  /** Files that have ended. A report about a test may arrive later. */
  readonly #ended = new Set<string>();

  /** `limit` is the default time limit of a test, in milliseconds. */
  constructor(limit: number, end: (words: string) => void = endAll) {
    this.#limit = limit;
    this.#end = end;
  }

  onTestModuleStart(file: TestModule): void {
    this.#ended.delete(file.moduleId);
    this.#restart(file, 'before its first test', this.#limit);
  }

  onTestCaseReady(test: TestCase): void {
    this.#restart(test.module, `in "${test.fullName}"`, test.options.timeout || this.#limit);
  }

  onTestCaseResult(test: TestCase): void {
    this.#restart(test.module, `after "${test.fullName}"`, this.#limit);
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#ended.add(moduleId);
    clearTimeout(this.#files.get(moduleId));
    this.#files.delete(moduleId);
  }

  #restart({ moduleId }: TestModule, words: string, limit: number): void {
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

/** Kills all processes: a busy one ignores SIGTERM. */
function endAll(words: string): void {
  process.stderr.write(`\n${words}\n`);
  let children = '';
  try {
    children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  } catch {
    // Only Linux has this list.
  }
  for (const pid of children.split(' ').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
  process.exit(1);
}
