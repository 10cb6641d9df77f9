// Shows a plan as a note of the merge request, and writes the note of the time before anew: node note.mjs plan.md production
// Where there is no plan.md, the note says so: what it showed before was another commit's plan.
//
// GITLAB_TOKEN is a project access token (role Reporter, scope api); the rest is set by GitLab CI. Needs Node 20 and nothing else.
import { readFile } from 'node:fs/promises';

/** What GitLab takes in one note. */
const MOST_CHARACTERS = 1_000_000;
const SECONDS = 30;

const [file, name] = process.argv.slice(2);
const {
  CI_API_V4_URL: api,
  CI_PROJECT_ID: project,
  CI_MERGE_REQUEST_IID: mergeRequest,
  CI_COMMIT_SHA: commit = '',
  CI_PIPELINE_URL: pipeline = '',
  GITLAB_TOKEN: token,
} = process.env;

/** A sentence that ends the script; nothing that GitLab or a library says is shown, since that may hold the token. */
class Failure extends Error {}

/** One request to GitLab's API. Redirects aren't followed: this header would go along. */
async function ask(method, path, body) {
  const answer = await fetch(`${api}${path}`, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(SECONDS * 1000),
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((failure) => {
    const why =
      failure?.name === 'TimeoutError' ? `no answer within ${SECONDS} seconds` : 'the request failed';
    throw new Failure(`${method} ${path}: ${why}`);
  });
  if (!answer.ok)
    throw Object.assign(new Failure(`${method} ${path}: ${answer.status}`), { status: answer.status });
  return answer;
}

/** What such a request reads, and the answer that it came with. */
async function read(path) {
  const answer = await ask('GET', path);
  const text = await answer.text().catch(() => {
    throw new Failure(`GET ${path}: the answer broke off`);
  });
  return { answer, found: JSON.parse(text) };
}

/** The note that this account wrote for the same name before. What others wrote is none, whatever it begins with. */
async function earlierNote(notes, marker) {
  const id = (await read('/user')).found?.id;
  if (!Number.isInteger(id)) throw new Failure('GET /user: the answer names no account');
  for (let page = 1; ; ) {
    const { answer, found } = await read(`${notes}?sort=asc&order_by=created_at&per_page=100&page=${page}`);
    const own = found.find(
      ({ system, author, body }) => !system && author?.id === id && body.split('\n', 1)[0].trim() === marker,
    );
    if (own !== undefined) return own.id;
    const next = answer.headers.get('x-next-page') ?? '';
    if (next === '') return undefined;
    // Pages that don't go on would be read for ever.
    if (!(Number(next) > page)) throw new Failure(`GET ${notes}: the page after ${page} is no later one`);
    page = Number(next);
  }
}

/** The plan, or that there is none. */
async function textOf(path) {
  try {
    return await readFile(path, 'utf8');
  } catch (failure) {
    if (failure.code !== 'ENOENT') throw new Failure(`${path} can't be read`);
  }
  const of = /^[0-9a-f]+$/.test(commit) ? `commit \`${commit.slice(0, 12)}\`` : 'this commit';
  const where = /^https?:\/\/[^\s()]+$/.test(pipeline) ? ` [The pipeline](${pipeline}) says why.` : '';
  return `**idops: failed**: there is no plan for ${of}.${where}\n`;
}

async function main() {
  if (file === undefined || name === undefined) throw new Failure('usage: node note.mjs FILE NAME');
  const needed = {
    CI_API_V4_URL: api,
    CI_PROJECT_ID: project,
    CI_MERGE_REQUEST_IID: mergeRequest,
    GITLAB_TOKEN: token,
  };
  const missing = Object.keys(needed).filter((variable) => !needed[variable]);
  if (missing.length > 0)
    throw new Failure(`${missing.join(', ')} not set; this belongs into the pipeline of a merge request`);
  const marker = `<!-- idops: ${encodeURIComponent(name)} -->`;
  const text = await textOf(file);
  // A line that begins with a slash may be a command to GitLab, such as /merge.
  const body = `${marker}\n${text.replaceAll(/^(?=\s*\/)/gm, '\u200b')}`;
  if (body.length > MOST_CHARACTERS)
    throw new Failure(`${file} is longer than a note may be: let idops plan --format markdown write it`);
  const notes = `/projects/${encodeURIComponent(project)}/merge_requests/${encodeURIComponent(mergeRequest)}/notes`;
  const earlier = await earlierNote(notes, marker);
  if (earlier !== undefined) {
    try {
      await ask('PUT', `${notes}/${encodeURIComponent(earlier)}`, { body });
      return 'the note was brought up to date';
    } catch (failure) {
      // Somebody deleted it in the meantime.
      if (failure.status !== 404) throw failure;
    }
  }
  await ask('POST', notes, { body });
  return 'a note was written';
}

try {
  console.log(`idops: ${await main()}`);
} catch (failure) {
  console.error(
    `idops: ${failure instanceof Failure ? failure.message : 'GitLab answered with something that is no note'}`,
  );
  process.exitCode = 1;
}
