import { InvalidArgumentError } from 'commander';

/** An age in milliseconds, of `--keep`. */
export function age(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(value) ?? [];
  const hours = { h: 1, d: 24, w: 168 }[unit];
  if (hours === undefined) throw new InvalidArgumentError('It is an age such as 12h, 90d or 8w.');
  return Number(number) * hours * 3_600_000;
}

/** A time in milliseconds, of `--latency`. */
export function milliseconds(value: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(value) ?? [];
  const time = Number(number) * (unit === 's' ? 1000 : 1);
  if (time <= 600_000) return time;
  throw new InvalidArgumentError(
    'It must be a time of 10 minutes at most, such as 50ms, 1s, or a number of milliseconds.',
  );
}

/** The least and the most that `--interval` may be, in seconds. */
const leastInterval = 1;
const mostInterval = 86_400;

/** A time between two turns in seconds, of `--interval`. */
export function interval(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([smh])$/.exec(value) ?? [];
  const seconds = Number(number) * ({ s: 1, m: 60, h: 3600 }[unit] ?? 0);
  if (seconds >= leastInterval && seconds <= mostInterval) return seconds;
  throw new InvalidArgumentError(
    'It must be a time from 1s to 24h: a whole number with s, m or h, such as 5m.',
  );
}
