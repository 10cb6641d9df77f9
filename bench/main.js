// `npm run bench`: compares each scenario with its floor, in two runs.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measured, scenarios } from './measured.js';
import { joined, table } from './table.js';

const page = 'docs/explanation/benchmarks.md';
const usage = `npm run bench -- [SCENARIO ...] [--quick] [--write]

  SCENARIO  ${scenarios.join(', ')}; the default is all
  --quick   measures small sizes once: shows that the suite works
  --write   writes the table into ${page}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, write: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help || positionals.some((name) => !scenarios.includes(name))) {
  console.error(usage);
  process.exit(values.help ? 0 : 1);
}
// A normal exit also removes the files of the scenarios.
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => process.exit(code));
}

const { quick } = values;
const only = positionals.length > 0 ? positionals : scenarios;
const runs = [await measured({ quick, only })];
if (!quick) runs.push(await measured({ only }));
const made = table(joined(runs));
console.log(made);
if (values.write) {
  const marks = ['<!-- measured -->', '<!-- /measured -->'];
  const [before, , after] = readFileSync(page, 'utf8').split(new RegExp(marks.join('|')));
  writeFileSync(page, `${before}${marks[0]}\n${made}\n${marks[1]}${after}`);
}
