import { refuse } from '../../base/problems.js';
import { identifier } from '../../kinds/schema.js';
import { refusalsOf, unlimited } from '../../plan/approve.js';
import { resultReport } from '../../report/formats.js';
import { labelBeside } from '../../report/names.js';
import type { Context, GlobalOptions } from '../context.js';
import type { ExitCode } from '../exit.js';
import { filesOf, parseFormats } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { carryOut, consent, questionOf, showPlan, where } from './apply-plan.js';

interface Options {
  readonly yes?: boolean;
  readonly format: readonly string[];
}

/** `idops regenerate-did`: regenerates one client's DID; the recorded generation stays. */
export async function regenerateDid(
  context: Context,
  options: Options & GlobalOptions,
  id: string,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, resultReport);
  if (!identifier().safeParse(id).success) {
    throw wrongOption(`${JSON.stringify(id)} is not the id of a client`);
  }
  return await context.writing(
    'regenerate-did',
    async (session) => {
      await context.refuseOutputs(filesOf(formats), session);
      const plan = await session.planRegeneration(id);
      await showPlan(plan, formats, context, { asks: options.yes !== true });
      refuse(refusalsOf(plan, unlimited));
      const [label] = plan.changes.flatMap(({ label }) => label ?? []);
      const called = labelBeside({ label: label === undefined ? label : context.redactor.redact(label) });
      const agreed = await consent(
        questionOf(`Regenerate the DID of client ${id}${called} on ${where(plan)}?`, plan),
        options.yes === true,
        context,
      );
      return await carryOut(session, plan, unlimited, agreed, formats, context);
    },
    { manifests: false },
  );
}
