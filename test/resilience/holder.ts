import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { currentProcess } from '../../src/base/process.js';

/** The id of a dead process. */
export async function deadPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'close');
  return child.pid ?? 0;
}

export function holder(more: object = {}): string {
  return JSON.stringify({
    user: 'ada',
    ...currentProcess(),
    pid: 1,
    command: 'apply',
    at: '2026-01-02T03:04:05.000Z',
    started: null,
    nonce: 'left behind',
    ...more,
  });
}
