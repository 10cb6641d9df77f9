import { identifier } from '../../kinds/schema.js';
import { error, ProblemsError } from '../../problems.js';
import type { Context, GlobalOptions } from '../context.js';
import type { ExitCode } from '../exit.js';
import { filesOf, parseFormats } from '../formats.js';
import { carryOut, consent, resultFormats, showPlan } from './applying.js';

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
  const formats = parseFormats(options.format, resultFormats);
  if (!identifier().safeParse(id).success) {
    throw new ProblemsError([error('wrong-option', `${JSON.stringify(id)} is not the id of a client`)]);
  }
  return await context.session(
    async (session) => {
      await context.refuseOutputs(filesOf(formats), session);
      const plan = await session.planRegeneration(id);
      showPlan(plan, formats, context);
      const blocked = session.refusals(plan, Number.POSITIVE_INFINITY);
      if (blocked.length > 0) throw new ProblemsError(blocked);
      const agreed = await consent(`Regenerate the DID of client ${id}?`, options.yes === true, context);
      return await carryOut(session, plan, 'regenerate-did', agreed, formats, context);
    },
    'regenerate-did',
    { manifests: false },
  );
}
