// Formats rows of ratios as a table.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

/**
 * Merges the rows of several runs: each row gets the ratios of all runs.
 * @param {import('./bench.js').Row[][]} runs
 */
export function joined([first = [], ...others]) {
  return first.map((row) => {
    const same = others.flatMap((rows) => rows.filter(({ name }) => name === row.name));
    const all = [row, ...same];
    return {
      ...row,
      time: all.flatMap(({ time }) => time),
      processor: all.flatMap(({ processor }) => processor),
      memory: Math.max(...all.map(({ memory }) => memory)),
    };
  });
}

/** @param {import('./bench.js').Row[]} rows */
export function table(rows) {
  const lines = rows.map(({ name, against, time, processor, memory, sent = [] }) => [
    name,
    against,
    spread(time),
    spread(processor),
    memory === 0 ? '–' : `${Math.round(memory)} MB`,
    sent.map((number) => number.toLocaleString('en')).join(', ') || '–',
  ]);
  const head = ['measured', 'against', 'time', 'processor', 'memory', 'requests'];
  return [
    surroundings(),
    '',
    ...[head, head.map(() => '---'), ...lines].map((cells) => `|${cells.join('|')}|`),
  ].join('\n');
}

function surroundings() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [first] = cpus();
  const machine = `${cpus().length} × ${first?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release().split('-')[0]}`;
  const date = new Date().toISOString().slice(0, 10);
  return `Measured on ${date} with idops ${version}, Node ${process.version}, ${machine}.`;
}

/** The median, the minimum and the maximum. */
function spread(ratios) {
  const known = ratios.filter((ratio) => ratio !== undefined).sort((a, b) => a - b);
  if (known.length === 0) return '–';
  const middle = known[Math.floor(known.length / 2)];
  const [least, most] = [known[0], known.at(-1)];
  const ends = known.length === 1 ? '' : ` (${figure(least)}–${figure(most)})`;
  return `${figure(middle)}${ends}`;
}

const figure = (number) => number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0);
