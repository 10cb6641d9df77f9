import { identifier } from '../../kinds/schema.js';
import { resultReport } from '../../report/formats.js';
import { labelSuffix } from '../../report/names.js';
import type { Context, GlobalOptions } from '../context.js';
import type { ExitCode } from '../exit.js';
import { parseFormats } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { applyPlan } from './apply-plan.js';
import { serverAndEnvironment } from './consent.js';

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
  return await applyPlan(context, {
    command: 'regenerate-did',
    formats,
    about: { manifests: false },
    yes: options.yes === true,
    async preparePlan(session) {
      const plan = await session.planRegeneration(id);
      const [label] = plan.changes.flatMap(({ label }) => label ?? []);
      const called = labelSuffix({ label: label === undefined ? label : context.redactor.redact(label) });
      return {
        plan,
        question: `Regenerate the DID of client ${id}${called} on ${serverAndEnvironment(plan)}?`,
      };
    },
  });
}
