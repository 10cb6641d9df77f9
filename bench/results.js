// Results of the suite: kept as JSON, each run beside the earlier ones, and shown as tables.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

export const resultsFile = 'bench/results.json';

/**
 * @typedef {{ ms: number, rss?: number, cpu?: number }} Taken
 * @typedef {{ empty: { idops?: Taken, floor?: Taken }, floors: Record<string, Taken>, idops: Taken }} Round
 * @typedef {{ name: string, most: { whole?: number, beyond?: number, memory?: number }, sent?: number[], necessary?: number, startMemory?: number, rounds: Round[] }} Result
 * @typedef {{ title: string, results: Result[] }} Scenario
 * @typedef {{ date: string, version: string, node: string, machine: string, load: number, quick?: boolean, scenarios: Record<string, Scenario> }} Run
 */

/** What a run is told to have run on. */
export function surroundings() {
  const processors = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString().slice(0, 10),
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    node: process.version,
    machine: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${gigabytes} GB, ${type()} ${release().split('-')[0]}`,
    load: Number(loadavg()[0]?.toFixed(2)),
  };
}

/** @returns {Run[]} */
export function storedRuns() {
  return existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')).runs : [];
}

/** @param {Run} run */
export function storeRun(run) {
  writeFileSync(resultsFile, text({ runs: [...storedRuns(), run] }));
}

/** JSON with a line for each round. */
export function text(value) {
  const compact = [];
  const marked = JSON.stringify(
    value,
    (name, member) => {
      if (name !== 'rounds') return member;
      return member.map((round) => `@${compact.push(JSON.stringify(round)) - 1}@`);
    },
    1,
  );
  return `${marked.replace(/"@(\d+)@"/g, (_, index) => compact[Number(index)])}\n`;
}

/** The median, the least and the most. */
function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  return { median, least: sorted[0], most: sorted.at(-1) };
}

/** @param {Result} result @param {string} floor */
function ratios({ rounds }, floor) {
  const pairs = rounds.map((round) => ({ idops: round.idops, floor: round.floors[floor] }));
  const whole = spread(pairs.map((pair) => pair.idops.ms / pair.floor.ms));
  const [idopsStart, floorStart] = ['idops', 'floor'].map((side) => {
    const starts = rounds.flatMap(({ empty }) => empty[side]?.ms ?? []);
    return starts.length === 0 ? undefined : spread(starts).median;
  });
  const cpu = pairs.every((pair) => pair.floor.cpu > 0)
    ? spread(pairs.map((pair) => pair.idops.cpu / pair.floor.cpu))
    : undefined;
  if (idopsStart === undefined || pairs.some((pair) => pair.floor.ms <= floorStart)) return { whole, cpu };
  const beyond = spread(pairs.map((pair) => (pair.idops.ms - idopsStart) / (pair.floor.ms - floorStart)));
  return { whole, beyond, cpu };
}

/**
 * A run with what its times come to: for each measurement the ratios by the floor (`whole`, `beyond` the start and of the
 * processor time, each with its median, the least and the most), and the median of the peaks of memory in MB.
 * @param {Run} run
 */
export function withRatios(run) {
  const told = (result) => {
    const floors = Object.keys(result.rounds[0]?.floors ?? {});
    const found = Object.fromEntries(floors.map((floor) => [floor, ratios(result, floor)]));
    return { ...result, memory: megabytes(result), ratios: found };
  };
  const scenarios = Object.entries(run.scenarios).map(([letter, scenario]) => [
    letter,
    { ...scenario, results: scenario.results.map(told) },
  ]);
  return { ...run, scenarios: Object.fromEntries(scenarios) };
}

const figure = (number) => number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0);
const shown = (ratio) =>
  ratio === undefined ? '–' : `${figure(ratio.median)} (${figure(ratio.least)}–${figure(ratio.most)})`;

const megabytes = (result) =>
  result.startMemory ?? spread(result.rounds.map(({ idops }) => idops.rss)).median;

/** How many requests were sent, and how many there have to be where that is another number. */
function requests({ sent, necessary }) {
  if (sent === undefined) return '–';
  const told = sent.map((number) => number.toLocaleString('en')).join(', ');
  return sent.length === 1 && sent[0] === necessary ? told : `${told} (of ${necessary.toLocaleString('en')})`;
}

function aim({ whole, beyond, memory }) {
  const parts = [
    ...(whole === undefined ? [] : [`${whole} in all`]),
    ...(beyond === undefined ? [] : [`${beyond} beyond the start`]),
    ...(memory === undefined ? [] : [`${memory} MB`]),
  ];
  return parts.join(', ') || '–';
}

const measured = ['in all', 'beyond the start', 'processor', 'memory', 'requests'];

/** The cells of one floor of a result in one run. */
function cells(result, floor) {
  const { whole, beyond, cpu } = ratios(result, floor);
  return [shown(whole), shown(beyond), shown(cpu), `${Math.round(megabytes(result))} MB`, requests(result)];
}

/** The table of one scenario. */
function scenarioTable({ results }) {
  const head = ['measured', 'against', 'aim', ...measured];
  const rows = results.flatMap((result) =>
    Object.keys(result.rounds[0].floors).map((floor, index) => [
      result.name,
      floor,
      index === 0 ? aim(result.most) : '–',
      ...cells(result, floor),
    ]),
  );
  return { head, rows };
}

/** The newest run as Markdown: one table of median ratios and memory. */
export function markdown(all) {
  const run = all.at(-1);
  if (run === undefined) return 'No run is stored yet.';
  const line = (row) => `|${row.join('|')}|`;
  const rows = Object.entries(run.scenarios).flatMap(([letter, { results }]) =>
    results.map((result) => {
      const times = Object.keys(result.rounds[0].floors).map(
        (floor) => `${figure(ratios(result, floor).whole.median)} × ${floor}`,
      );
      return [`(${letter}) ${result.name}`, times.join('; '), `${Math.round(megabytes(result))} MB`];
    }),
  );
  const { date, version, node, machine } = run;
  return [
    `Measured on ${date} with idops ${version}, Node ${node}, ${machine}.\n`,
    line(['measured', 'takes', 'memory']),
    `|${'---|'.repeat(3)}`,
    ...rows.map(line),
  ].join('\n');
}

/** One run for a terminal. */
export function terminal(run) {
  const tables = Object.entries(run.scenarios)
    .map(([letter, scenario]) => {
      const { head, rows } = scenarioTable(scenario);
      const lines = [head, ...rows];
      const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column].length)));
      const aligned = lines.map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column]))
          .join('  ')
          .trimEnd(),
      );
      return [`(${letter}) ${scenario.title}`, ...aligned].join('\n');
    })
    .join('\n\n');
  if (!run.quick) return tables;
  return `A quick run: far smaller than the titles and the aims say, measured once. It shows that the suite works, and no more.\n\n${tables}`;
}
