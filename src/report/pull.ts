import { displayWidth, escapeText, quoteIfNeeded } from '../base/escape.js';
import type { KindName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import { addressOf } from '../kinds/index.js';
import { plural } from './words.js';

export interface ShownFile {
  /** The path in text: relative to the current folder. */
  readonly displayPath: string;
  /** From the project's root, with `/`. */
  readonly path: string;
  readonly action: 'write' | 'update' | 'unchanged';
}

export interface ShownPull {
  readonly server: string;
  readonly profile: string;
  readonly check: boolean;
  readonly files: readonly ShownFile[];
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Process variables that replace secrets. */
  readonly toSet: readonly { readonly name: string; readonly address: string; readonly path: string }[];
  /** Parts of new objects that no document can declare. */
  readonly leftOut: readonly { readonly address: string; readonly reason: string }[];
  /** Declarations that differ from the server and weren't updated. */
  readonly notUpdated: readonly Problem[];
  readonly next: string | null;
}

const verbsByMode = {
  check: { write: 'would write', update: 'would update', unchanged: 'unchanged' },
  done: { write: 'wrote', update: 'updated', unchanged: 'unchanged' },
} as const;

export function pullText(pull: ShownPull): string {
  const verbs = verbsByMode[pull.check ? 'check' : 'done'];
  const files = pull.files.map(({ displayPath, action }) => `${verbs[action]} ${escapeText(displayPath)}`);
  const summary = `${plural(pull.added, 'object')} added, ${pull.updated} updated, ${pull.unchanged} unchanged.`;
  const toSet =
    pull.toSet.length === 0
      ? []
      : [
          '',
          'Set these process variables; no file contains their values (names that begin with IDOPS_ need no allow_env):',
          ...pull.toSet.map(({ name, address, path }) => `  ${name}  ${escapeText(`${address} ${path}`)}`),
        ];
  const next = pull.next === null ? [] : ['', `Next: ${pull.next}`];
  return `${[...files, ...(files.length > 0 ? [''] : []), summary, ...toSet, ...next].join('\n')}\n`;
}

export function pullJson(pull: ShownPull) {
  return {
    format_version: 1,
    server: pull.server,
    profile: pull.profile,
    check: pull.check,
    summary: {
      added: pull.added,
      updated: pull.updated,
      unchanged: pull.unchanged,
      left: pull.notUpdated.length,
    },
    files: pull.files.map(({ path, action }) => ({ path, action })),
    to_set: pull.toSet.map(({ name, address, path }) => ({ name, address, path })),
    left_out: pull.leftOut.map(({ address, reason }) => ({ address, reason })),
    left: pull.notUpdated.map(({ code, message, hint = null, places: [place] }) => ({
      code,
      message,
      hint,
      place: place === undefined ? null : { file: place.file, line: place.line },
    })),
  };
}

export interface ListedObject {
  readonly kind: KindName;
  /** Its address, with its name if that is unique, otherwise with ids. */
  readonly address: string;
  /** Its path parameters: `id`, or `backend_id` and `type`. */
  readonly identity: { readonly [part: string]: string };
  readonly name: string | null;
  /** A remark, such as `the default`. */
  readonly remark: string | null;
}

export interface ShownListing {
  readonly server: string;
  readonly profile: string;
  readonly objects: readonly ListedObject[];
}

export function listText({ objects }: ShownListing): string {
  const nameAndRemark = (name: string | null, remark: string | null): string =>
    [
      ...(name === null ? [] : [quoteIfNeeded(name)]),
      ...(remark === null ? [] : [`(${escapeText(remark)})`]),
    ].join(' ');
  const rows = objects.map(({ kind, identity, name, remark }) => [
    kind,
    // Without the kind, as commands accept it.
    quoteIfNeeded(addressOf(kind, identity).slice(kind.length + 1)),
    nameAndRemark(name, remark),
  ]);
  const kindWidth = Math.max(0, ...rows.map(([kind = '']) => displayWidth(kind)));
  // Each kind has its own width, since some have long ids.
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

export function listJson({ server, profile, objects }: ShownListing) {
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
  };
}
