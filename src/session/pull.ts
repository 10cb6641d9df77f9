import { realpath, rmdir } from 'node:fs/promises';
import { posix, resolve, sep } from 'node:path';
import { failuresIn } from '../base/concurrency.js';
import { realPath } from '../base/paths.js';
import { type Problem, ProblemsError, problemError, refuse } from '../base/problems.js';
import { noProgress, safeProgress } from '../base/progress.js';
import { makeFolder } from '../base/write-file.js';
import { kinds } from '../kinds/index.js';
import type { DiscoveryFilters, Kind, KindName } from '../kinds/kind.js';
import { isHidden } from '../manifests/access.js';
import { matchManifests, placesForNewManifests } from '../manifests/find-manifests.js';
import { type LoadedManifests, loadManifests, registerSecrets } from '../manifests/load.js';
import { isInside } from '../manifests/symlinks.js';
import type { Seen } from '../plan/plan.js';
import type { Project, ServerSettings } from '../project/index.js';
import { kindsInFile, readBorutaFile } from '../pull/boruta-file.js';
import {
  askedProblems,
  type DiscoverOptions,
  type PullOptions,
  resolveAskedBackends,
} from '../pull/discover.js';
import { manifestHead } from '../pull/layout.js';
import type { LeftOut } from '../pull/new-documents.js';
import { type PullResult, pullInto } from '../pull/pull-into.js';
import { type NewFilesResult, pullNewFiles } from '../pull/pull-new.js';
import {
  filesInFolder,
  interruptedProblem,
  notWritable,
  type PulledFile,
  refuseChangedFiles,
  writeFiles,
} from '../pull/write.js';
import { credentialTest } from '../pull/write-value.js';
import { holdsCredential } from '../secrets/names.js';
import { createRedactor, type OnSecret } from '../secrets/redactor.js';
import { ServerFailure } from '../server/failures.js';
import type { ProfileName } from '../server/profiles.js';
import type { State } from '../state/state.js';
import { fileName, shownPath } from '../yaml/source-file.js';
import { backendOf } from './backend.js';
import { DEFAULT_CONCURRENCY, withReader } from './connection.js';
import { problemsOf } from './failures.js';
import { refuseInputs } from './outputs.js';
import { editedFiles, editProblem, recordPull } from './record-pull.js';
import type { SessionOptions } from './session.js';

/** What to pull or list; by default everything that the server shows. */
export interface PullRequest {
  readonly kinds?: readonly KindName[];
  /** The requested ids, by option: `backend`, `type`, `user`, `client`. */
  readonly asked?: DiscoveryFilters;
  /** Include built-in templates, which nobody has customised. */
  readonly builtIn?: boolean;
  /** Add no document and no field. */
  readonly declared?: boolean;
  /** How new documents refer to objects: by unique names (default), or by ids. */
  readonly by?: 'name' | 'id';
  /** Boruta's configuration file, read instead of the server. */
  readonly borutaFile?: string;
}

/** A pull before anything is written. */
export interface PreparedPull extends Omit<PullResult, 'settled'> {
  /** The base URL. */
  readonly server: string;
  readonly profile: ProfileName;
  /** Whether the files are a new set that no glob of the configuration matches. */
  readonly isUnconfigured: boolean;
  /** Throws the errors of `write` that can be found without writing. */
  check(): Promise<void>;
  /**
   * Writes the files, and records in the state what was read; returns a warning if recording fails. Throws a ProblemsError if a file has
   * an edit that `force` doesn't overwrite, was changed meanwhile, or can't be written.
   */
  write(): Promise<Problem[]>;
}

/**
 * Brings the manifests of a project up to date with its server or, with `out`, creates a new set of files for a folder. Writes nothing yet
 * and sends only GETs. Throws a ProblemsError with every problem before the first GET.
 */
export async function pull(
  project: Project,
  options: SessionOptions,
  { force = false, ...request }: PullRequest & { readonly out?: string; readonly force?: boolean },
): Promise<PreparedPull> {
  const { borutaFile, out = borutaFile === undefined ? undefined : newFolder(project) } = request;
  return await withPullContext(project, options, request, async (context) => {
    const { server, manifests, look, wishes, notes, state, record, leftOut } = context;
    const shared = { server: server.baseUrl, profile: server.profile.name };
    if (out === undefined) {
      // Only a pull into existing manifests needs all of them to be valid.
      refuse(manifests.problems);
      const into = { ...look, tokenFile: options.tokenFile, state, now: options.now ?? new Date() };
      const pulled = await pullInto(project, manifests, wishes, into);
      return {
        ...shared,
        ...pulled,
        isUnconfigured: false,
        notes: [...notes, ...pulled.notes],
        check: () => refuseChangedFiles(pulled.files, project.root, project.cwd),
        async write() {
          const edited = await editedFiles(pulled.files, project, state?.pulled);
          const overwritten = force ? [] : edited.filter(({ keepsText }) => keepsText !== true);
          refuse(overwritten.map(({ path }) => editProblem(path, project.cwd)));
          const isNew = pulled.files.some(({ action }) => action !== 'unchanged');
          if (isNew) await writeFiles(pulled.files, project.root, project.cwd, options.signal);
          const written = pulled.files.filter((one) => one.action !== 'unchanged' && !edited.includes(one));
          return await record(pulled.seen, [...pulled.settled, ...written]);
        },
      };
    }
    const folder = await realPath(resolve(project.cwd, out));
    refuseHidden(folder, project.root);
    const fresh = placeInProject(await pullNewFiles(wishes, look), folder, project);
    const { isUnconfigured } = fresh;
    if (!isUnconfigured && manifests.declared.length > 0) {
      const [what, instead] =
        borutaFile === undefined
          ? [
              '--out names a folder in which the configuration has manifests',
              'leave out --out to update those manifests, or name a folder',
            ]
          : ['--from-boruta-file writes new manifests', 'name a folder with --out'];
      throw problemError(
        'wrong-option',
        `${what}, and the project has manifests already`,
        `${instead} that no glob of the configuration names`,
      );
    }
    const files = await filesInFolder(fresh.files, folder, project.cwd);
    const written = files.filter(({ action }) => action !== 'unchanged').map(({ path }) => path);
    const isUnchanged = written.length === 0;
    const config = resolve(project.cwd, project.file);
    await refuseInputs(written, config, { project, files: manifests.files }, true);
    // The state doesn't record files that no glob matches.
    const recordFresh = async () => (isUnconfigured ? [] : await record(fresh.seen, files));
    return {
      ...shared,
      ...fresh,
      files,
      added: isUnchanged ? 0 : fresh.documents.length,
      updated: 0,
      unchanged: isUnchanged ? fresh.documents.length : 0,
      covered: 0,
      notPulled: [],
      leftOut: [...leftOut, ...fresh.leftOut],
      notes: [...notes, ...fresh.notes],
      check: () => refuseChangedFiles(files, folder, project.cwd),
      async write() {
        if (options.signal?.aborted) throw interruptedProblem();
        if (isUnchanged) return await recordFresh();
        const made = await makeFolder(folder, 0o644).catch((failure: unknown) => {
          const hint = 'name a folder that can be created; nothing was written';
          throw notWritable(folder, project.cwd, failure, hint);
        });
        try {
          await writeFiles(files, await realpath(folder), project.cwd, options.signal);
        } catch (failure) {
          if (made !== undefined) await rmdir(folder).catch(() => {});
          throw failure;
        }
        return await recordFresh();
      },
    };
  });
}

/** The same without the kinds that the token may not read; `refused` has their problems. Throws if no kind is left. */
export async function pullReadable(
  project: Project,
  options: SessionOptions,
  request: PullRequest & { readonly out?: string },
): Promise<PreparedPull & { readonly refused: readonly Problem[] }> {
  try {
    return { ...(await pull(project, options, request)), refused: [] };
  } catch (failure) {
    const failures = failuresIn(failure);
    const forbidden = failures.filter(
      (one): one is ServerFailure => one instanceof ServerFailure && one.kind === 'forbidden',
    );
    const { kinds: wanted, asked } = wishesOf(request);
    const isLeft = (kind: Kind): boolean => forbidden.every(({ scope }) => scope !== kind.scope);
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
      const names = wanted.filter((kind) => kind.scope === scope).map(({ name }) => name);
      return problemsOf(one).map((problem) => ({
        ...problem,
        message: `left out ${names.join(' and ')}: ${problem.message}`,
      }));
    });
    return { ...pulling, refused: [...refused, ...pulling.refused] };
  }
}

/** What a pull or a list works with. */
export interface PullContext {
  readonly server: Pick<ServerSettings, 'baseUrl' | 'profile'>;
  readonly manifests: LoadedManifests;
  readonly look: DiscoverOptions;
  /** What to look for: the request, with ids instead of names, and what manifests and the state name. */
  readonly wishes: PullOptions;
  readonly notes: readonly string[];
  /** Entries of Boruta's configuration file that manifests can't declare. */
  readonly leftOut: readonly LeftOut[];
  /** The state; undefined if it can't be used. */
  readonly state: State | undefined;
  /** Records what was read of objects; returns a warning if that fails. */
  record(seen: readonly Seen[], files: readonly PulledFile[]): Promise<Problem[]>;
}

/** Loads the manifests and the state of a project, and calls `work` with a connection to its server. */
export async function withPullContext<T>(
  project: Project,
  options: SessionOptions,
  request: PullRequest,
  work: (context: PullContext) => Promise<T>,
): Promise<T> {
  if (request.borutaFile !== undefined) return await work(await fileContext(project, options, request));
  const { tokenFile, concurrency = DEFAULT_CONCURRENCY, timeout } = options;
  const progress = safeProgress(options.progress ?? noProgress);
  const redactor = options.redactor ?? createRedactor();
  const signal = options.signal ?? new AbortController().signal;
  refuse(await project.sharedStateProblems());
  const server = await project.server(options);
  for (const secret of server.secrets) redactor.add(String(secret.reveal()));
  const { profile, baseUrl } = server;
  const manifests = await loadManifests(project, { lenient: true, profile, tokenFile, signal });
  registerSecrets(manifests, redactor.add);
  refuse(askedProblems(request.asked ?? {}, wishesOf(request).kinds, profile));
  const { declared } = manifests;
  const { state, notes } = await loadState(project, baseUrl, redactor.add);
  const network = { onRetry: progress.retry, ...options.network };
  const reading = { concurrency, timeout, redactor, signal, network };
  return await withReader(server, declared, reading, async (reader) => {
    const look = { reader, profile, concurrency, progress, signal, lists: {} };
    const done = await work({
      server,
      manifests,
      look,
      wishes: {
        ...wishesOf({ ...request, asked: await resolveAskedBackends(request.asked ?? {}, look) }),
        known: [...declared, ...Object.values(state?.resources ?? {})],
        hasCredential: credentialTest(redactor.holds),
      },
      notes,
      leftOut: [],
      state,
      record: async (seen, files) =>
        state === undefined
          ? []
          : await recordPull(project, seen, { server: baseUrl, before: state, files, redactor }),
    });
    if (signal.aborted) throw interruptedProblem();
    return done;
  });
}

/** The context of a pull from Boruta's configuration file instead of a server. Throws a ProblemsError if the file can't be used. */
async function fileContext(
  project: Project,
  { signal, concurrency = DEFAULT_CONCURRENCY }: SessionOptions,
  { borutaFile = '', ...request }: PullRequest,
): Promise<PullContext> {
  const { profile, cwd, root } = project;
  if (profile.name !== 'boruta')
    throw problemError(
      'wrong-option',
      `--from-boruta-file writes manifests for Boruta, but the profile is ${profile.name}`,
      'set "profile: boruta" under server',
    );
  const { by, declared = false, asked = {} } = request;
  const others = [
    ...(by === 'id' ? ['--by id'] : []),
    ...(declared ? ['--declared'] : []),
    ...Object.entries(asked).flatMap(([option, ids = []]) => (ids.length > 0 ? [`--${option}`] : [])),
  ];
  if (others.length > 0)
    throw problemError(
      'wrong-option',
      `--from-boruta-file can't be used with ${others.join(', ')}`,
      'remove the others; --kind selects what is written',
    );
  const path = resolve(cwd, borutaFile);
  const name = fileName(path, { cwd, root });
  const { reader, leftOut, referencedOnly } = readBorutaFile(path, name);
  const wishes = wishesOf(request);
  const kinds = wishes.kinds.filter((kind) => kindsInFile.includes(kind.name));
  if (kinds.length === 0)
    throw problemError('wrong-option', `--kind: the file has only ${kindsInFile.join(', ')}`);
  return {
    server: { baseUrl: name.file, profile },
    manifests: await loadManifests(project, { lenient: true, profile, signal }),
    look: { reader, profile, concurrency, progress: noProgress, lists: {} },
    wishes: { ...wishes, kinds, known: [], referencedOnly, hasCredential: holdsCredential },
    notes: [],
    leftOut,
    state: undefined,
    record: async () => [],
  };
}

/** The folder for new manifests of a project. */
function newFolder(project: Project): string {
  const [home] = placesForNewManifests(project);
  return resolve(project.root, home !== undefined && 'folder' in home ? home.folder : '.');
}

/** Loads the state. If it can't be used, a note says why; a pull works without it. */
async function loadState(
  project: Project,
  server: string,
  onSecret: OnSecret,
): Promise<Pick<PullContext, 'state' | 'notes'>> {
  try {
    const backend = await backendOf(project, onSecret);
    await backend.check('read');
    return { state: await backend.load(server), notes: [] };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return { state: undefined, notes: [`the state isn't used: ${failure.problems[0]?.message}`] };
  }
}

/** What to look for, with defaults for the members that the request leaves out. */
export function wishesOf({
  kinds: wanted,
  asked = {},
  builtIn = false,
  by = 'name',
  declared = false,
}: PullRequest) {
  const isWanted = ({ name, discovery }: Kind): boolean => {
    if (wanted !== undefined && wanted.length > 0) return wanted.includes(name);
    // --backend excludes kinds that belong to no backend.
    const isWithin = discovery?.parentFilter !== undefined || discovery?.options.backend !== undefined;
    return (asked.backend ?? []).length === 0 || isWithin;
  };
  return { kinds: kinds.filter(isWanted), asked, builtIn, by, declaredOnly: declared };
}

/** A fresh set of files, with the head of new manifests if they are in the project; `isUnconfigured` if no glob of the configuration names them. */
function placeInProject(
  fresh: NewFilesResult,
  folder: string,
  project: Project,
): NewFilesResult & { isUnconfigured: boolean } {
  const { root } = project;
  if (folder !== root && !isInside(folder, root)) return { ...fresh, isUnconfigured: true };
  const head = manifestHead(root);
  const inProject = (path: string): string => posix.join(shownPath(folder, root), path);
  const files = fresh.files.map(({ path, text }) => ({
    path,
    text: path.endsWith('.yaml') ? head(inProject(path)) + text : text,
  }));
  const matched = matchManifests(
    project,
    files.map(({ path }) => inProject(path)),
  );
  return { ...fresh, files, isUnconfigured: matched.size === 0 };
}

function refuseHidden(folder: string, root: string): void {
  const isGit = folder.split(sep).includes('.git');
  if (!isGit && !(isInside(folder, root) && isHidden(folder, root))) return;
  const message = '--out names a hidden folder, from which no manifest is read';
  const hint = 'name a folder without a leading dot, outside of such folders';
  throw problemError('wrong-option', message, hint);
}
