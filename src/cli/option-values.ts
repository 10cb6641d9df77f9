import { InvalidArgumentError } from 'commander';
import * as z from 'zod';
import type { SandboxFaults } from '../sandbox/options.js';

/** `--keep`, in milliseconds. */
export function age(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(value) ?? [];
  const hours = { h: 1, d: 24, w: 168 }[unit];
  if (hours === undefined) throw new InvalidArgumentError('It must be an age such as 12h, 90d or 8w.');
  return Number(number) * hours * 3_600_000;
}

export function since(value: string): Date {
  return parseTime(value, 'T00:00:00Z');
}

export function until(value: string): Date {
  return parseTime(value, 'T23:59:59.999Z');
}

/** Parses a date, completed by `time`, an instant, or an age before now. */
function parseTime(value: string, time: string): Date {
  if (/^\d+[hdw]$/.test(value)) return new Date(Date.now() - age(value));
  const text = z.iso.date().safeParse(value).success ? `${value}${time}` : value;
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
  throw new InvalidArgumentError(
    'It must be a date such as 2026-01-31 (UTC), an instant such as 2026-01-31T12:00:00Z, or an age such as 7d.',
  );
}

/** `--latency`, in milliseconds. */
export function milliseconds(value: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(value) ?? [];
  const time = Number(number) * (unit === 's' ? 1000 : 1);
  if (time <= 600_000) return time;
  throw new InvalidArgumentError(
    'It must be a time of at most 10 minutes, such as 50ms, 1s, or a number of milliseconds.',
  );
}

/** `--interval`, in seconds. */
export function interval(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([smh])$/.exec(value) ?? [];
  const seconds = Number(number) * ({ s: 1, m: 60, h: 3600 }[unit] ?? 0);
  if (seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError(
    'It must be a time from 1s to 24h: a whole number with s, m or h, such as 5m.',
  );
}

const countFaults = ['pool', 'pause', 'seed'];
const chanceFaults = ['cut', '500', '503', 'reset', 'restart'];

export const faultNames =
  'pool=2, cut=0.1, 500=0.1, 503=0.1, reset=0.1, restart=0.1, stale-scopes, pause=250, seed=1';

/** Parses one `--faults`, a list with commas, and adds it to the faults before it. */
export function readFaults(list: string, before: SandboxFaults): SandboxFaults {
  return list.split(',').reduce(addFault, before);
}

function addFault(faults: SandboxFaults, fault: string): SandboxFaults {
  const [, name = '', digits = ''] = /^\s*([a-z0-9]+)\s*=\s*(\d*\.?\d+)\s*$/.exec(fault) ?? [];
  const number = Number(digits);
  if (fault.trim() === 'stale-scopes') return { ...faults, staleScopes: true };
  const isCount =
    countFaults.includes(name) && Number.isSafeInteger(number) && (name !== 'pool' || number > 0);
  if (isCount || (chanceFaults.includes(name) && number <= 1)) return { ...faults, [name]: number };
  throw new InvalidArgumentError(
    `${JSON.stringify(fault)} is not a fault; write ${faultNames}, with whole numbers, or probabilities from 0 to 1.`,
  );
}

export interface ListenAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `--listen`. */
export function listenAddress(value: string): ListenAddress {
  const [, six, name = '', digits = ''] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):(\d{1,5})$/i.exec(value) ?? [];
  const port = Number(digits);
  if (digits !== '' && port <= 65_535) return { host: six ?? name, port };
  throw new InvalidArgumentError('It must be HOST:PORT, such as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464.');
}
