import pLimit from 'p-limit';
import { runInProcess } from './e2e/in-process.js';

const oneAtATime = pLimit(1);

/** The output of a command with `--help`. */
export async function helpOf(...command: string[]): Promise<string> {
  const surroundings = { cwd: process.cwd(), env: { NO_COLOR: '1' } };
  const ran = await oneAtATime(() => runInProcess([...command, '--help'], surroundings));
  if (ran?.code !== 0) throw new Error(`no help of ${command.join(' ')}`);
  return ran.stdout;
}
