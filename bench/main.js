// `npm run bench`: each scenario beside its floor, in one run.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import { storeRun, surroundings, terminal, text } from './results.js';

const letters = readdirSync('bench/scenarios')
  .map((name) => name.replace('.js', ''))
  .sort();
const usage = `npm run bench -- [SCENARIO ...] [--repeats N] [--quick] [--json FILE] [--write]

  SCENARIO     ${letters.join(', ')}; all where none is named
  --repeats N  how often each is measured, whatever it says itself
  --quick      small sizes, once: shows that the suite works
  --json FILE  writes what was measured
  --write      adds the run to bench/results.json and to docs/benchmarks.md`;

const wrong = (reason) => {
  console.error(`${reason}\n\n${usage}`);
  process.exit(1);
};

function given() {
  const options = {
    repeats: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
  };
  const more = { write: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } };
  try {
    return parseArgs({ allowPositionals: true, options: { ...options, ...more } });
  } catch (failure) {
    return wrong(failure.message);
  }
}

const { values, positionals } = given();
if (values.help) {
  console.log(usage);
  process.exit();
}
const unknown = positionals.find((name) => !letters.includes(name));
if (unknown !== undefined) wrong(`there is no scenario ${unknown}`);
const repeats = values.repeats === undefined ? undefined : Number(values.repeats);
if (repeats !== undefined && !(Number.isInteger(repeats) && repeats > 0))
  wrong('--repeats takes a number from 1 on');
if (values.quick && values.write)
  wrong('a quick run measures nothing worth keeping: leave out --quick or --write');

// What a scenario wrote is removed then too.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const measured = { ...surroundings(), scenarios: {} };
const failed = [];
for (const letter of positionals.length > 0 ? [...new Set(positionals)].sort() : letters) {
  const { title, measure } = await import(`./scenarios/${letter}.js`);
  const results = [];
  console.error(`(${letter}) ${title}`);
  const bench = new Bench({
    quick: values.quick,
    repeats,
    told: (result) => {
      console.error(`    ${result.name}`);
      results.push(result);
    },
  });
  try {
    await measure(bench);
  } catch (failure) {
    failed.push(letter);
    console.error(`(${letter}) failed: ${failure.stack}`);
  } finally {
    await bench.end();
  }
  if (results.length > 0) measured.scenarios[letter] = { title, results };
}

console.log(terminal(measured));
if (values.json !== undefined) writeFileSync(values.json, text(measured));
if (values.write) {
  storeRun(measured);
  execFileSync(process.execPath, ['scripts/docs.js'], { stdio: 'inherit' });
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
