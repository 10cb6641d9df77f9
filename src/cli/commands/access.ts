import { escapeText } from '../../base/escape.js';
import { accessReport } from '../../report/formats.js';
import { type AccessRequest, access as accessOf } from '../../session/access.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show, showsText } from '../formats.js';

export async function access(
  context: Context,
  options: AccessRequest & { readonly format: readonly string[]; readonly now?: Date } & GlobalOptions,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, accessReport);
  const { user, organization, scope, role } = options;
  const request = { user, organization, scope, role };
  const shown = await accessOf(
    await context.project(),
    { ...context.sessionOptions(), now: options.now },
    request,
  );
  if (!showsText(formats)) {
    for (const sentence of shown.notes) context.output.message(escapeText(`Note: ${sentence}`));
  }
  await show(formats, accessReport, shown, context);
  return exit.done;
}
