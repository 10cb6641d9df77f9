import * as fs from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname, join, relative, resolve } from 'node:path';
import type { GlobOptions } from 'tinyglobby';
import { error, type Problem, type ProblemCode, warning } from '../base/problems.js';
import type { Project } from '../project/project.js';
import { fileName, unreadable, wholeFile } from '../yaml/source-file.js';
import { isMountedFolder } from './access.js';
import { leadsOut, resolveSymlinks } from './symlinks.js';

type Callback = (failure: NodeJS.ErrnoException | null, entries?: readonly FolderEntry[]) => void;

/** The part of a Dirent that the glob library uses. */
interface FolderEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Replaces the project's path, which may contain special characters of globs. */
const VIRTUAL_ROOT = resolve('/project');

const SHOWN = 3;

/**
 * Reads the folders of a project for its globs, and reports unreadable folders. Links to files and special files count as files,
 * so that reading them reports what is wrong. Links to folders aren't followed, since they may be circular. The target of a link
 * that leads out of the project isn't accessed; the link counts as a file and as a folder.
 */
export class FolderWalk {
  readonly #project: Project;
  readonly #problems = new Map<string, Problem>();
  /** The absolute paths of links to folders. */
  readonly linked = new Set<string>();

  /** The absolute paths of broken links that replace a folder; only if `includesBrokenLinks`. */
  readonly dangling = new Set<string>();
  readonly #brokenLinks = new Set<string>();
  /** The absolute paths of links that lead out of the project, and of those that were skipped as folders. */
  readonly #outsideLinks = new Set<string>();
  readonly #skippedFolders = new Set<string>();
  readonly #includesBrokenLinks: boolean;

  /** If `includesBrokenLinks`, a broken link counts as a folder too. */
  constructor(project: Project, { includesBrokenLinks = false } = {}) {
    this.#project = project;
    this.#includesBrokenLinks = includesBrokenLinks;
  }

  options(): GlobOptions {
    return {
      cwd: VIRTUAL_ROOT,
      expandDirectories: false,
      followSymbolicLinks: false,
      fs: { readdir: this.#reader() } as unknown as NonNullable<GlobOptions['fs']>,
    };
  }

  /** The problems of the folders that were read. */
  problems(): Problem[] {
    const problems = [...this.#problems.values()];
    const unread = [...this.linked, ...this.#skippedFolders];
    if (unread.length === 0) return problems;
    const names = unread.sort().map((path) => fileName(path, this.#project));
    const paths = names.map(({ file }) => file);
    const more = paths.length > SHOWN ? `, and ${paths.length - SHOWN} more` : '';
    const [first = { file: '' }] = names;
    return [
      ...problems,
      warning(
        'linked-folder',
        `links to folders and out of the project are not followed, so no manifest is read from ${paths.slice(0, SHOWN).join(', ')}${more}`,
        [wholeFile(first)],
        'put the manifests into the folder itself, or name the folder that the link leads to in "manifests"',
      ),
    ];
  }

  /** A `readdir` for one glob; its first call is for the folder that the glob names. */
  #reader() {
    let first = true;
    return (path: string, _: unknown, callback: Callback): void => {
      const folder = resolve(this.#project.root, `.${path.slice(VIRTUAL_ROOT.length)}`);
      const isFirst = first;
      first = false;
      this.#entries(folder, isFirst).then(
        (entries) => callback(null, entries),
        (failure: NodeJS.ErrnoException) => {
          // If its folder is missing, a glob matches nothing.
          if (this.#brokenLinks.has(folder)) this.dangling.add(folder);
          else if (failure.code !== 'ENOENT' && failure.code !== 'ENOTDIR')
            this.#refuse(folder, 'file-unreadable', unreadable(failure).detail);
          callback(failure);
        },
      );
    };
  }

  async #entries(folder: string, isFirst: boolean): Promise<readonly FolderEntry[]> {
    const { root } = this.#project;
    if (isFirst && folder !== root && (await resolveSymlinks(folder, root)) === null) {
      this.#refuseOutside(folder);
      return [];
    }
    if (this.#outsideLinks.has(folder)) {
      // Hidden folders in the project's root belong to other tools.
      if (this.#includesBrokenLinks && !relative(root, folder).startsWith('.')) this.#refuseOutside(folder);
      // A link with an extension looks like a file.
      if (!this.#includesBrokenLinks && extname(folder) === '' && !basename(folder).startsWith('.'))
        this.#skippedFolders.add(folder);
      return [];
    }
    const entries = await fs.promises.readdir(folder, { withFileTypes: true });
    const seen = await Promise.all(
      entries.map(async (entry): Promise<readonly FolderEntry[]> => {
        if (entry.isFile() || entry.isDirectory()) return [entry];
        if (!entry.isSymbolicLink()) return [entryOf(entry.name, 'file')];
        const path = join(folder, entry.name);
        const [asFile, asFolder] = [entryOf(entry.name, 'file'), entryOf(entry.name, 'folder')];
        if (await leadsOut(path, root)) {
          this.#outsideLinks.add(path);
          return [asFile, asFolder];
        }
        const target = await stat(path).catch(() => undefined);
        if (this.#includesBrokenLinks && target === undefined) {
          this.#brokenLinks.add(path);
          return [asFile, asFolder];
        }
        if (target?.isDirectory() !== true) return [asFile];
        if (await isMountedFolder(path)) return [asFolder];
        if (!entry.name.startsWith('.')) this.linked.add(path);
        return [];
      }),
    );
    return seen.flat();
  }

  #refuseOutside(folder: string): void {
    const detail = 'is a link that leads out of the project';
    this.#refuse(folder, 'manifest-outside', detail, 'copy the files into the project');
  }

  #refuse(path: string, code: ProblemCode, detail: string, hint?: string): void {
    const name = fileName(path, this.#project);
    this.#problems.set(path, error(code, `${name.file} ${detail}`, [wholeFile(name)], hint));
  }
}

function entryOf(name: string, type: 'file' | 'folder'): FolderEntry {
  const isFile = type === 'file';
  return { name, isFile: () => isFile, isDirectory: () => !isFile, isSymbolicLink: () => false };
}
