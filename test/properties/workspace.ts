import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import type { Json } from '../../src/base/values.js';
import { loadProject } from '../../src/project/index.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import type { Session, SessionOptions, WritingSession } from '../../src/session/session.js';
import { within } from '../approving.js';
import type { Doc } from '../kinds/generating/values.js';
import type { Layout } from './scenario.js';

const plain: Layout = { order: [0], files: [0], style: 'line', bodiesInFiles: false, crlf: false };

/** Shuffles the items by the given ranks. */
function shuffled<T>(items: readonly T[], order: readonly number[]): T[] {
  return items
    .map((item, index) => ({ item, rank: (order[index % order.length] ?? 0) + index / 1e6 }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

const sets = new Set(['organizations', 'authorized_scopes', 'roles']);

/** The value with its keys and the elements of its sets in another order. */
function reordered(value: Json, order: readonly number[], name = ''): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => reordered(item, order));
    return sets.has(name) ? shuffled(items, order) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  // Lists in metadata are data, whose order matters.
  const inside = name === 'metadata' || name === 'federated_metadata' ? [0] : order;
  return Object.fromEntries(
    shuffled(Object.entries(value), order).map(([key, member]) => [key, reordered(member, inside, key)]),
  );
}

/** Writes `$` as `$$`, because manifests have variables. */
function escaped(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('$', '$$$$');
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escaped(member)]));
}

function write(doc: Json, { style, crlf }: Layout): string {
  const escapes = (text: string): string =>
    text.replace(
      /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const flow = `${escapes(JSON.stringify(doc, null, style === 'line' ? 0 : 2))}\n`;
  const block = style === 'block' ? stringify(doc, { lineWidth: 0 }) : flow;
  const faithful = JSON.stringify(parseDocument(block).toJS()) === JSON.stringify(doc);
  const text = faithful ? block : flow;
  // In a block scalar a line end is content.
  return crlf && style !== 'block' ? text.replaceAll('\n', '\r\n') : text;
}

/** The manifests and body files that declare the documents. */
export function filesFor(docs: readonly Doc[], layout: Layout = plain): Map<string, string> {
  const files = new Map<string, string>();
  shuffled(docs, layout.order).forEach((doc, index) => {
    const fields = Object.entries(doc).map(([name, value]): [string, Json] => {
      if (!layout.bodiesInFiles || typeof value !== 'string' || !name.endsWith('_content')) {
        return [name, escaped(value)];
      }
      if (!value.isWellFormed() || value.startsWith('\ufeff')) return [name, escaped(value)];
      files.set(`manifests/bodies/${index}.${name}`, value);
      return [name, { file: `bodies/${index}.${name}` }];
    });
    const path = `manifests/${layout.files[index % layout.files.length] ?? 0}.yaml`;
    const before = files.get(path);
    const text = write(reordered(Object.fromEntries(fields), layout.order), layout);
    files.set(path, before === undefined ? text : `${before}---\n${text}`);
  });
  return files;
}

export interface Workspace {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** Replaces the manifests. */
  declare(docs: readonly Doc[], layout?: Layout): void;
  /** Opens a session, and closes it after the work. */
  session<T>(
    work: (session: Session) => Promise<T>,
    variables?: { readonly [name: string]: string | undefined },
  ): Promise<T>;
  writing<T>(work: (session: WritingSession) => Promise<T>, options?: SessionOptions): Promise<T>;
}

/** Runs work with a new project and server. If a profile is given, `idops.yaml` names it. */
export async function inWorkspace<T>(
  options: SandboxOptions,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'idops-property-')));
  const sandbox = await startSandbox(options);
  const load = (variables = {}) =>
    loadProject({
      cwd: folder,
      variables: { IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token, ...variables },
    });
  try {
    const { profile } = options;
    const server = profile === undefined ? '' : `server: {profile: ${profile}, trust_profile: true}\n`;
    writeFileSync(
      join(folder, 'idops.yaml'),
      `version: 1\n${server}safety: {max_destructive: 1000}\nchecks: {missing-link: off, template-syntax: off}\n`,
    );
    return await work({
      folder,
      sandbox,
      declare(docs, layout) {
        rmSync(join(folder, 'manifests'), { recursive: true, force: true });
        for (const [path, text] of filesFor(docs, layout)) {
          mkdirSync(dirname(join(folder, path)), { recursive: true });
          writeFileSync(join(folder, path), text);
        }
      },
      session: async (use, variables) => await within(await openSession(await load(variables)), use),
      writing: async (use, given = {}) =>
        await within(await openForWriting(await load(), 'apply', given), use),
    });
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  }
}
