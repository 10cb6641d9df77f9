import { realpath, rmdir } from 'node:fs/promises';
import { posix, relative, resolve, sep } from 'node:path';
import { failuresIn } from '../base/concurrency.js';
import { realPath } from '../base/paths.js';
import { error, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { noProgress, withoutHarm } from '../base/progress.js';
import type { Fields } from '../base/values.js';
import { makeFolder } from '../base/write-file.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Asked, Kind, KindName, Known } from '../kinds/kind.js';
import { isHidden } from '../manifests/access.js';
import { matchGlobs } from '../manifests/find-manifests.js';
import { type LoadedManifests, loadManifests, tellSecrets } from '../manifests/load.js';
import { isInside } from '../manifests/symlinks.js';
import type { Seen } from '../plan/plan.js';
import type { Project, ServerSettings } from '../project/index.js';
import { askedProblems, type LookOptions } from '../pull/discover.js';
import { manifestHead, type NewFile } from '../pull/layout.js';
import { type FreshPull, pullFresh } from '../pull/pull-fresh.js';
import { type PullResult, pullInto } from '../pull/pull-into.js';
import {
  checkFiles,
  filesInFolder,
  interruptedBefore,
  notWritable,
  type PulledFile,
  writeFiles,
} from '../pull/write.js';
import { createRedactor } from '../secrets/redactor.js';
import { ServerFailure } from '../server/failures.js';
import type { ProfileName } from '../server/profiles.js';
import type { State } from '../state/state.js';
import { backendOf } from './backend.js';
import { withReader } from './connection.js';
import { problemsOf } from './failures.js';
import { refuseInputs } from './outputs.js';
import { editedFiles, type PulledHashes, recordPull } from './record-pull.js';
import type { SessionOptions } from './session.js';

/** What is to be pulled or listed; all that the server shows where nothing is said. */
export interface PullRequest {
  readonly kinds?: readonly KindName[];
  /** The ids that are asked for, by option: `backend`, `type`, `user`, `client`. */
  readonly asked?: Asked;
  /** Built-in templates, which nobody customised, too. */
  readonly builtIn?: boolean;
}

/** What a pull comes to; nothing is written yet. */
export interface Pulling extends PullResult {
  /** The base URL of the server. */
  readonly server: string;
  /** The profile that it was read with. */
  readonly profile: ProfileName;
  /** Whether it is a fresh set of files that the configuration doesn't name yet. */
  readonly apart: boolean;
  /** Makes sure that they can be written, as far as that shows before. Throws what `write` throws then. */
  check(): Promise<void>;
  /**
   * Writes the files, and records in the state what the manifests now say; gives a warning if that can't be done. Throws a ProblemsError
   * if a file was edited and that isn't forced, was changed meanwhile, or can't be written.
   */
  write(): Promise<Problem[]>;
}

/**
 * Works out how a project's manifests come to say what its server has, or with `out` a fresh set of files for a folder. Sends
 * GETs alone. Throws a ProblemsError with everything that is wrong before that.
 */
export async function pull(
  project: Project,
  options: SessionOptions,
  { out, force = false, ...request }: PullRequest & { readonly out?: string; readonly force?: boolean },
): Promise<Pulling> {
  return await withPullContext(project, options, request, async (looked) => {
    const { server, manifests, look, known, notes, holds, record, pulled } = looked;
    // What is wrong with manifests is in the way of changing them, and of nothing else.
    if (out === undefined) refuse(manifests.problems);
    const wishes = { ...wishesOf(request), known, holds };
    const shared = { server: server.baseUrl, profile: server.profile.name };
    if (out === undefined) {
      const rest = await pullInto(project, manifests, wishes, {
        ...look,
        tokenFile: options.tokenFile,
        knownOf: (key) => {
          const resources = looked.resources ?? {};
          return Object.hasOwn(resources, key)
            ? (resources[key]?.left?.fields as Fields | undefined)
            : undefined;
        },
      });
      return {
        ...shared,
        ...rest,
        apart: false,
        notes: [...notes, ...rest.notes],
        check: () => checkFiles(rest.files, project.root, project.cwd),
        async write() {
          if (!force) refuse(await editedFiles(rest.files, project, pulled));
          const isNew = rest.files.some(({ action }) => action !== 'unchanged');
          if (isNew) await writeFiles(rest.files, project.root, project.cwd, options.signal);
          return await record(rest.seen, rest.files);
        },
      };
    }
    const folder = await realPath(resolve(project.cwd, out));
    refuseHidden(folder, project.root);
    const fresh = withHeads(await pullFresh(wishes, look), folder, project.root);
    const apart = !isNamed(folder, fresh.files, project);
    if (!apart && manifests.declared.length > 0) throw declaredAlready();
    const files = await filesInFolder(fresh, folder, project.cwd);
    const written = files.filter(({ action }) => action !== 'unchanged').map(({ path }) => path);
    const isThere = written.length === 0;
    const config = resolve(project.cwd, project.file);
    await refuseInputs(written, config, { project, files: manifests.files });
    return {
      ...shared,
      apart,
      files,
      added: isThere ? 0 : fresh.documents.length,
      updated: 0,
      unchanged: isThere ? fresh.documents.length : 0,
      toSet: fresh.toSet,
      leftOut: fresh.left,
      left: [],
      missing: fresh.missing,
      seen: fresh.seen,
      notes: [...notes, ...fresh.notes],
      check: () => checkFiles(files, folder, project.cwd),
      async write() {
        if (options.signal?.aborted) throw interruptedBefore();
        if (isThere) return await record(apart ? [] : fresh.seen, files);
        const made = await makeFolder(folder, 0o644).catch((failure: unknown) => {
          throw notWritable(
            folder,
            project.cwd,
            failure,
            'name a folder that can be made; nothing was written',
          );
        });
        try {
          await writeFiles(files, await realpath(folder), project.cwd, options.signal);
        } catch (failure) {
          if (made !== undefined) await rmdir(folder).catch(() => {});
          throw failure;
        }
        // What no configuration names is no business of the state.
        return await record(apart ? [] : fresh.seen, files);
      },
    };
  });
}

/**
 * The same without the kinds that the token lacks the scope to read; `refused` says which those are. Throws if no kind is left, and
 * what `pull` throws for another cause.
 */
export async function pullReadable(
  project: Project,
  options: SessionOptions,
  request: PullRequest & { readonly out?: string },
): Promise<Pulling & { readonly refused: readonly Problem[] }> {
  try {
    return { ...(await pull(project, options, request)), refused: [] };
  } catch (failure) {
    const failures = failuresIn(failure);
    const forbidden = failures.filter(
      (one): one is ServerFailure => one instanceof ServerFailure && one.kind === 'forbidden',
    );
    const { kinds: wanted, asked } = wishesOf(request);
    const isLeft = ({ scopes }: Kind): boolean => forbidden.every(({ scope }) => scope !== scopes.read);
    const rest = wanted.filter(isLeft);
    if (forbidden.length < failures.length || rest.length === 0 || rest.length === wanted.length)
      throw failure;
    const isAskedOf = (option: string): boolean =>
      rest.some(({ discovery }) => Object.hasOwn(discovery?.options ?? {}, option));
    const pulling = await pullReadable(project, options, {
      ...request,
      kinds: rest.map(({ name }) => name),
      asked: Object.fromEntries(Object.entries(asked).filter(([option]) => isAskedOf(option))),
    });
    const byScope = new Map(forbidden.map((one) => [one.scope, one] as const));
    const refused = [...byScope].flatMap(([scope, one]) => {
      const names = wanted.filter(({ scopes }) => scopes.read === scope).map(({ name }) => name);
      return problemsOf(one).map((problem) => ({
        ...problem,
        message: `left out ${names.join(' and ')}: ${problem.message}`,
      }));
    });
    return { ...pulling, refused: [...refused, ...pulling.refused] };
  }
}

/** What a project says of itself, and its server. */
export interface PullContext {
  readonly server: ServerSettings;
  readonly manifests: LoadedManifests;
  readonly look: LookOptions;
  readonly known: readonly Known[];
  readonly notes: readonly string[];
  readonly holds: (text: string) => boolean;
  /** Records what was seen of objects; gives a warning if that can't be done. */
  record(seen: readonly Seen[], files: readonly PulledFile[]): Promise<Problem[]>;
  /** What is known of the files that were pulled before. */
  readonly pulled: PulledHashes | undefined;
  /** What the state knows of objects. */
  readonly resources: State['resources'] | undefined;
}

/** Reads what the project says of itself, and connects to its server for as long as the work takes. */
export async function withPullContext<T>(
  project: Project,
  options: SessionOptions,
  request: PullRequest,
  work: (looked: PullContext) => Promise<T>,
): Promise<T> {
  const { tokenFile, concurrency = 10, timeout = 30, network = {} } = options;
  const progress = withoutHarm(options.progress ?? noProgress);
  const redactor = options.redactor ?? createRedactor();
  const signal = options.signal ?? new AbortController().signal;
  refuse(project.sharedStateProblems());
  const server = await project.server(options);
  for (const secret of server.secrets) redactor.add(String(secret.reveal()));
  const { profile } = server;
  const credentials = tokenFile === undefined ? undefined : resolve(project.cwd, tokenFile);
  const manifests = await loadManifests(project, { lenient: true, profile, tokenFile: credentials, signal });
  tellSecrets(manifests, redactor.add);
  refuse(askedProblems(request.asked ?? {}, wishesOf(request).kinds, profile));
  const { known, notes, before } = await knownIn(project, manifests, server, redactor.add);
  // A state that can't be used was told of.
  const record: PullContext['record'] = async (seen, files) =>
    before === undefined
      ? []
      : await recordPull(project, seen, { server: server.baseUrl, before, files, redactor });
  const pulled = before?.pulled;
  const sending = {
    concurrency,
    timeout,
    redactor,
    signal,
    network: { onRetry: progress.retry, ...network },
  };
  return await withReader(server, manifests.declared, sending, async (reader) => {
    const look = { reader, profile, concurrency, progress, signal };
    const done = await work({
      server,
      manifests,
      look,
      known,
      notes,
      holds: redactor.holds,
      record,
      pulled,
      resources: before?.resources,
    });
    if (signal.aborted) throw interruptedBefore();
    return done;
  });
}

/** What manifests and the state name; a state that can't be used is told, since nothing is built on it. */
async function knownIn(
  project: Project,
  { declared }: LoadedManifests,
  server: ServerSettings,
  onSecret: (secret: string) => void,
): Promise<{ known: readonly Known[]; notes: readonly string[]; before: State | undefined }> {
  try {
    const backend = await backendOf(project, onSecret);
    await backend.check('read');
    const before = await backend.load(server.baseUrl);
    return { known: [...declared, ...Object.values(before.resources)], notes: [], before };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    const [problem] = failure.problems;
    const notes = [`the state is left out of account: ${problem?.message}`];
    return { known: declared, notes, before: undefined };
  }
}

/** What is looked for, with what is usual where nothing is said. */
export function wishesOf({ kinds: wanted, asked = {}, builtIn = false }: PullRequest) {
  const chosen: readonly Kind[] = wanted === undefined || wanted.length === 0 ? kinds : wanted.map(kindOf);
  return { kinds: kinds.filter((kind) => chosen.includes(kind)), asked, builtIn };
}

/** A fresh set of files with what new manifests begin with, where it is to lie in the project. */
function withHeads(fresh: FreshPull, folder: string, root: string): FreshPull {
  if (folder !== root && !isInside(folder, root)) return fresh;
  const head = manifestHead(root);
  const files = fresh.files.map(({ path, text }) => ({
    path,
    text: path.endsWith('.yaml') ? head(inProject(path, folder, root)) + text : text,
  }));
  return { ...fresh, files };
}

/** The path of a file of a folder from the project's root, with `/`. */
function inProject(path: string, folder: string, root: string): string {
  return posix.join(relative(root, folder).split(sep).join('/'), path);
}

/** Whether the configuration takes files of a folder for manifests. */
function isNamed(folder: string, files: readonly NewFile[], project: Project): boolean {
  if (folder !== project.root && !isInside(folder, project.root)) return false;
  const paths = files.map(({ path }) => inProject(path, folder, project.root));
  return matchGlobs(project, paths).size > 0;
}

/** A fresh set must not declare a second time what the project's own manifests declare. */
function declaredAlready(): ProblemsError {
  return new ProblemsError([
    error(
      'wrong-option',
      '--out names a folder whose files the configuration takes for manifests, and the project has manifests already',
      [],
      'leave out --out to bring those up to what the server has, or name a folder that no glob of the configuration names',
    ),
  ]);
}

/** What git and idops keep for themselves is no place for manifests, and none is read from a hidden folder. */
function refuseHidden(folder: string, root: string): void {
  const isGit = folder.split(sep).includes('.git');
  if (!isGit && !(isInside(folder, root) && isHidden(folder, root))) return;
  const message = '--out names a hidden folder, from which no manifest is read';
  throw new ProblemsError([
    error(
      'wrong-option',
      message,
      [],
      'name a folder that does not begin with a dot, nor lies in one that does',
    ),
  ]);
}
