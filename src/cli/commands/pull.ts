import { relative, sep } from 'node:path';
import { error, ProblemsError } from '../../base/problems.js';
import { pullReport } from '../../report/formats.js';
import type { ShownFile, ShownPull } from '../../report/pull.js';
import { askedOf, type PullingOptions } from '../../session/options.js';
import { type Pulling, pull as pullFrom } from '../../session/pull.js';
import { shownPath } from '../../source/file.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

interface Options extends PullingOptions {
  readonly out?: string;
  readonly layout: 'file-per-kind' | 'file-per-object';
  readonly check?: boolean;
  readonly allTemplates?: boolean;
}

/** `idops pull`: manifests and bodies that say what the server has. */
export async function pull(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, pullReport);
  const { output, signal } = context;
  const { out, layout, check = false, allTemplates = false } = options;
  const project = await context.project();
  const pulling = await pullFrom(project, context.sessionOptions(), {
    ...askedOf(options),
    layout,
    builtIn: allTemplates,
    ...(out === undefined ? {} : { out }),
  });
  for (const note of pulling.notes) output.message(note);
  const changes = pulling.files.some(({ action }) => action !== 'unchanged');
  const isEmpty =
    pulling.added + pulling.updated + pulling.unchanged + pulling.left.length + pulling.missing.length === 0;
  if (isEmpty && pulling.leftOut.length === 0) throw nothingToPull(pulling);
  if (changes && !check) await pulling.write();
  for (const { address, reason } of pulling.leftOut)
    output.message(`${address} stays unmanaged in part: ${reason}`);
  const problems = [...pulling.left, ...pulling.missing];
  if (problems.length > 0) output.problems(problems);
  const shown = asShown(pulling, project, check, out !== undefined);
  await show(formats, pullReport, shown, context);
  if (signal.aborted) {
    const outcome = changes && !check ? 'after all of the files were written' : 'nothing was written';
    output.message(`interrupted: ${outcome}`);
    return exit.interrupted;
  }
  if (problems.length > 0) return exit.failed;
  return check && changes ? exit.failed : exit.done;
}

function nothingToPull({ notes }: Pulling): ProblemsError {
  const why = notes[0] === undefined ? '' : ': see above';
  return new ProblemsError([
    error(
      'nothing-to-pull',
      `nothing of what was asked for could be found on the server${why}`,
      [],
      'idops list shows what there is; name a backend with --backend ID to find its templates',
    ),
  ]);
}

function asShown(
  pulling: Pulling,
  { root, cwd }: { readonly root: string; readonly cwd: string },
  check: boolean,
  isApart: boolean,
): ShownPull {
  const files = pulling.files.map(({ path, action }): ShownFile => {
    const shown = shownPath(path, cwd);
    return { shown, path: isApart ? shown : relative(root, path).split(sep).join('/'), action };
  });
  const { server, profile, added, updated, unchanged, toSet, leftOut, left, missing } = pulling;
  return {
    server,
    profile,
    check,
    files,
    added,
    updated,
    unchanged,
    toSet,
    leftOut,
    left: [...left, ...missing],
    next: nextOf(pulling, check, isApart),
  };
}

/** What to type next; null where nothing follows. */
function nextOf({ files, left }: Pulling, check: boolean, isApart: boolean): string | null {
  const changes = files.some(({ action }) => action !== 'unchanged');
  if (check) return changes ? 'idops pull, without --check, writes this' : null;
  if (left.length > 0) return 'idops plan, which shows what was left';
  if (files.length === 0) return null;
  if (isApart) return 'name the folder under "manifests" of the configuration, then idops plan';
  return 'idops plan, which finds nothing to do for what was pulled';
}
