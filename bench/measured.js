import { Bench } from './bench.js';

/** In the order of the table. `peer` installs a program from npm. */
export const scenarios = ['apply', 'writes', 'plan', 'users', 'start', 'state', 'peer'];

/** The rows of scenarios, measured once. */
export async function measured({ quick = false, only = scenarios }) {
  const rows = [];
  for (const scenario of scenarios.filter((name) => only.includes(name))) {
    console.error(scenario);
    const bench = new Bench({ quick, repeats: 5 });
    try {
      const { measure } = await import(`./scenarios/${scenario}.js`);
      await measure(bench);
    } catch (failure) {
      console.error(failure);
      process.exitCode = 1;
    } finally {
      rows.push(...bench.rows);
      await bench.end();
    }
  }
  return rows;
}
