// `npm run bench`: each scenario beside its floor, in one run.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import { storeRun, surroundings, terminal, text, withRatios } from './results.js';

const letters = readdirSync('bench/scenarios')
  .map((name) => name.replace('.js', ''))
  .sort();
const usage = `npm run bench -- [SCENARIO ...] [--repeats N] [--quick] [--json FILE] [--write]

  SCENARIO     ${letters.join(', ')}; all where none is named
  --repeats N  how often each is measured, whatever it says itself
  --quick      small sizes, once: shows that the suite works
  --json FILE  writes what was measured and its ratios, after each scenario
  --write      adds the run to bench/results.json and to docs/explanation/benchmarks.md`;

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
if (values.repeats !== undefined && !/^[1-9]\d*$/.test(values.repeats))
  wrong('--repeats takes a number from 1 on');
const repeats = values.repeats === undefined ? undefined : Number(values.repeats);
if (values.quick && values.write)
  wrong('a quick run measures nothing worth keeping: leave out --quick or --write');
if (values.quick && repeats !== undefined) wrong('a quick run measures once: leave out --quick or --repeats');
/** Writes what was measured so far; what stands in the way of that is given to `refuse`. */
const keep = (measured, refuse) => {
  if (values.json === undefined) return;
  try {
    writeFileSync(values.json, text(withRatios(measured)));
  } catch (failure) {
    refuse(`--json ${values.json} can't be written: ${failure.message}`);
  }
};

// What a scenario wrote is removed then too.
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => process.exit(code));
}

const measured = { ...surroundings(), ...(values.quick ? { quick: true } : {}), scenarios: {} };
// Before anything is measured for an hour that nobody gets.
keep(measured, wrong);
const failed = [];
for (const letter of positionals.length > 0 ? [...new Set(positionals)].sort() : letters) {
  const { title, measure } = await import(`./scenarios/${letter}.js`);
  const results = [];
  console.error(`(${letter}) ${title}`);
  let bench;
  try {
    bench = new Bench({
      quick: values.quick,
      repeats,
      told: (result) => {
        console.error(`    ${result.name}`);
        results.push(result);
      },
    });
    await measure(bench);
  } catch (failure) {
    failed.push(letter);
    console.error(`(${letter}) failed: ${failure.code === undefined ? failure.stack : failure.message}`);
  } finally {
    await bench?.end();
  }
  if (results.length === 0) continue;
  measured.scenarios[letter] = { title, results };
  keep(measured, (reason) => {
    console.error(reason);
    process.exitCode = 1;
  });
}

console.log(terminal(measured));
if (values.write) {
  storeRun(measured);
  execFileSync(process.execPath, ['scripts/docs.js'], { stdio: 'inherit' });
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
