import { relative, sep } from 'node:path';
import { type Problem, type ProblemsError, problemError, warning } from '../../base/problems.js';
import { withoutUndefined } from '../../base/values.js';
import { pullReport } from '../../report/formats.js';
import type { ShownPull } from '../../report/pull.js';
import { discoveryOptionsOf, type PullingOptions } from '../../session/options.js';
import { refuseDuplicates } from '../../session/outputs.js';
import { type PreparedPull, pull as pullFrom, pullReadable } from '../../session/pull.js';
import { shownPath } from '../../yaml/source-file.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { filesOf, parseFormats, show } from '../formats.js';

interface Options extends PullingOptions {
  readonly out?: string;
  readonly check?: boolean;
  readonly force?: boolean;
  readonly allTemplates?: boolean;
  readonly declared?: boolean;
  readonly by: 'name' | 'id';
  readonly fromBorutaFile?: string;
}

/** `idops pull`: writes manifests from the server; with `--check` only compares. */
export async function pull(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, pullReport);
  const { output, signal } = context;
  const { out, check = false, force = false, allTemplates = false, declared = false, by } = options;
  const { fromBorutaFile: borutaFile } = options;
  const outputs = filesOf(formats);
  await context.refuseOutputs(outputs);
  const project = await context.project();
  const request = {
    ...discoveryOptionsOf(options),
    builtIn: allTemplates,
    declared,
    by,
    force,
    ...withoutUndefined({ out, borutaFile }),
  };
  const pulling: PreparedPull & { readonly refused?: readonly Problem[] } = await (check
    ? pullReadable(project, context.sessionOptions(), request)
    : pullFrom(project, context.sessionOptions(), request)
  ).catch((failure: unknown) => {
    if (!signal.aborted) output.message('Nothing was written; --kind selects what is read.');
    throw failure;
  });
  const { refused = [] } = pulling;
  output.problems(refused);
  for (const note of pulling.notes) output.message(note);
  const changes = pulling.files.some(({ action }) => action !== 'unchanged');
  const { added, updated, unchanged, covered } = pulling;
  const reported = [...pulling.notPulled, ...pulling.missing, ...pulling.leftOut];
  if (added + updated + unchanged + covered + reported.length === 0) throw nothingToPull(pulling);
  if (outputs.length > 0) {
    await refuseDuplicates([...pulling.files.map(({ path }) => shownPath(path, project.cwd)), ...outputs]);
  }
  if (!check) output.problems(await pulling.write());
  else if (changes) await pulling.check();
  if (pulling.leftOut.length > 0) {
    const unmanaged = ({ address, reason }: PreparedPull['leftOut'][number]): Problem =>
      warning('left-out', `${address} is not fully managed: ${reason}`);
    output.problems(pulling.leftOut.map(unmanaged));
  }
  const problems = [...pulling.notPulled, ...pulling.missing];
  output.problems(problems);
  const shown = asShown(pulling, project, check);
  await show(formats, pullReport, shown, context, {}, check && changes ? output.failure : undefined);
  if (signal.aborted) {
    const outcome = changes && !check ? 'after all files were written' : 'nothing was written';
    output.message(`interrupted: ${outcome}`);
    return exit.interrupted;
  }
  return problems.length + refused.length > 0 || (check && changes) ? exit.failed : exit.done;
}

function nothingToPull({ notes }: PreparedPull): ProblemsError {
  const why = notes[0] === undefined ? '' : ': see above';
  return problemError(
    'nothing-to-pull',
    `nothing to pull was found on the server${why}`,
    'idops list shows what there is; name a backend with --backend ID to find its templates',
  );
}

function asShown(
  pulling: PreparedPull,
  { root, cwd }: { readonly root: string; readonly cwd: string },
  check: boolean,
): ShownPull {
  const files = pulling.files.map(({ path, action }) => {
    const displayPath = shownPath(path, cwd);
    return {
      displayPath,
      path: pulling.isUnconfigured ? displayPath : relative(root, path).split(sep).join('/'),
      action,
    };
  });
  const notUpdated = [...pulling.notPulled, ...pulling.missing];
  const { server, profile, added, updated, unchanged, toSet, leftOut } = pulling;
  const next = nextOf(pulling, check);
  return { server, profile, check, files, added, updated, unchanged, toSet, leftOut, notUpdated, next };
}

function nextOf({ files, notPulled, missing, isUnconfigured }: PreparedPull, check: boolean): string | null {
  const changes = files.some(({ action }) => action !== 'unchanged');
  if (check) return changes ? 'idops pull, without --check, writes this' : null;
  if (notPulled.length + missing.length > 0) return 'fix the problems above, then idops plan';
  if (files.length === 0) return null;
  return isUnconfigured
    ? 'add the folder to "manifests" of a configuration, then run idops plan'
    : 'idops plan, which finds nothing to do for what was pulled';
}
