// What idops' pipeline asks of GitLab's API:
//   node gitlab.mjs note FILE PLANFILE NAME   keeps one note of the merge request, with the plan in FILE; if there is none, the note says so
//   node gitlab.mjs approved PLANFILE NAME    fails unless that note, of the merge request that brought the commit, showed this very plan; prints what approves, for IDOPS_APPROVAL
//   node gitlab.mjs result FILE NAME          writes the result of an apply as a note of that merge request
//   node gitlab.mjs issue FILE NAME CODE      keeps one issue about drift: closes it if CODE, the exit code of idops plan --detailed-exitcode, is 0
//
// GITLAB_TOKEN is a project access token (role Reporter, scope api); the rest is set by GitLab CI. Needs Node 20 and nothing else.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** What GitLab takes in one note. */
const MOST_CHARACTERS = 1_000_000;
const SECONDS = 30;

const [command, file, ...more] = process.argv.slice(2);
const [name, code] = command === 'note' ? more.slice(1) : more;
const {
  CI_API_V4_URL: api,
  CI_PROJECT_ID: project,
  CI_MERGE_REQUEST_IID: mergeRequest,
  CI_COMMIT_SHA: commit = '',
  CI_COMMIT_BRANCH: branch,
  CI_PIPELINE_ID: pipelineId,
  CI_PIPELINE_URL: pipeline = '',
  CI_JOB_TOKEN: jobToken,
  GITLAB_TOKEN: token,
  IDOPS_DIGEST: byHand,
} = process.env;

/** A sentence that ends the script; nothing that GitLab or a library says is shown, since that may hold the token. */
class Failure extends Error {}

/** One request to GitLab's API. Redirects aren't followed: this header would go along. */
async function ask(method, path, body, headers = { 'PRIVATE-TOKEN': token }) {
  const answer = await fetch(`${api}${path}`, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(SECONDS * 1000),
    headers: { ...headers, 'Content-Type': 'application/json' },
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

/** Writes something new. If an answer doesn't say whether it was written, looks once, and writes it again if it isn't there. */
async function post(path, body, list, isIt) {
  const write = async () => await (await ask('POST', path, body)).json();
  try {
    return await write();
  } catch (failure) {
    if (failure.status < 500) throw failure;
    return (await find(list, isIt)) ?? (await write());
  }
}

/** What such a request reads, and the answer that it came with. */
async function read(path, headers) {
  const answer = await ask('GET', path, undefined, headers);
  const text = await answer.text().catch(() => {
    throw new Failure(`GET ${path}: the answer broke off`);
  });
  return { answer, found: JSON.parse(text) };
}

/** The first row of a list with pages that `fits`, which may ask for more; undefined if none does. */
async function find(path, fits) {
  for (let page = 1; ; ) {
    const { answer, found } = await read(`${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`);
    for (const row of found) if (await fits(row)) return row;
    const next = answer.headers.get('x-next-page') ?? '';
    if (next === '') return undefined;
    // Pages that don't go on would be read for ever.
    if (!(Number(next) > page)) throw new Failure(`GET ${path}: the page after ${page} is no later one`);
    page = Number(next);
  }
}

/** The id of the token's account. What others wrote is none of idops', whatever it begins with. */
async function account() {
  const id = (await read('/user')).found?.id;
  if (!Number.isInteger(id)) throw new Failure('GET /user: the answer names no account');
  return id;
}

const at = (...path) =>
  `/projects/${encodeURIComponent(project)}${path.map((one) => `/${encodeURIComponent(one)}`).join('')}`;

/** How the hidden first line of a text begins, which says what it is about. */
const markerOf = (what) => `<!-- ${what}: ${encodeURIComponent(name)} `;
const isAbout = (text, what) => typeof text === 'string' && text.startsWith(markerOf(what));

/** The plan or the result, or that there is none. */
async function textOf(path, what) {
  try {
    return await readFile(path, 'utf8');
  } catch (failure) {
    if (failure.code !== 'ENOENT') throw new Failure(`${path} can't be read`);
  }
  const of = /^[0-9a-f]+$/.test(commit) ? `commit \`${commit.slice(0, 12)}\`` : 'this commit';
  const where = /^https?:\/\/[^\s()]+$/.test(pipeline) ? ` [The pipeline](${pipeline}) says why.` : '';
  return `**idops: failed**: there is no ${what} for ${of}.${where}\n`;
}

/** The body of a note or an issue, with its hidden first line. */
function bodyOf(what, text, shown = '') {
  // A line that begins with a slash may be a command to GitLab, such as /merge.
  const body = `${markerOf(what)}${shown}-->\n${text.replaceAll(/^(?=\s*\/)/gm, '\u200b')}`;
  if (body.length > MOST_CHARACTERS)
    throw new Failure(`${file} is longer than a note may be: let idops --format markdown write it`);
  return body;
}

/** The merge request whose merge made the commit of this pipeline, on its branch. */
async function merged() {
  const { found } = await read(at('repository', 'commits', commit, 'merge_requests'));
  const own = found.filter(
    (one) =>
      one.state === 'merged' &&
      one.target_branch === branch &&
      [one.merge_commit_sha, one.squash_commit_sha, one.sha].includes(commit),
  );
  if (own.length === 1) return own[0];
  throw new Failure(
    `${own.length === 0 ? 'no merge request' : 'more than one merge request'} brought the commit ${commit.slice(0, 12)}`,
  );
}

/** The oldest note with a plan by the token's account. */
async function planNote(iid) {
  const id = await account();
  const isOwn = (one) => !one.system && one.author?.id === id && isAbout(one.body, 'idops');
  return await find(`${at('merge_requests', iid, 'notes')}?sort=asc&order_by=created_at`, isOwn);
}

/** A first sentence if the merge request changes or moves the configuration, which has the limits. */
async function configWarning() {
  const isConfig = (path) => /(^|\/)idops\.yaml$/.test(path);
  const diffs = at('merge_requests', mergeRequest, 'diffs');
  const found = await find(diffs, (one) => isConfig(one.old_path) || isConfig(one.new_path));
  if (found === undefined) return '';
  return '**This changes `idops.yaml`:** compare its `safety` with the version before, since only the new one holds.\n\n';
}

async function note() {
  const plan = await readFile(more[0], 'utf8').catch(() => undefined);
  const shown = plan === undefined ? '' : `${sealOf(JSON.parse(plan))} `;
  const text = await textOf(file, 'plan');
  bodyOf('idops', text, shown);
  const notes = at('merge_requests', mergeRequest, 'notes');
  const earlier = await planNote(mergeRequest);
  const body = bodyOf('idops', (await configWarning()) + text, shown);
  if (earlier !== undefined) {
    try {
      await ask('PUT', `${notes}/${encodeURIComponent(earlier.id)}`, { body });
      return 'the note was brought up to date';
    } catch (failure) {
      // Somebody deleted it in the meantime.
      if (failure.status !== 404) throw failure;
    }
  }
  await post(notes, { body }, `${notes}?sort=desc&order_by=created_at`, (one) => one.body === body);
  return 'a note was written';
}

async function result() {
  const { iid } = await merged();
  const body = bodyOf('idops result', await textOf(file, 'result'));
  const notes = at('merge_requests', iid, 'notes');
  await post(notes, { body }, `${notes}?sort=desc&order_by=created_at`, (one) => one.body === body);
  return `the result was written into merge request !${iid}`;
}

async function issue() {
  const id = await account();
  const issues = `${at('issues')}?author_id=${id}&scope=all&state=all&order_by=created_at`;
  const isOwn = (one) => one.author?.id === id && isAbout(one.description, 'idops drift');
  const earlier = await find(issues, isOwn);
  if (code === '0') {
    if (earlier?.state !== 'opened') return 'there is no drift, and no issue';
    await ask('PUT', at('issues', earlier.iid), { state_event: 'close' });
    return `there is no drift any more: issue #${earlier.iid} was closed`;
  }
  const description = bodyOf('idops drift', await textOf(file, 'plan'));
  if (earlier === undefined) {
    const title = `Identity server is not as declared: ${name}`;
    const { iid } = await post(at('issues'), { title, description }, issues, isOwn);
    return `issue #${iid} was opened`;
  }
  const reopen = earlier.state === 'opened' ? {} : { state_event: 'reopen' };
  await ask('PUT', at('issues', earlier.iid), { description, ...reopen });
  return `issue #${earlier.iid} was brought up to date`;
}

/** What a stored plan sends, and what that was built on. */
function sentOf({ apply: { objects } }) {
  const sent = objects.filter(({ action }) => !['adopt', 'blocked', 'unchanged'].includes(action));
  return sent.map((one) => JSON.stringify([one.requests, one.observed])).sort();
}

/** What tells a plan from any that sends something else, or that was built on other values. */
const sealOf = (plan) =>
  createHash('sha256')
    .update(JSON.stringify([plan.digest, plan.server, plan.environment, sentOf(plan)]))
    .digest('hex');

const plansOf = (id, ...scopes) =>
  `${at('pipelines', id, 'jobs')}?include_retried=true${scopes.map((scope) => `&scope[]=${scope}`).join('')}`;
const isPlan = (job) => job.name === 'plan';

/** Fails if a later pipeline of the branch ran its plan, to whatever end: the branch may no longer say what this one applies. */
async function refuseLater() {
  const isOwnOrPlanned = async ({ id }) =>
    id <= Number(pipelineId) || (await find(plansOf(id, 'success', 'failed'), isPlan)) !== undefined;
  const newest = await find(`${at('pipelines')}?ref=${encodeURIComponent(branch)}`, isOwnOrPlanned);
  if (newest === undefined || newest.id <= Number(pipelineId)) return;
  const sentence = `a later pipeline ran its plan: ${newest.web_url}: look at that plan, and start its job`;
  throw Object.assign(new Failure(sentence), { code: 'approval-used' });
}

async function approved() {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Failure(`${file} can't be read`);
  });
  const own = JSON.parse(text);
  if (sentOf(own).length === 0) return 'the plan sends nothing';
  await refuseLater();
  if (byHand === own.digest) return `IDOPS_DIGEST approves ${byHand}`;
  const { iid, sha, merged_at } = await merged();
  const where = `merge request !${iid}`;
  const isHead = (one) => one.sha === sha && one.ref === `refs/merge-requests/${iid}/head`;
  const planned = await find(at('merge_requests', iid, 'pipelines'), isHead);
  if (planned === undefined)
    throw new Failure(
      `${where} has no pipeline of its last commit (a pipeline for merged results can't be compared)`,
    );
  const before = (one) => Date.parse(one.finished_at) <= Date.parse(merged_at);
  const job = await find(plansOf(planned.id, 'success'), (one) => isPlan(one) && before(one));
  if (job === undefined) throw new Failure(`${where} showed no plan of its last commit before it was merged`);
  // The job's own token may read what Developers may.
  const { found } = await read(`${at('jobs', job.id, 'artifacts')}/${encodeURIComponent(file)}`, {
    'JOB-TOKEN': jobToken,
  });
  const wayOut = `look at this plan, and if it is what you want, run the job with the variable IDOPS_DIGEST=${own.digest}`;
  if (sealOf(found) !== sealOf(own)) {
    const differs =
      found.digest === own.digest
        ? 'the server was changed since'
        : `it showed ${String(found.digest)}, and this is ${own.digest}`;
    throw new Failure(`${where} showed another plan (${differs}): ${wayOut}`);
  }
  const shown = await planNote(iid);
  if (!shown?.body.startsWith(`${markerOf('idops')}${sealOf(own)} -->`))
    throw new Failure(
      `no note of ${where} showed this plan, which job ${job.id} of its pipeline made: ${wayOut}`,
    );
  if (Date.parse(shown.updated_at) > Date.parse(merged_at))
    throw new Failure(`the note of ${where} was changed after the merge: ${wayOut}`);
  console.log(`${iid} ${sha} ${planned.id} ${found.created_at}`);
  return `${where} showed this plan: ${own.digest}`;
}

const commands = {
  note: { run: note, count: 4, needs: { CI_MERGE_REQUEST_IID: mergeRequest } },
  approved: {
    run: approved,
    count: 3,
    needs: {
      CI_COMMIT_SHA: commit,
      CI_COMMIT_BRANCH: branch,
      CI_PIPELINE_ID: pipelineId,
      CI_JOB_TOKEN: jobToken,
    },
  },
  result: { run: result, count: 3, needs: { CI_COMMIT_SHA: commit, CI_COMMIT_BRANCH: branch } },
  issue: { run: issue, count: 4, needs: {} },
};

async function main() {
  const chosen = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined;
  if (chosen === undefined || process.argv.length - 2 !== chosen.count)
    throw new Failure(
      'usage: node gitlab.mjs note FILE PLANFILE NAME, approved PLANFILE NAME, result FILE NAME, issue FILE NAME CODE',
    );
  const needed = { CI_API_V4_URL: api, CI_PROJECT_ID: project, GITLAB_TOKEN: token, ...chosen.needs };
  const missing = Object.keys(needed).filter((variable) => !needed[variable]);
  if (missing.length > 0)
    throw new Failure(`${missing.join(', ')} not set; GitLab CI and the project's variables set these`);
  return await chosen.run();
}

try {
  // Standard output has what approves, alone.
  console.error(`idops: ${await main()}`);
} catch (failure) {
  const code = (failure instanceof Failure && failure.code) || 'not-approved';
  console.error(
    `idops: ${command === 'approved' ? `error[${code}]: ` : ''}${failure instanceof Failure ? failure.message : 'GitLab answered with something that idops does not understand'}`,
  );
  process.exitCode = 1;
}
