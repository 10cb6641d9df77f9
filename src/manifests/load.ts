import { basename, dirname } from 'node:path';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';
import type { KindName } from '../base/kind-names.js';
import { error, type Problem, ProblemsError, sortByPlace } from '../base/problems.js';
import { groupBy, type Json } from '../base/values.js';
import { addressOf, kindOf, kinds } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { mergeDocuments } from '../kinds/merge-documents.js';
import type { Project } from '../project/project.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { Profile } from '../server/profiles.js';
import { type ParsedDocument, parseYaml } from '../yaml/parse.js';
import { resolve } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import { Access, maxConcurrentReads } from './access.js';
import { BodyReader } from './bodies.js';
import type { ReadDocument } from './builder.js';
import { readDocument } from './document.js';
import { type FoundManifests, findManifests, type ManifestFile, readManifest } from './find-manifests.js';
import { samplesFolder } from './samples.js';

/** A manifest and its documents. */
export interface ManifestSource extends ManifestFile {
  /** Without a byte order mark. */
  readonly text: string;
  readonly documents: readonly {
    /** The value of the document as written: without interpolation and body files. */
    written(): Json;
    /** Undefined if the document has errors. */
    readonly declared: Declared | undefined;
  }[];
}

/** All manifests of a project, with their problems. */
export interface LoadedManifests {
  /** The valid documents, in the order of files and lines. */
  readonly declared: readonly Declared[];
  /** Errors and warnings of all documents. With an error, nothing may be sent. */
  readonly problems: readonly Problem[];
  /** The values of secret fields and of the process variables that are used. */
  readonly secrets: ReadonlyMap<string, 'declared' | 'variable'>;
  /** The real paths of the manifests and bodies. */
  readonly files: readonly string[];
  /** The manifests, in the order of their paths. */
  readonly sources: readonly ManifestSource[];
  /** Sentences about files that look like manifests and aren't read. */
  unread(): Promise<readonly string[]>;
}

export interface ManifestOptions {
  /** For `validate`: an unset allowed process variable is a warning, and its value is unknown. */
  readonly lenient: boolean;
  readonly profile?: Profile;
  /** Another credential file, relative to the current folder. */
  readonly tokenFile?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** More secrets would take minutes, since hashing is slow on purpose. */
const MAX_SECRETS = 2000;

/** Reads the manifests of a project. Throws only a ProblemsError (`interrupted`); other problems are in the result. */
export async function loadManifests(project: Project, options: ManifestOptions): Promise<LoadedManifests> {
  const { profile = project.profile } = options;
  const problems: Problem[] = [];
  const variables = project.variables(options);
  /** The index of the first document that contains each secret. */
  const declaredSecrets = new Map<string, number>();
  const pauses = new Pauses(options.signal);
  const access = new Access(project, options.tokenFile, pauses);
  const { files, unread } = await tryFindManifests(project, access, problems);
  const bodies = new BodyReader(project, access);
  const limit = pLimit(maxConcurrentReads);
  const sources = await Promise.all(
    files.map(async (file) => ({ ...file, source: await limit(() => readManifest(access, file)) })),
  );
  const creates = (kind: KindName): boolean => project.creates(kind);
  const documents: Promise<ReadDocument>[] = [];
  const parsedFiles: {
    file: ManifestFile;
    source: SourceFile;
    from: number;
    parsed: readonly ParsedDocument[];
  }[] = [];
  for (const { source, ...file } of sources) {
    const { path } = file;
    if (!('text' in source)) {
      problems.push(source);
      continue;
    }
    if (isSampleData(path, source.text)) continue;
    const parsed = parseYaml(source);
    for (const problem of parsed.problems) problems.push(problem);
    parsedFiles.push({ file, source, from: documents.length, parsed: parsed.documents });
    for (const document of parsed.documents) {
      const at = documents.length;
      const onSecret = (secret: string): void => {
        declaredSecrets.set(secret, Math.min(at, declaredSecrets.get(secret) ?? at));
      };
      const reading = readDocument(document, {
        file: source,
        path,
        variables,
        profile,
        bodies,
        onSecret,
        creates,
      });
      // Promise.all below throws a failure.
      reading.catch(() => {});
      documents.push(reading);
      if (pauses.due) await pauses.pause();
    }
  }
  const read = await Promise.all(documents);
  await pauses.pause();
  for (const document of read) for (const problem of document.problems) problems.push(problem);
  const declared = read.flatMap(({ declared }) => (declared === undefined ? [] : [declared]));
  for (const problem of duplicates(declared)) problems.push(problem);
  for (const problem of contradictions(declared)) problems.push(problem);
  for (const kind of kinds) {
    const ofKind = declared.filter((object) => object.kind === kind.name);
    for (const problem of kind.check(ofKind, profile)) problems.push(problem);
  }
  const inDocuments = [...declaredSecrets].sort(([, one], [, other]) => one - other);
  const [, firstBeyond] = inDocuments[MAX_SECRETS] ?? [];
  const beyond = read[firstBeyond ?? -1]?.declared;
  const secrets = new Map<string, 'declared' | 'variable'>(
    inDocuments.map(([secret]) => [secret, 'declared']),
  );
  for (const value of variables.used.values()) secrets.set(value, 'variable');
  if (secrets.size > MAX_SECRETS) {
    problems.push(
      error(
        'too-many-secrets',
        `the manifests have ${secrets.size} different secrets, and the limit is ${MAX_SECRETS}, since secrets are hashed slowly`,
        beyond === undefined ? [] : [beyond.places.of()],
        'split the project into parts with fewer secrets',
      ),
    );
  }
  secrets.delete('');
  return {
    declared,
    problems: sortByPlace(problems),
    secrets,
    files: [...files.map(({ target }) => target), ...bodies.files],
    sources: parsedFiles.map(({ file, source, from, parsed }) => ({
      ...file,
      text: source.text,
      documents: parsed.map((document, index) =>
        sourceDocument(document, source, read[from + index]?.declared),
      ),
    })),
    unread,
  };
}

/** A separate function, so that its closure keeps only the document in memory. */
function sourceDocument(
  document: ParsedDocument,
  source: SourceFile,
  declared: Declared | undefined,
): ManifestSource['documents'][number] {
  return { written: () => resolve(document.root, source, null).value, declared };
}

/** Passes the secrets of manifests to `onSecret`. */
export function registerSecrets({ secrets }: LoadedManifests, onSecret: OnSecret): void {
  for (const [secret, kind] of secrets) onSecret(secret, kind);
}

/** Whether a file among the manifests is sample data of an email template; a file that contains a `kind` is a manifest. */
function isSampleData(path: string, text: string): boolean {
  return basename(dirname(path)) === samplesFolder && !/\bkind["']?\s*:/.test(text);
}

async function tryFindManifests(
  project: Project,
  access: Access,
  problems: Problem[],
): Promise<FoundManifests> {
  try {
    return await findManifests(project, access, problems);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    problems.push(...failure.problems);
    return { files: [], unread: async () => [] };
  }
}

/** Problems of several documents for one object, if they have the same id or name. */
function duplicates(declared: readonly Declared[]): Problem[] {
  const first = new Map<string, Declared>();
  return declared.flatMap((object): Problem[] => {
    if (Object.keys(object.identity).length === 0) return [];
    const kind = kindOf(object.kind);
    const { id, username, ...names } = object.identity;
    // Servers ignore the case of usernames.
    const key = JSON.stringify([kind.name, id ?? { ...names, username: username?.toLowerCase() }]);
    const before = first.get(key);
    first.set(key, before ?? object);
    if (before === undefined) return [];
    const message = `the same ${kind.noun} is declared twice`;
    const hint = 'merge them into one document';
    const other = `, or use "kind: ${kind.bulk?.name}", since several such documents may be about one ${kind.noun}`;
    const places = [object.places.of(), before.places.of()];
    return [error('duplicate-object', message, places, kind.bulk === undefined ? hint : hint + other)];
  });
}

/** Problems of documents that contradict each other about one object, if they have the same id or name. */
function contradictions(declared: readonly Declared[]): Problem[] {
  if (!declared.some(({ selector }) => selector !== undefined)) return [];
  const named = declared.flatMap((document) =>
    kindOf(document.kind).bulk === undefined
      ? []
      : (document.selector?.named ?? [document.identity]).map((identity) => ({ identity, document })),
  );
  const problems = new Map<string, Problem>();
  const hint = 'remove one of the two, or leave the object out of one of the documents';
  const about = groupBy(named, ({ identity, document }) => addressOf(document.kind, identity));
  for (const [address, those] of about) {
    // Names in different backends are different users; a name without a backend may be in each.
    const backends = new Set(those.flatMap(({ identity }) => identity.backend ?? []));
    const found = [...(backends.size === 0 ? [undefined] : backends)].flatMap((backend) => {
      const sameUser = those.filter(({ identity }) => (identity.backend ?? backend) === backend);
      const documents = sameUser.map(({ document }) => document);
      if (documents.every(({ selector }) => selector === undefined)) return [];
      return mergeDocuments(sameUser[0]?.identity ?? {}, documents).contradictions;
    });
    for (const { path, places, removed } of found) {
      const [one, other] = places.map(({ file, line, column }) => `${file}:${line}:${column}`);
      const message =
        removed === undefined
          ? `two documents declare "${path}" differently for ${address}`
          : `one document declares "${removed}" of ${path} for ${address}, and another removes it`;
      problems.set(`${path} ${one} ${other}`, error('contradiction', message, places, hint));
    }
  }
  return [...problems.values()];
}

const SHOWN = 10;

/** Problems that make `--prune` unsafe: a missing folder or an unread file may declare objects. */
export async function pruneRefusals({ declared, unread }: LoadedManifests): Promise<Problem[]> {
  const missed = await unread();
  const reasons = declared.length === 0 ? ['no document was read', ...missed] : missed;
  const more = reasons.length > SHOWN ? [`there are ${reasons.length - SHOWN} more like these`] : [];
  return [...reasons.slice(0, SHOWN), ...more].map((reason) =>
    error(
      'prune-refused',
      `--prune deletes nothing: ${reason}`,
      [],
      declared.length === 0
        ? 'delete a template with "state: absent", or check that the manifests are where the configuration says'
        : 'rename it, remove it, or change "manifests" ("!" excludes), so that all manifests are read',
    ),
  );
}
