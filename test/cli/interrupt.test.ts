import { describe, expect, it, vi } from 'vitest';
import { onInterrupt } from '../../src/cli/interrupt.js';

/** Sends two signals to a process with this id, and returns what it does. */
function twice(pid: number, name: 'SIGINT' | 'SIGTERM'): string[] {
  const did: string[] = [];
  const own = Object.getOwnPropertyDescriptor(process, 'pid');
  Object.defineProperty(process, 'pid', { ...own, value: pid });
  // Whether the kernel lets the signal end the process.
  const kill = vi.spyOn(process, 'kill').mockImplementation((to, signal) => {
    did.push(`kill ${to} ${signal}`);
    return true;
  });
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    did.push(`exit ${code}`);
    throw new Error('ended');
  });
  const interrupt = onInterrupt();
  try {
    const [listener] = process.listeners(name).slice(-1);
    for (let count = 0; count < 2; count += 1) listener?.(name);
  } catch {
    // The process ended.
  } finally {
    interrupt.release();
    kill.mockRestore();
    exit.mockRestore();
    Object.defineProperty(process, 'pid', own ?? {});
  }
  return did;
}

describe('a second signal', () => {
  it('ends the process with that signal, so that a shell sees it', () => {
    expect(twice(4711, 'SIGINT')).toEqual(['kill 4711 SIGINT']);
    expect(twice(4711, 'SIGTERM')).toEqual(['kill 4711 SIGTERM']);
  });

  it('exits the first process of a container, which no signal ends', () => {
    expect(twice(1, 'SIGINT')).toEqual(['exit 130']);
    expect(twice(1, 'SIGTERM')).toEqual(['exit 143']);
  });
});
