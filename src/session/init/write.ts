import { appendFile, lstat, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whyRefused } from '../../base/errno.js';
import { escapeText } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import { makeFolder } from '../../base/whole-file.js';
import { isThere } from '../../base/work-tree.js';
import { isInside } from '../../manifests/follow.js';
import type { NewFile } from '../../pull/layout.js';
import { shownPath } from '../../source/file.js';
import type { NeededLines } from './files.js';

/** What became of a file: it was made, lines were added to it, or it stays as it was. */
export interface Written {
  /** From the folder of the project. */
  readonly path: string;
  readonly shown: string;
  readonly outcome: 'made' | 'added' | 'kept';
  /** What a person should do about one that was kept; null where nothing has to be done. */
  readonly left: string | null;
}

/** Writes into the folder of a project, and nowhere else. What is there is never changed, but for lines that are added. */
export class ProjectWriter {
  readonly #root: string;
  readonly #cwd: string;

  constructor(root: string, cwd: string) {
    this.#root = root;
    this.#cwd = cwd;
  }

  /** Throws a ProblemsError (`not-writable`) where something by this name is no file: nothing could read it. */
  async refuseFolder(path: string): Promise<void> {
    const there = await stat(join(this.#root, path)).catch(() => undefined);
    if (there?.isDirectory() !== true) return;
    throw new ProblemsError([
      error(
        'not-writable',
        `${this.#shown(path)} is a folder, where the configuration is to be`,
        [],
        'move it elsewhere, or begin the project in another folder',
      ),
    ]);
  }

  /** Whether there is anything by this name already: a file, or a folder with something in it. */
  async has(path: string): Promise<boolean> {
    const file = join(this.#root, path);
    const entries = await readdir(file).catch(() => undefined);
    return entries === undefined ? await isThere(file) : entries.length > 0;
  }

  /** Makes sure, before anything is written, that all of it can lie where it is to. Throws a ProblemsError (`not-writable`). */
  async prepare(paths: readonly string[]): Promise<void> {
    await this.#trying('.', () => makeFolder(this.#root, 0o644));
    const real = await realpath(this.#root);
    for (const path of new Set(paths.map(dirname))) {
      await this.#trying(path, async () => {
        // A link in the place of a folder could lead anywhere: what there is of the way is followed before it is gone.
        const there = await realpath(await nearest(join(this.#root, path)));
        if (there !== real && !isInside(there, real))
          throw new Error('it leads out of the folder of the project');
        if (!(await lstat(there)).isDirectory()) {
          throw new ProblemsError([
            error(
              'not-writable',
              `${this.#shown(path)} can't be written: ${escapeText(shownPath(there, this.#cwd))} is no folder`,
              [],
              'move that file elsewhere, or begin the project in another folder',
            ),
          ]);
        }
      });
    }
  }

  /** Writes a file that isn't there yet. Throws a ProblemsError (`not-writable`). */
  async make({ path, text }: NewFile): Promise<Written> {
    const file = join(this.#root, path);
    const shown = this.#shown(path);
    return await this.#trying(path, async () => {
      await makeFolder(dirname(file), 0o644);
      try {
        await writeFile(file, text, { flag: 'wx' });
        return { path, shown, outcome: 'made', left: null };
      } catch (failure) {
        if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure;
        return { path, shown, outcome: 'kept', left: null };
      }
    });
  }

  /** Adds the lines that a file doesn't have yet. Throws a ProblemsError (`not-writable`). */
  async need({ path, lines }: NeededLines): Promise<Written> {
    const file = join(this.#root, path);
    const shown = this.#shown(path);
    return await this.#trying(path, async () => {
      const there = await lstat(file).catch(() => undefined);
      if (there === undefined) return await this.make({ path, text: `${lines.join('\n')}\n` });
      // What a link leads to is somebody else's.
      if (!there.isFile())
        return { path, shown, outcome: 'kept', left: `see that it has: ${lines.join(', ')}` };
      const text = await readFile(file, 'utf8');
      const had = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, '')));
      const missing = lines.filter((line) => !had.has(line.replace(/^\/|\/$/g, '')));
      if (missing.length === 0) return { path, shown, outcome: 'kept', left: null };
      const end = text.includes('\r\n') ? '\r\n' : '\n';
      const begin = text === '' || text.endsWith('\n') ? '' : end;
      await appendFile(file, `${begin}${missing.map((line) => `${line}${end}`).join('')}`);
      return { path, shown, outcome: 'added', left: null };
    });
  }

  #shown(path: string): string {
    return escapeText(shownPath(join(this.#root, path), this.#cwd));
  }

  async #trying<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (failure) {
      if (failure instanceof ProblemsError) throw failure;
      throw new ProblemsError([
        error(
          'not-writable',
          `${this.#shown(path)} can't be written: ${whyRefused(failure)}`,
          [],
          'check the folder and its permissions',
        ),
      ]);
    }
  }
}

/** The part of a way that is there. */
async function nearest(path: string): Promise<string> {
  if (await isThere(path)) return path;
  const above = dirname(path);
  return above === path ? path : await nearest(above);
}
