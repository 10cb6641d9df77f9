// Loaded before a command: writes down what it reads of the files in a folder and which of them it flushes, a line for each time.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { resolve, sep } = require('node:path');
const { fileURLToPath } = require('node:url');

const { BENCH_LOG: log, BENCH_FOLDER: folder } = process.env;
const { appendFileSync } = fs;
const write = (path, what) => {
  const file = resolve(path instanceof URL ? fileURLToPath(path) : String(path));
  if (file.startsWith(folder + sep)) appendFileSync(log, `${JSON.stringify({ file, ...what })}\n`);
};
const note = (path, bytes) => write(path, { bytes });
const size = (content) => Buffer.byteLength(content);

const { open, readFile } = fs.promises;
fs.promises.open = async (path, ...more) => {
  const handle = await open(path, ...more);
  const own = { readFile: handle.readFile.bind(handle), read: handle.read.bind(handle) };
  handle.readFile = async (...given) => {
    const content = await own.readFile(...given);
    note(path, size(content));
    return content;
  };
  handle.read = async (...given) => {
    const result = await own.read(...given);
    note(path, result.bytesRead);
    return result;
  };
  for (const name of ['sync', 'datasync']) {
    const flush = handle[name].bind(handle);
    handle[name] = async () => {
      await flush();
      write(path, { flushed: true });
    };
  }
  return handle;
};
fs.promises.readFile = async (path, ...more) => {
  const content = await readFile(path, ...more);
  note(path, size(content));
  return content;
};

const { openSync, readFileSync, readSync } = fs;
const opened = new Map();
fs.openSync = (path, ...more) => {
  const number = openSync(path, ...more);
  opened.set(number, path);
  return number;
};
fs.readSync = (number, ...more) => {
  const bytes = readSync(number, ...more);
  if (opened.has(number)) note(opened.get(number), bytes);
  return bytes;
};
fs.readFileSync = (path, ...more) => {
  const content = readFileSync(path, ...more);
  note(typeof path === 'number' ? opened.get(path) : path, size(content));
  return content;
};

syncBuiltinESMExports();
