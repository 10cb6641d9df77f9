import { type Document, isMap as isMapNode, isScalar, parseAllDocuments } from 'yaml';
import { isMap, type Json, same } from '../base/values.js';
import { SourceFile } from '../source/file.js';
import { resolve } from '../source/resolve.js';
import { parseYaml } from '../source/yaml.js';
import { pairSplice, type Target } from './leaf.js';
import { eolOf } from './lines.js';
import { holdsAnchors, memberSplices } from './members.js';
import { holdsComments, type Splice, spliced } from './tokens.js';
import { type Trouble, Unfit } from './unfit.js';
import { faithful } from './yaml.js';

/** One field of one document of a file that is to say something else. */
export interface FieldEdit {
  /** Which of the file's documents, counted without empty ones. */
  readonly document: number;
  readonly field: string;
  readonly next: Json;
}

interface Refused {
  readonly edit: FieldEdit;
  readonly reason: string;
}

/** A text after its edits, and those that could not be made in place. */
export interface Edited {
  readonly text: string;
  readonly refused: readonly Refused[];
  /** Fields that were written as a whole, so that comments in them may stand elsewhere now. */
  readonly whole: readonly FieldEdit[];
}

/** The documents of a text as they are written, without their variables being filled in; undefined where it isn't right. */
export function writtenDocuments(text: string): Json[] | undefined {
  const file = new SourceFile({ file: '' }, text);
  const { documents, problems } = parseYaml(file);
  if (problems.some(({ severity }) => severity === 'error')) return undefined;
  return documents.map(({ root }) => resolve(root, file, null).value);
}

/**
 * Writes fields of documents anew and leaves every other character of the text as it is: of maps and lists the members alone
 * are written that differ, come or go. A field of which the members are written in a way that can't be edited is written as a
 * whole, and an edit after which the text would say something else than that is refused.
 */
export function editFields(text: string, edits: readonly FieldEdit[]): Edited {
  const all = tryEdits(text, edits, 'members');
  if (all !== undefined) return all;
  // One by one, so that those that can be made are made.
  let made = text;
  const refused: Refused[] = [];
  const whole: FieldEdit[] = [];
  for (const edit of edits) {
    const one = ways.reduce<Edited | undefined>(
      (found, way) => found ?? tryEdits(made, [edit], way),
      undefined,
    );
    if (one === undefined) {
      refused.push({ edit, reason: "it is written in a way that can't be changed in place" });
      continue;
    }
    made = one.text;
    refused.push(...one.refused);
    whole.push(...one.whole);
  }
  return { text: made, refused, whole };
}

/** How an edit is made: a text in quotes is the last way where one in lines would run into a comment below it. */
const ways = ['members', 'whole', 'quoted'] as const;

/** Makes edits; undefined where the text would say something else than that then. */
function tryEdits(text: string, edits: readonly FieldEdit[], way: (typeof ways)[number]): Edited | undefined {
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const documents = parseAllDocuments(text, faithful as never) as unknown as Document[];
  const filled = documents.filter(({ contents }) => isMapNode(contents));
  if (filled.length !== before.length) return undefined;
  const refused: Refused[] = [];
  const whole: FieldEdit[] = [];
  const expected: Json[] = [...before];
  const splices: Splice[] = [];
  for (const edit of edits) {
    const { field, next } = edit;
    const document = filled[edit.document];
    const contents = document?.contents;
    const pair = isMapNode(contents)
      ? contents.items.find(({ key }) => isScalar(key) && key.value === field)
      : undefined;
    const old = expected[edit.document];
    if (document === undefined || pair === undefined || !isMapNode(contents) || !isMap(old)) return undefined;
    const target = { isFlow: contents.flow === true, pair, old: (old[field] ?? null) as Json, next };
    const made =
      way === 'members'
        ? inMembers(text, document, target)
        : inWhole(text, { ...target, isQuoted: way === 'quoted' });
    if (made === 'shape') return undefined;
    if (made === 'anchor') {
      refused.push({ edit, reason: 'it is, or has in it, an anchor or an alias' });
      continue;
    }
    if (way !== 'members' && holdsComments(pair.srcToken?.value)) whole.push(edit);
    splices.push(...made);
    expected[edit.document] = Object.fromEntries(
      Object.entries(old).map(([key, member]) => [key, key === field ? next : (member as Json)]),
    );
  }
  const made = spliced(text, splices);
  const after = made === undefined ? undefined : writtenDocuments(made);
  if (made === undefined || after === undefined || !same(after, expected)) return undefined;
  return { text: made, refused, whole };
}

function inMembers(text: string, document: Document, target: Target): readonly Splice[] | Trouble {
  try {
    return memberSplices(text, document, target);
  } catch (failure) {
    if (failure instanceof Unfit) return failure.trouble;
    throw failure;
  }
}

function inWhole(text: string, target: Target): readonly Splice[] | Trouble {
  if (holdsAnchors(target.pair.value)) return 'anchor';
  const splice = pairSplice(text, target);
  return splice === undefined ? 'shape' : [splice];
}

/** A text with documents behind those that it has; undefined where its own would say something else then. */
export function appendDocuments(text: string, documents: readonly string[]): string | undefined {
  if (documents.length === 0) return text;
  const before = writtenDocuments(text);
  if (before === undefined) return undefined;
  const eol = eolOf(text, text.length);
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${eol}`;
  const isOpen = before.length === 0 && !/^(?:---|\.\.\.)/m.test(text);
  const added = `${isOpen ? '' : '---\n'}${documents.join('---\n')}`;
  const made = ended + added.replaceAll('\n', eol);
  const after = writtenDocuments(made);
  const wanted = documents.map((one) => writtenDocuments(one)?.[0] ?? null);
  return after !== undefined && same(after, [...before, ...wanted]) ? made : undefined;
}
