import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { watch } from 'chokidar';
import { entriesOf } from '../../apply/journal-entries.js';
import { type Problem, refuse } from '../../base/problems.js';
import { Sensitive, same, type Value } from '../../base/values.js';
import { writeOutput } from '../../base/write-file.js';
import { addressOf, emailsIn, kindOf, layoutOf } from '../../kinds/index.js';
import type { Declared, Email } from '../../kinds/kind.js';
import { serverMail } from '../../mail/servers.js';
import { levelOf } from '../../mail/settings.js';
import { loadManifests, registerSecrets } from '../../manifests/load.js';
import { loadSamples } from '../../manifests/samples.js';
import { type BodyChecks, bodyChecks, findingsOf, planWarning } from '../../plan/body-checks.js';
import { isMasked, maskedBody } from '../../plan/review-warnings.js';
import type { Project } from '../../project/index.js';
import { type Gallery, type GalleryTemplate, galleryHtml } from '../../report/gallery.js';
import { type Names, namesInJournal } from '../../report/names.js';
import { plural } from '../../report/words.js';
import { redactReport } from '../../secrets/redact-report.js';
import type { Redactor } from '../../secrets/redactor.js';
import { backendOf } from '../../session/backend.js';
import { problemsOf } from '../../session/failures.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { untilAborted } from '../interrupt.js';
import { portProblem } from '../listen.js';
import { wrongOption } from '../misuse.js';

interface Options {
  readonly out?: string;
  readonly serve?: boolean;
  readonly port?: number;
}

/** `idops preview`: renders every declared email template and page with sample data, to a file or on a local server. */
export async function preview(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const { out, serve = false, port } = options;
  if (serve && out !== undefined) throw wrongOption("--serve and --out can't be combined", 'use one of them');
  if (!serve && port !== undefined) throw wrongOption('--port needs --serve', 'add --serve');
  if (serve) return await serveGallery(context, port ?? 0);
  const gallery = await loadGallery(context, await context.project());
  refuse(gallery.problems);
  context.output.problems(gallery.problems);
  const page = galleryHtml(redactReport(gallery, context.redactor));
  if (out === '-') {
    context.output.result(page);
    return exit.done;
  }
  const file = out ?? 'preview.html';
  await context.refuseOutputs([file]);
  await writeOutput(file, page);
  context.output.result(`${file}: ${countOf(gallery)}\n`);
  return exit.done;
}

/** `2 email templates and 1 page`. */
function countOf({ templates }: Gallery): string {
  const pages = templates.filter(({ page }) => page !== undefined).length;
  const emails = templates.length - pages;
  const counts = [
    ...(emails > 0 || pages === 0 ? [plural(emails, 'email template')] : []),
    ...(pages > 0 ? [plural(pages, 'page')] : []),
  ];
  return counts.join(' and ');
}

async function loadGallery(context: Context, project: Project): Promise<Gallery> {
  const loaded = await loadManifests(project, { lenient: true, signal: context.signal });
  registerSecrets(loaded, context.redactor.add);
  const declared = emailsIn(loaded.declared);
  const samples = await loadSamples(
    project,
    declared.map(({ template, email }) => ({
      address: addressOf(template.kind, template.identity),
      type: template.identity[email.type] ?? '',
      manifest: template.places.line.file,
    })),
  );
  const checks = await bodyChecks(project, loaded.declared);
  const names = await recordedNames(project, context.redactor);
  return {
    templates: declared.map(({ template, email }) => {
      const label = names.get(template.identity[kindOf(template.kind).parentId ?? ''] ?? '');
      const layout = layoutOf(email, template.identity);
      const layoutTemplate =
        layout &&
        declared.find(({ template: one }) => one.kind === template.kind && same(one.identity, layout));
      return {
        ...galleryTemplate(
          template,
          email,
          checks,
          context.redactor,
          layoutTemplate?.template.fields[email.html],
        ),
        ...(label === undefined ? {} : { label }),
        samples: samples.found.get(addressOf(template.kind, template.identity)) ?? [],
      };
    }),
    problems: [...loaded.problems, ...samples.problems],
  };
}

/** Names of backends from the last 10 runs, if the state is a file: a preview uses no network. */
async function recordedNames(project: Project, { add }: Redactor): Promise<Names> {
  try {
    if (project.state().in !== 'file') return new Map();
    const { runs } = await backendOf(project, add);
    const last = (await runs.list()).slice(-10);
    const contents = await Promise.all(last.map((run) => runs.read(run)));
    return namesInJournal(contents.flatMap((content) => (content === null ? [] : entriesOf(content))));
  } catch {
    return new Map();
  }
}

function galleryTemplate(
  template: Declared,
  email: Email,
  checks: BodyChecks,
  { redact }: Redactor,
  layout: Value | undefined,
): Omit<GalleryTemplate, 'samples'> {
  const { [email.txt]: txt, [email.html]: html } = template.fields;
  const bodies = {
    txt: typeof txt === 'string' ? txt : null,
    html: typeof html === 'string' ? html : null,
    ...(typeof layout === 'string' ? { layout } : {}),
  };
  const type = template.identity[email.type] ?? '';
  const absentBodies = { [email.txt]: null, [email.html]: null };
  return {
    address: addressOf(template.kind, template.identity),
    type,
    declaredAt: template.places.of(),
    mail: serverMail(checks.profile, type),
    bodies,
    ...(email.page === undefined ? {} : { page: email.page }),
    hasHiddenBody: txt instanceof Sensitive || html instanceof Sensitive,
    warnings: [
      ...findingsOf(template, email, { after: { ...absentBodies, ...template.fields } }, checks)
        .filter((finding) => levelOf(finding, checks.levels, false) !== 'off')
        .map((finding) => planWarning(template, email, finding)),
      ...(['txt', 'html'] as const).flatMap((body) =>
        isMasked(bodies[body], redact)
          ? [maskedBody(email.page === undefined ? `the ${body} body` : 'the content')]
          : [],
      ),
    ],
  };
}

/** A Host header of this machine. */
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;
const changesPath = '/changes';
const code = `new EventSource('${changesPath}').addEventListener('change', () => location.reload());`;
const script = { code, hash: createHash('sha256').update(code).digest('base64') };
/** Wait before a refresh, since editors write a file in several steps. */
const settleMilliseconds = 100;

/** Serves the gallery on this machine. The browser reloads it when a file of the project changes. */
async function serveGallery(context: Context, port: number): Promise<ExitCode> {
  const { output, signal } = context;
  const project = await context.project();
  const listeners = new Set<ServerResponse>();
  let page = await renderServed(context);
  const server = createServer((request, response) => {
    // Prevents DNS rebinding.
    if (!localHost.test(request.headers.host ?? '')) {
      response.writeHead(403).end();
      return;
    }
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    if (request.method !== 'GET') response.writeHead(405).end();
    else if (request.url === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
    } else if (request.url === changesPath) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': open\n\n');
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
    } else response.writeHead(404).end();
  });
  const address = await listen(server, port);

  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    const next = await renderServed(context);
    if (next === page) return;
    page = next;
    output.message('A file changed: the page was updated.');
    for (const response of listeners) response.write('event: change\ndata:\n\n');
  };
  const watcher = watch(project.root, {
    ignoreInitial: true,
    ignored: (path) => /[\\/](?:node_modules|\.git|\.idops)(?:[\\/]|$)/.test(path.slice(project.root.length)),
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      refresh().catch((failure: unknown) => output.problems(problemsOf(failure)));
    }, settleMilliseconds);
  });
  watcher.on('error', (failure) => output.problems(problemsOf(failure)));
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()));

  output.result(`${address}\n`);
  output.message('The preview is served until you press Ctrl-C.');
  await untilAborted(signal);
  clearTimeout(timer);
  await watcher.close();
  for (const response of listeners) response.end();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return exit.done;
}

/** The page. Shows problems of the project instead of failing, since the next change may fix them. */
async function renderServed(context: Context): Promise<string> {
  let gallery: Gallery;
  try {
    gallery = await loadGallery(context, await context.project());
  } catch (failure) {
    const problems: readonly Problem[] = problemsOf(failure);
    gallery = { templates: [], problems };
  }
  return galleryHtml(redactReport({ ...gallery, script }, context.redactor));
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (failure: NodeJS.ErrnoException) => reject(portProblem(failure, port) ?? failure));
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: given } = server.address() as AddressInfo;
  return `http://127.0.0.1:${given}/`;
}
