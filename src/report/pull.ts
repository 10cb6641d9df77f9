import { bare, displayWidth, escapeText } from '../base/escape.js';
import type { KindName, OtherName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import { addressOf } from '../kinds/index.js';
import { plural } from './words.js';

/** A file of a pull, and what became of it, or would. */
export interface ShownFile {
  /** As a person would type it. */
  readonly shown: string;
  /** From the project's root, with `/`. */
  readonly path: string;
  readonly action: 'write' | 'update' | 'unchanged';
}

/** What a pull came to. */
export interface ShownPull {
  readonly server: string;
  readonly profile: string;
  /** Whether nothing was written, since only the question was asked. */
  readonly check: boolean;
  readonly files: readonly ShownFile[];
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Variables that stand in the place of secrets. */
  readonly toSet: readonly { readonly name: string; readonly address: string; readonly path: string }[];
  /** What of new objects no document can say. */
  readonly leftOut: readonly { readonly address: string; readonly reason: string }[];
  /** What can't be brought into the files, each with its place. */
  readonly left: readonly Problem[];
  /** What to type next; null where nothing follows. */
  readonly next: string | null;
}

const words = {
  check: { write: 'would write', update: 'would update', unchanged: 'unchanged' },
  done: { write: 'wrote', update: 'updated', unchanged: 'unchanged' },
} as const;

/** The files, a line each, then what to set, then what to type. */
export function pullText(pull: ShownPull): string {
  const verbs = words[pull.check ? 'check' : 'done'];
  const files = pull.files.map(({ shown, action }) => `${verbs[action]} ${escapeText(shown)}`);
  const summary = `${plural(pull.added, 'object')} added, ${pull.updated} updated, ${pull.unchanged} unchanged.`;
  const toSet =
    pull.toSet.length === 0
      ? []
      : [
          '',
          'Set these process variables, whose values no file holds (names that begin with IDOPS_ need no allow_env):',
          ...pull.toSet.map(({ name, address, path }) => `  ${name}  ${escapeText(`${address} ${path}`)}`),
        ];
  const next = pull.next === null ? [] : ['', `Next: ${pull.next}`];
  return `${[...files, ...(files.length > 0 ? [''] : []), summary, ...toSet, ...next].join('\n')}\n`;
}

/** The same as `--format json` gives it. */
export function pullJson(pull: ShownPull) {
  return {
    format_version: 1,
    server: pull.server,
    profile: pull.profile,
    check: pull.check,
    summary: { added: pull.added, updated: pull.updated, unchanged: pull.unchanged, left: pull.left.length },
    files: pull.files.map(({ path, action }) => ({ path, action })),
    to_set: pull.toSet.map(({ name, address, path }) => ({ name, address, path })),
    left_out: pull.leftOut.map(({ address, reason }) => ({ address, reason })),
    left: pull.left.map(({ code, message, hint = null, places: [place] }) => ({
      code,
      message,
      hint,
      place: place === undefined ? null : { file: place.file, line: place.line },
    })),
  };
}

/** An object of a server. */
export interface ListedObject {
  /** Its kind. */
  readonly kind: KindName;
  /** What names it in plans and journals too: by its name where that tells it from others, else by its ids. */
  readonly address: string;
  /** Its path parameters: `id`, or `backend_id` and `type`. */
  readonly identity: { readonly [part: string]: string };
  /** What people call it; null where nothing does. */
  readonly name: string | null;
  /** What else is worth a word, such as `the default`; null where nothing is. */
  readonly remark: string | null;
}

/** Something of a server that objects refer to or belong to, and that no manifest declares. */
export interface ListedOther {
  readonly kind: OtherName;
  readonly id: string;
  readonly name: string | null;
  /** What a scope is described with; null where there is nothing. */
  readonly label: string | null;
}

/** What a server has. */
export interface ShownListing {
  /** The base URL of the server. */
  readonly server: string;
  /** The profile that it was read with. */
  readonly profile: string;
  /** In the order of kinds and ids. */
  readonly objects: readonly ListedObject[];
  /** Backends, scopes and roles, as far as the server lists them. */
  readonly others: readonly ListedOther[];
}

/** A table: kinds, ids and names. */
export function listText({ objects, others }: ShownListing): string {
  const called = (name: string | null, remark: string | null): string =>
    [...(name === null ? [] : [bare(name)]), ...(remark === null ? [] : [`(${escapeText(remark)})`])].join(
      ' ',
    );
  const rows = [
    ...objects.map(({ kind, identity, name, remark }) => [
      kind,
      // What a command takes.
      bare(addressOf(kind, identity).slice(kind.length + 1)),
      called(name, remark),
    ]),
    ...others.map(({ kind, id, name, label }) => [kind, bare(id), called(name, label)]),
  ];
  const kindWidth = Math.max(0, ...rows.map(([kind = '']) => displayWidth(kind)));
  // Each kind by itself, since the long ids of one would push the names of all others out of sight.
  const idWidths = new Map<string, number>();
  for (const [kind = '', id = ''] of rows) {
    idWidths.set(kind, Math.max(idWidths.get(kind) ?? 0, displayWidth(id)));
  }
  const lines = rows.map((row) => {
    const widths = [kindWidth, idWidths.get(row[0] ?? '') ?? 0];
    const cells = row.map(
      (cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell))),
    );
    return cells.join('  ').trimEnd();
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The same as `--format json` gives it. */
export function listJson({ server, profile, objects, others }: ShownListing) {
  return {
    format_version: 1,
    server,
    profile,
    objects: objects.map(({ kind, address, identity, name, remark }) => ({
      kind,
      address,
      ...identity,
      name,
      remark,
    })),
    ...(others.length === 0
      ? {}
      : { others: others.map(({ kind, id, name, label }) => ({ kind, id, name, label })) }),
  };
}
