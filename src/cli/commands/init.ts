import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escapeText } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import { serverSettings } from '../../project/server.js';
import { diagnose } from '../../server/diagnose.js';
import { type ProfileName, profiles } from '../../server/profiles.js';
import { whileReading } from '../../session/connection.js';
import { sessionOptionsOf } from '../../session/options.js';
import { shownPath } from '../../source/file.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

interface Options {
  readonly ci: 'github' | 'gitlab';
}

/** A file to write: its path in the new project, and its text. */
interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** `idops init`: a configuration, example manifests and a CI workflow. What is already there stays as it is. */
export async function init(
  context: Context,
  { ci }: Options,
  folder: string | undefined = '.',
): Promise<ExitCode> {
  const { output } = context;
  const root = resolve(folder);
  const kept: string[] = [];
  const found = existsSync(join(root, CONFIG)) ? null : await fittingProfile(context);
  for (const { path, text: example } of await templates(ci)) {
    const text = path === CONFIG ? withProfile(example, found) : example;
    const file = join(root, path);
    const shown = escapeText(shownPath(file, process.cwd()));
    if (await writeNew(file, text, shown)) output.result(`wrote ${shown}`);
    else kept.push(shown);
  }
  for (const shown of kept) output.message(`${shown} was there already, and stays as it is`);
  output.message(
    'Say in idops.yaml where your server is, in the manifests what it holds, and run idops validate.',
  );
  return exit.done;
}

const CONFIG = 'idops.yaml';

/** The profile that fits the server, where its address and a token are given; found out with GETs alone. */
async function fittingProfile({ options, output, redactor, signal }: Context): Promise<ProfileName | null> {
  const { env } = process;
  const baseUrl = options.baseUrl ?? (env.IDOPS_BASE_URL || undefined);
  const { tokenFile } = options;
  const token = env.IDOPS_TOKEN || undefined;
  const { documented } = profiles;
  if (baseUrl === undefined || (tokenFile ?? token) === undefined || documented === undefined) return null;
  const server = await serverSettings({
    section: { data: {}, problems: [], notes: new Map() },
    given: { baseUrl, tokenFile, token },
    variables: env,
    cwd: process.cwd(),
    root: process.cwd(),
    key: [],
    place: () => [],
  });
  const { baseUrl: address } = server;
  const { checks, fits } = await whileReading(
    server,
    [],
    { ...sessionOptionsOf(options), redactor, signal },
    (reader) => diagnose({ reader, baseUrl: address, profile: documented, needed: [] }),
  );
  const failed = checks.filter(({ status, name }) => status === 'fail' && name !== 'profile');
  output.message(
    fits === null
      ? `Which profile fits ${address} could not be found out${failed.map(({ message }) => `: ${message}`).join('')}`
      : `The profile ${fits} fits ${address}`,
  );
  return fits;
}

/** The configuration with the profile written out: the one that was found, or the document's. */
function withProfile(text: string, found: ProfileName | null): string {
  const remark =
    found === null
      ? 'The documented API alone. `idops doctor` finds out whether the server needs another profile.'
      : 'Found by `idops init`, by how the server answers; `idops doctor` looks again.';
  return text.replace(/^( *)profile: .*$/m, `$1# ${remark}\n$1profile: ${found ?? 'documented'}`);
}

/** Where the workflows of each CI are kept. */
const workflowFolders = { github: '.github/workflows/idops-', gitlab: '' } as const;

async function templates(ci: Options['ci']): Promise<NewFile[]> {
  const examples = examplesFolder();
  const read = async (path: string): Promise<string> =>
    withoutSchemaLine(await readFile(join(examples, path), 'utf8'));
  const manifests = (await readdir(join(examples, 'manifests'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(examples.length + 1))
    .sort();
  const workflows = (await readdir(join(examples, ci))).filter((name) => /\.yml$/.test(name)).sort();
  return await Promise.all([
    ...['idops.yaml', ...manifests].map(async (path) => ({ path, text: await read(path) })),
    { path: '.gitignore', text: '.idops/\n' },
    ...workflows.map(async (name) => ({
      path: `${workflowFolders[ci]}${name}`,
      text: await read(join(ci, name)),
    })),
  ]);
}

/** The examples of the package: what is shown there is what is written. */
function examplesFolder(): string {
  // A bundle lies a folder above the module that it was made from.
  const folders = ['../../examples/', '../../../examples/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = folders.find((one) => existsSync(join(one, 'idops.yaml')));
  if (folder === undefined) throw new Error('the examples are not in the package');
  return resolve(folder);
}

/** The line names a file of this package, which a new project doesn't have. */
function withoutSchemaLine(text: string): string {
  return text.replace(/^# yaml-language-server: .*\n/, '');
}

/** Writes a file that isn't there yet; false where it is. Throws a ProblemsError where that can't be done. */
async function writeNew(file: string, text: string, shown: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === 'EEXIST' && existsSync(file)) return false;
    throw new ProblemsError([
      error(
        'not-writable',
        `${shown} can't be written: ${message}`,
        [],
        'check the folder and its permissions',
      ),
    ]);
  }
}
