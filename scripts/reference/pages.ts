import { readFile } from 'node:fs/promises';
import { actionMakers } from './action.js';
import { apiMakers } from './api.js';
import { withBlocks } from './blocks.js';
import { commandMakers } from './commands.js';
import { fieldMakers } from './fields.js';

/** The pages that have generated parts. */
const generated = [
  'reference/commands',
  'reference/configuration',
  'reference/emails',
  'reference/github-action',
  'reference/json',
  'reference/manifests',
  'reference/servers',
].map((name) => `docs/${name}.md`);

/** Each page with generated parts, as it is and as the code generates it now. */
export async function pages(): Promise<
  { readonly path: string; readonly is: string; readonly made: string }[]
> {
  const makers = { ...actionMakers(), ...(await apiMakers()), ...commandMakers(), ...fieldMakers() };
  return await Promise.all(
    generated.map(async (path) => {
      const is = await readFile(path, 'utf8');
      return { path, is, made: withBlocks(is, makers) };
    }),
  );
}
