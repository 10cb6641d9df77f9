import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { fateOf, ownMark, surelyAlive } from '../../src/base/process.js';

async function deadPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'close');
  return child.pid ?? 0;
}

describe('the fate of a process', () => {
  it('is known on this host, in this boot and in this namespace', async () => {
    expect(fateOf(ownMark())).toBe('alive');
    expect(fateOf({ ...ownMark(), pid: await deadPid() })).toBe('gone');
    expect(fateOf({ ...ownMark(), started: 'another start' })).toBe('gone');
    expect(fateOf({ ...ownMark(), pid: process.ppid, started: 'another start' })).toBe('gone');
    expect(fateOf({ ...ownMark(), pid: process.ppid, started: null })).toBe('alive');
  });

  it.each([
    ['on another host', { host: 'elsewhere' }],
    ['in another process namespace', { namespace: 'pid:[1]' }],
    ['in the namespace of a system that has none', { namespace: ownMark().namespace === null ? 'x' : null }],
    ['of another boot, or of another machine of this name', { boot: 'another' }],
  ])('%s is not judged, whether its number is in use here or not', async (_, elsewhere) => {
    expect(fateOf({ ...ownMark(), ...elsewhere })).toBe('unknown');
    expect(fateOf({ ...ownMark(), pid: await deadPid(), ...elsewhere })).toBe('unknown');
  });

  it('is surely alive only where its number was not given to another one since', async () => {
    expect(surelyAlive({ ...ownMark(), pid: process.ppid, started: null })).toBe(false);
    expect(surelyAlive({ ...ownMark(), pid: process.ppid, started: 'another start' })).toBe(false);
    expect(surelyAlive(ownMark())).toBe(false);
    expect(surelyAlive({ ...ownMark(), pid: await deadPid() })).toBe(false);
  });
});
