import { describe, expect, it } from 'vitest';
import { currentProcess, isSurelyAlive, processStatus } from '../../src/base/process.js';
import { deadPid } from '../resilience/holder.js';

describe('the fate of a process', () => {
  it('is known on this host, since this boot and in this namespace', async () => {
    expect(processStatus(currentProcess())).toBe('alive');
    expect(processStatus({ ...currentProcess(), pid: await deadPid() })).toBe('gone');
    expect(processStatus({ ...currentProcess(), started: 'another start' })).toBe('gone');
    expect(processStatus({ ...currentProcess(), pid: process.ppid, started: 'another start' })).toBe('gone');
    expect(processStatus({ ...currentProcess(), pid: process.ppid, started: null })).toBe('alive');
  });

  it.each([
    ['on another host', { host: 'elsewhere' }],
    ['in another process namespace', { namespace: 'pid:[1]' }],
    [
      'in the namespace of a system that has none',
      { namespace: currentProcess().namespace === null ? 'x' : null },
    ],
    ['of another boot, or of another machine of this name', { boot: 'another' }],
  ])('%s is not judged, whether its process id is in use here or not', async (_, elsewhere) => {
    expect(processStatus({ ...currentProcess(), ...elsewhere })).toBe('unknown');
    expect(processStatus({ ...currentProcess(), pid: await deadPid(), ...elsewhere })).toBe('unknown');
  });

  it('is alive only if its process id was not reused since', async () => {
    expect(isSurelyAlive({ ...currentProcess(), pid: process.ppid, started: null })).toBe(false);
    expect(isSurelyAlive({ ...currentProcess(), pid: process.ppid, started: 'another start' })).toBe(false);
    expect(isSurelyAlive(currentProcess())).toBe(false);
    expect(isSurelyAlive({ ...currentProcess(), pid: await deadPid() })).toBe(false);
  });
});
