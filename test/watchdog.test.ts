import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TestCase, TestModule } from 'vitest/node';
import { Watchdog } from './watchdog.js';

const file = { moduleId: `${process.cwd()}/test/some.test.ts` } as TestModule;
const test = (fullName: string, timeout?: number) =>
  ({ fullName, module: file, options: { timeout } }) as unknown as TestCase;

let messages: string[];
let watchdog: Watchdog;

beforeEach(() => {
  vi.useFakeTimers();
  messages = [];
  watchdog = new Watchdog(10_000, (words) => messages.push(words));
});

afterEach(() => void vi.useRealTimers());

it('names the test in which a silent process hangs', () => {
  watchdog.onTestModuleStart(file);
  watchdog.onTestCaseReady(test('adds'));
  vi.advanceTimersByTime(69_999);
  expect(messages).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(messages).toEqual(['test/some.test.ts hangs in "adds": nothing was heard of it for 70 s']);
});
