import { otherNames } from '../../kinds/other-names.js';
import { listReport } from '../../report/formats.js';
import { plural } from '../../report/words.js';
import { type Listing, list as listFrom } from '../../session/list.js';
import { askedOf, type PullingOptions } from '../../session/options.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

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
  const listing = await listFrom(await context.project(), context.sessionOptions(), asked);
  for (const note of listing.notes) output.message(note);
  const problems = [...listing.problems, ...listing.missing];
  if (problems.length > 0) output.problems(problems);
  for (const sentence of declaredText(listing)) output.message(sentence);
  await show(formats, listReport, listing, context);
  return problems.length > 0 ? exit.failed : exit.done;
}

/** How many objects are declared, and how many of those that are the server doesn't have. */
function declaredText({ objects, lacking, unsure }: Listing): string[] {
  const declared = objects.filter(({ declaredAt }) => declaredAt !== undefined).length;
  const found = `${declared} of ${plural(objects.length, 'object')} ${declared === 1 ? 'is' : 'are'} declared`;
  const here = unsure
    ? [`At least ${found}; what is wrong with the manifests, told above, keeps the rest from being known.`]
    : declared > 0
      ? [`${found}.`]
      : [];
  const { length } = lacking;
  return length === 0
    ? here
    : [
        ...here,
        `The server doesn't have ${length === 1 ? '1 object that is' : `${length} objects that are`} declared.`,
      ];
}
