// The floor of a comparison: a program that does only the necessary work. Its argument is a file of
// - requests, which it sends over persistent connections, and whose responses it parses;
// - folder: manifests, which it parses with `yaml`;
// - texts: files, which it reads, and parses if they are JSON.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const {
  requests = [],
  url,
  token,
  concurrency,
  folder,
  texts = [],
} = JSON.parse(await readFile(process.argv[2], 'utf8'));

async function parse() {
  const { parseAllDocuments } = await import('yaml');
  for (const name of (await readdir(folder)).sort()) {
    if (!name.endsWith('.yaml')) continue;
    for (const document of parseAllDocuments(await readFile(join(folder, name), 'utf8'))) {
      if (document.errors.length > 0) throw document.errors[0];
    }
  }
}

async function send() {
  const { Pool } = await import('undici');
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
  let next = 0;
  const sender = async () => {
    while (next < requests.length) {
      const { method, path, body } = requests[next++];
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
      if (body !== undefined) headers['content-type'] = 'application/json';
      const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
      await answer.body.json();
      if (answer.statusCode !== 200)
        throw new Error(`${method} ${path} was answered with ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  await pool.close();
}

if (folder !== undefined) await parse();
for (const file of texts) {
  const text = await readFile(file, 'utf8');
  if (file.endsWith('.json')) JSON.parse(text);
}
if (requests.length > 0) await send();
