// Preloaded into a command: logs a line for each flush of a file in a folder.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { resolve, sep } = require('node:path');

const { BENCH_LOG: log, BENCH_FOLDER: folder } = process.env;
const { open } = fs.promises;
fs.promises.open = async (path, ...more) => {
  const handle = await open(path, ...more);
  const file = resolve(String(path));
  for (const name of ['sync', 'datasync']) {
    const flush = handle[name].bind(handle);
    handle[name] = async () => {
      await flush();
      if (file.startsWith(folder + sep)) fs.appendFileSync(log, `${file}\n`);
    };
  }
  return handle;
};

syncBuiltinESMExports();
