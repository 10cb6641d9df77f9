import { basename, dirname } from 'node:path';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';
import { error, type Problem, ProblemsError, sortByPlace } from '../base/problems.js';
import type { Json } from '../base/values.js';
import { kinds } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { Project } from '../project/project.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { Profile } from '../server/profiles.js';
import { type ParsedDocument, parseYaml } from '../yaml/parse.js';
import { resolve } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import { Access, readsAtOnce } from './access.js';
import { Bodies } from './bodies.js';
import type { ReadDocument } from './builder.js';
import { readDocument } from './document.js';
import { type FoundManifests, findManifests, type ManifestFile, readManifest } from './find-manifests.js';
import { samplesFolder } from './samples.js';

/** A manifest that was read, and its documents; one that something is wrong with declares nothing. */
export interface ManifestSource extends ManifestFile {
  /** Without a byte order mark. */
  readonly text: string;
  readonly documents: readonly {
    /** As it is written, its variables and body files not filled in. */
    written(): Json;
    readonly declared: Declared | undefined;
  }[];
}

/** All manifests of a project, and everything that is wrong with them. */
export interface LoadedManifests {
  /** The documents that are fine, in the order of files and lines. */
  readonly declared: readonly Declared[];
  /** Errors and warnings of all documents; with an error among them nothing may be sent. */
  readonly problems: readonly Problem[];
  /** What must not be shown: the values of process variables that were used, and of secret fields. */
  readonly secrets: readonly string[];
  /** Those of them that came from process variables as they are. */
  readonly variableValues: readonly string[];
  /** The names of the process variables that were used, sorted. */
  readonly usedVariables: readonly string[];
  /** Every file that was read: the manifests and the bodies, where they really lie. */
  readonly files: readonly string[];
  /** The manifests, in the order in which they were read. */
  readonly sources: readonly ManifestSource[];
  /** What looks like a manifest and isn't read as one, each in words. */
  unread(): Promise<readonly string[]>;
}

/** How manifests are read. */
export interface ManifestOptions {
  /** An allowed process variable that isn't set is a warning, and what it would give counts as unknown. */
  readonly lenient: boolean;
  readonly profile?: Profile;
  /** A credential file that the configuration doesn't name, absolute. */
  readonly tokenFile?: string | undefined;
  /** Aborted where nothing more is to be read. */
  readonly signal?: AbortSignal | undefined;
}

/** Each secret is hashed slowly on purpose, so that many of them would take minutes. */
const MAX_SECRETS = 2000;

/**
 * Reads every manifest of a project. `lenient` is for `validate`: an allowed process variable that isn't
 * set is a warning, and what it would give counts as unknown. Returns what is wrong instead of throwing it, but for a
 * ProblemsError (`interrupted`).
 */
export async function loadManifests(project: Project, options: ManifestOptions): Promise<LoadedManifests> {
  const { profile = project.profile } = options;
  const problems: Problem[] = [];
  const variables = project.variables(options);
  /** Each secret of the documents, with the number of the first that has it. */
  const declaredSecrets = new Map<string, number>();
  const pauses = new Pauses(options.signal);
  const access = new Access(project, options.tokenFile === undefined ? [] : [options.tokenFile], pauses);
  const { files, unread } = await listed(project, access, problems);
  const bodies = new Bodies(project, access);
  const limit = pLimit(readsAtOnce);
  const sources = await Promise.all(
    files.map(async (file) => ({ ...file, source: await limit(() => readManifest(access, file)) })),
  );
  const documents: Promise<ReadDocument>[] = [];
  const parsedFiles: {
    file: ManifestFile;
    source: SourceFile;
    from: number;
    parsed: readonly ParsedDocument[];
  }[] = [];
  const manifests: { found: ManifestFile; source: SourceFile }[] = [];
  for (const { source, ...found } of sources) {
    if (!('text' in source)) problems.push(source);
    else if (!isSampleData(found.path, source.text)) manifests.push({ found, source });
  }
  for (const { found, source } of manifests) {
    const { path } = found;
    const parsed = parseYaml(source);
    for (const problem of parsed.problems) problems.push(problem);
    parsedFiles.push({ file: found, source, from: documents.length, parsed: parsed.documents });
    for (const document of parsed.documents) {
      const at = documents.length;
      const onSecret = (secret: string): void => {
        declaredSecrets.set(secret, Math.min(at, declaredSecrets.get(secret) ?? at));
      };
      const reading = readDocument(document, { file: source, path, variables, profile, bodies, onSecret });
      // Whatever is wrong with it is said when all are read.
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
  for (const kind of kinds) {
    const ofKind = declared.filter((object) => object.kind === kind.name);
    for (const problem of kind.check(ofKind, profile)) problems.push(problem);
  }
  const inDocuments = [...declaredSecrets].sort(([, one], [, other]) => one - other);
  const [, firstBeyond] = inDocuments[MAX_SECRETS] ?? [];
  const beyond = read[firstBeyond ?? -1]?.declared;
  const secrets = new Set(inDocuments.map(([secret]) => secret));
  for (const value of variables.used.values()) secrets.add(value);
  if (secrets.size > MAX_SECRETS) {
    problems.push(
      error(
        'too-many-secrets',
        `the manifests have ${secrets.size} different secrets, and ${MAX_SECRETS} are the most that can be hashed slowly`,
        beyond === undefined ? [] : [beyond.place],
        'split the project, so that each part has fewer',
      ),
    );
  }
  return {
    declared,
    problems: sortByPlace(problems),
    secrets: [...secrets].filter((secret) => secret !== ''),
    variableValues: [...variables.used.values()].filter((secret) => secret !== ''),
    usedVariables: [...variables.used.keys()].sort(),
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

/** Keeps nothing but what it is given, as long as the project is there. */
function sourceDocument(
  document: ParsedDocument,
  source: SourceFile,
  declared: Declared | undefined,
): ManifestSource['documents'][number] {
  return { written: () => resolve(document.root, source, null).value, declared };
}

/** Makes the secrets of manifests known: what process variables gave is a credential, the rest hides itself alone. */
export function tellSecrets(
  { secrets, variableValues }: Pick<LoadedManifests, 'secrets' | 'variableValues'>,
  onSecret: OnSecret,
): void {
  const credentials = new Set(variableValues);
  for (const secret of secrets) onSecret(secret, credentials.has(secret) ? 'variable' : 'declared');
}

/**
 * Whether a file is the sample data of an email template, which lies among the manifests and is none. One with a
 * `kind` anywhere is taken for a manifest, so that none is passed over.
 */
function isSampleData(path: string, text: string): boolean {
  return basename(dirname(path)) === samplesFolder && !/\bkind["']?\s*:/.test(text);
}

async function listed(project: Project, access: Access, problems: Problem[]): Promise<FoundManifests> {
  try {
    return await findManifests(project, access, problems);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    problems.push(...failure.problems);
    return { files: [], unread: async () => [] };
  }
}

/** Documents of one object, as far as documents alone can tell. */
function duplicates(declared: readonly Declared[]): Problem[] {
  const problems: Problem[] = [];
  for (const kind of kinds) {
    const first = new Map<string, Declared>();
    for (const object of declared) {
      if (object.kind !== kind.name || Object.keys(object.identity).length === 0) continue;
      for (const text of kind.identities(object)) {
        const before = first.get(text);
        if (before === undefined) first.set(text, object);
        else {
          problems.push(
            error(
              'duplicate-object',
              `the same ${kind.noun} is declared twice`,
              [object.place, before.place],
              'put everything about it into one document',
            ),
          );
          break;
        }
      }
    }
  }
  return problems;
}

const SHOWN = 10;

/**
 * Why `--prune` may not take for undeclared what no document names: a folder that wasn't there, or a file that
 * wasn't read, would delete what it declares. Empty where everything was read.
 */
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
        ? 'delete a template with "state: absent", or look whether the manifests are where the configuration says'
        : 'rename it, remove it, or change "manifests" ("!" excludes), so that what was read is all that is declared',
    ),
  );
}
