import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats } from '../formats.js';
import { agreed, carryOut, showPlan } from './applying.js';

interface Options {
  readonly yes?: boolean;
  readonly format: readonly string[];
}

/** `idops regenerate-did`: one client's DID, outside the manifests; the recorded generation stays as it is. */
export async function regenerateDid(
  context: Context,
  options: Options & GlobalOptions,
  id: string,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, ['text', 'json']);
  return await context.session(
    async (session) => {
      const plan = session.planRegeneration(id);
      showPlan(plan, formats, context);
      const go = await agreed(`Regenerate the DID of client ${id}?`, options.yes === true, context);
      return go ? await carryOut(session, plan, 'regenerate-did', formats, context) : exit.failed;
    },
    'regenerate-did',
    { manifests: false },
  );
}
