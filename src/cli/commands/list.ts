import { otherNames } from '../../kinds/other-names.js';
import { listReport } from '../../report/formats.js';
import { plural } from '../../report/words.js';
import { askedOf, type PullingOptions } from '../../session/options.js';
import { list as listFrom } from '../../session/pull.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';
import { adviceAfter } from './pull.js';

/** `idops list`: what the server has, as far as its profile can read it. */
export async function list(
  context: Context,
  options: PullingOptions & GlobalOptions,
  kind: string | undefined,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, listReport);
  const { output } = context;
  const other = otherNames.find((name) => name === kind);
  const asked = {
    ...askedOf({ ...options, kind: kind === undefined || other !== undefined ? [] : [kind] }),
    ...(other === undefined ? {} : { other }),
  };
  const listing = await listFrom(await context.project(), context.sessionOptions(), asked).catch(
    (failure: unknown) => {
      const advice = adviceAfter(failure);
      if (advice !== null && !context.signal.aborted) output.message(`nothing is listed: ${advice}`);
      throw failure;
    },
  );
  for (const note of listing.notes) output.message(note);
  const declared = listing.objects.filter(({ declaredAt }) => declaredAt !== undefined).length;
  if (declared > 0) {
    const { length: all } = listing.objects;
    output.message(`${declared} of ${plural(all, 'object')} ${declared === 1 ? 'is' : 'are'} declared.`);
  }
  if (listing.missing.length > 0) output.problems(listing.missing);
  await show(formats, listReport, listing, context);
  return listing.missing.length > 0 ? exit.failed : exit.done;
}
