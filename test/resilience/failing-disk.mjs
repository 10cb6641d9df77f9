// A disk that fails at the nth event of the files in a folder, once or from then on.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const byPath = ['open', 'mkdir', 'readdir', 'rename', 'link', 'rm', 'lstat', 'stat', 'realpath', 'readlink'];
const ofHandle = ['stat', 'read', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync'];

const probe = await fs.promises.open(new URL(import.meta.url));
const prototype = Object.getPrototypeOf(probe);
await probe.close();

/**
 * Runs a function on such a disk, and returns the event that failed; undefined if there were fewer events.
 * @param {string} folder
 * @param {number} at
 * @param {boolean} once
 * @param {() => Promise<void>} run
 * @returns {Promise<string | undefined>}
 */
export async function failing(folder, at, once, run) {
  const originals = {};
  const handles = {};
  const { readFileSync } = fs;
  const inside = new Map();
  let events = 0;
  let failed;
  const failAt = (name, path) => {
    events += 1;
    if (once ? events !== at : events < at) return;
    failed ??= `${name} ${path}`;
    throw Object.assign(new Error(`EIO: i/o error, ${name} '${path}'`), {
      code: 'EIO',
      errno: -5,
      syscall: name,
    });
  };
  for (const name of byPath) {
    originals[name] = fs.promises[name];
    fs.promises[name] = async (path, ...rest) => {
      const isInside = String(path).startsWith(folder);
      if (isInside) failAt(name, path);
      const given = await originals[name](path, ...rest);
      if (name === 'open') {
        if (isInside) inside.set(given.fd, String(path));
        else inside.delete(given.fd);
      }
      return given;
    };
  }
  for (const name of ofHandle) {
    handles[name] = prototype[name];
    prototype[name] = async function (...rest) {
      const path = inside.get(this.fd);
      if (path !== undefined) failAt(name, path);
      return await handles[name].apply(this, rest);
    };
  }
  fs.readFileSync = (file, ...rest) => {
    const path = inside.get(file);
    if (path !== undefined) failAt('read', path);
    return readFileSync(file, ...rest);
  };
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    Object.assign(fs.promises, originals);
    Object.assign(prototype, handles);
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  }
  return failed;
}
