import { type Check, fail, ok, warn } from '../../base/checks.js';
import { neededNode, version } from '../../base/version.js';

/** When an answer came, and what the server's clock said in it. */
export interface ClockReading {
  /** The `Date` header; undefined where there was none. */
  readonly date: string | undefined;
  /** Milliseconds since 1970, by this machine's clock, at the end of the exchange. */
  readonly at: number;
  /** How long the exchange took. */
  readonly milliseconds: number;
}

/** Seconds that clocks may be apart: tokens are judged with as much patience. */
const APART = 30;

/** Whether this machine's clock goes as the server's does, as far as answers tell; nothing where there were none. */
export function clockCheck(readings: readonly ClockReading[]): Check[] {
  const apart = readings.flatMap(({ date, at, milliseconds }) => {
    const said = Date.parse(date ?? '');
    if (Number.isNaN(said)) return [];
    // It was written somewhere within the exchange, and names a whole second.
    const ahead = at - milliseconds - (said + 1000);
    const behind = said - at;
    return [ahead > 0 ? ahead / 1000 : behind > 0 ? -behind / 1000 : 0];
  });
  const [least] = apart.sort((a, b) => Math.abs(a) - Math.abs(b));
  if (readings.length === 0) return [];
  if (least === undefined) {
    return [
      warn(
        'clock',
        "whether it goes as the server's is not known: no answer had a date that can be read",
        "compare this machine's clock with the server's by hand: tokens and certificates hold for a time only",
      ),
    ];
  }
  if (Math.abs(least) <= APART) return [ok('clock', "it goes as the server's")];
  const way = least > 0 ? 'ahead of' : 'behind';
  return [
    warn(
      'clock',
      `this machine's clock is ${inWords(Math.abs(least))} ${way} the server's`,
      'set whichever is wrong, by NTP for instance: tokens and certificates hold for a time only',
    ),
  ];
}

function inWords(seconds: number): string {
  const units = [
    ['days', 86_400],
    ['hours', 3600],
    ['minutes', 60],
  ] as const;
  const [name, size] = units.find(([, one]) => seconds >= 2 * one) ?? ['seconds', 1];
  return `${Math.round(seconds / size)} ${name}`;
}

/** What idops runs on, and whether a later version has worked with the same state. */
export function versionsCheck(usedBefore: readonly string[]): Check {
  const node = process.versions.node;
  const said = `idops ${version} on Node.js ${node}, ${process.platform} ${process.arch}`;
  if (compareVersions(node, neededNode.replace(/^[^\d]*/, '')) < 0)
    return fail('versions', said, `idops needs Node.js ${neededNode}`);
  const newest = [...usedBefore].sort(compareVersions).at(-1);
  if (newest !== undefined && compareVersions(newest, version) > 0)
    return warn(
      'versions',
      `${said}; idops ${newest} has worked with this state`,
      `use idops ${newest} or later everywhere`,
    );
  return ok('versions', said);
}

/** Less than 0 where the first is the older one; what stands behind the numbers is left alone. */
function compareVersions(one: string, other: string): number {
  const numbers = (text: string): number[] => text.split(/[-+]/)[0]?.split('.').map(Number) ?? [];
  const [left, right] = [numbers(one), numbers(other)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (left[index] || 0) - (right[index] || 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
