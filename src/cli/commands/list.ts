import { listReport } from '../../report/formats.js';
import { list as listFrom } from '../../session/list.js';
import { discoveryOptionsOf, type PullingOptions } from '../../session/options.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

export async function list(
  context: Context,
  options: PullingOptions & GlobalOptions,
  kinds: readonly string[],
): Promise<ExitCode> {
  const formats = parseFormats(options.format, listReport);
  const { output } = context;
  const asked = discoveryOptionsOf({ ...options, kind: kinds });
  const listing = await listFrom(await context.project(), context.sessionOptions(), asked);
  for (const note of listing.notes) output.message(note);
  const { missing } = listing;
  output.problems(missing);
  await show(formats, listReport, listing, context);
  return missing.length > 0 ? exit.failed : exit.done;
}
