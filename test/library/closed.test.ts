import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Module, parseSync } from '@swc/core';
import { describe, expect, test } from 'vitest';

/** A type or value by where it is declared. */
interface Name {
  readonly file: string;
  readonly name: string;
}

/** A node of a syntax tree, of which nothing but its members is known. */
interface Tree {
  readonly type?: unknown;
  readonly [member: string]: unknown;
}

/** What is known of one file of types. */
interface Declarations {
  /** The trees of what it declares: several where something is declared as a type and as a value. */
  readonly own: ReadonlyMap<string, readonly Tree[]>;
  /** What it takes from elsewhere under a name of its own: from a file, or from a package. */
  readonly imported: ReadonlyMap<string, Name | string>;
  /** What it hands on: the name outside, and what that is. */
  readonly exported: ReadonlyMap<string, Name | string>;
}

const read = new Map<string, Declarations>();

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The file of types that an import in another means; undefined for a package. */
function fileOf(source: string, from: string): string | undefined {
  return source.startsWith('.') ? join(dirname(from), source.replace(/\.js$/, '.d.ts')) : undefined;
}

function textOf(tree: unknown): string {
  return isTree(tree) && typeof tree.value === 'string' ? tree.value : '';
}

function declarationsOf(file: string): Declarations {
  const known = read.get(file);
  if (known !== undefined) return known;
  const { body }: Module = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' });
  const own = new Map<string, Tree[]>();
  const imported = new Map<string, Name | string>();
  const exported = new Map<string, Name | string>();
  const declare = (declaration: Tree, isExported: boolean): void => {
    const variables = declaration.type === 'VariableDeclaration' ? declaration.declarations : undefined;
    const parts = Array.isArray(variables) ? (variables as Tree[]) : [declaration];
    for (const part of parts) {
      const name = textOf(part.id) || textOf(part.identifier);
      own.set(name, [...(own.get(name) ?? []), part]);
      if (isExported) exported.set(name, { file, name });
    }
  };
  for (const item of body) {
    if (item.type === 'ImportDeclaration') {
      const from = fileOf(item.source.value, file);
      for (const one of item.specifiers) {
        const name = one.type === 'ImportSpecifier' ? (one.imported?.value ?? one.local.value) : '*';
        imported.set(one.local.value, from === undefined ? item.source.value : { file: from, name });
      }
    } else if (item.type === 'ExportNamedDeclaration') {
      const from = item.source ? fileOf(item.source.value, file) : file;
      for (const one of item.specifiers) {
        if (one.type !== 'ExportSpecifier') throw new Error(`${file} hands on a namespace`);
        const outside = one.exported?.value ?? one.orig.value;
        exported.set(
          outside,
          from === undefined ? String(item.source?.value) : { file: from, name: one.orig.value },
        );
      }
    } else if (item.type === 'ExportDeclaration') {
      declare(item.declaration as unknown as Tree, true);
    } else if (item.type === 'ExportAllDeclaration') {
      throw new Error(`${file} hands on all of ${item.source.value}`);
    } else {
      declare(item as unknown as Tree, false);
    }
  }
  const made = { own, imported, exported };
  read.set(file, made);
  return made;
}

/** Where something is declared that a file knows by a name; a text for what is none of ours, undefined for what the language has. */
function declaredAt({ file, name }: Name): Name | string | undefined {
  const { own, imported, exported } = declarationsOf(file);
  if (own.has(name)) return { file, name };
  const elsewhere = imported.get(name) ?? exported.get(name);
  return elsewhere === undefined || typeof elsewhere === 'string' ? elsewhere : declaredAt(elsewhere);
}

/** The names of types and values that a declaration is made of, without those that it declares itself. */
function namesIn(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(namesIn);
  if (!isTree(tree)) return [];
  const { type } = tree;
  // What is private of a class has no type in a file of types.
  const names = Object.values(tree).flatMap(namesIn);
  const first = (name: unknown): string =>
    isTree(name) && isTree(name.left) ? first(name.left) : textOf(name);
  if (type === 'TsTypeReference') names.push(first(tree.typeName));
  if (type === 'TsTypeQuery') names.push(`typeof ${first(tree.exprName)}`);
  if (type === 'TsImportType') names.push(`import ${textOf(tree.argument)}`);
  if (type === 'TsExpressionWithTypeArguments') names.push(textOf(tree.expression));
  if (isTree(tree.superClass)) names.push(textOf(tree.superClass));
  const own = typeParametersOf(tree);
  return names.filter((name) => name !== '' && !own.includes(name));
}

function typeParametersOf({ type, typeParams, parameters, typeParam }: Tree): string[] {
  const list = [typeParams, parameters].flatMap((one) =>
    isTree(one) && Array.isArray(one.parameters) ? one.parameters : Array.isArray(one) ? one : [],
  );
  const mapped = type === 'TsMappedType' ? [typeParam] : [];
  return [...list, ...mapped].flatMap((one) => (isTree(one) ? [textOf(one.name)] : []));
}

const entries = ['dist/index.d.ts', 'dist/sandbox/index.d.ts'];

/** All that the entries of the package export, by where it is declared. */
const open = new Map(
  entries.flatMap((entry) =>
    [...declarationsOf(entry).exported].map(([outside, inside]) => {
      const at = typeof inside === 'string' ? inside : declaredAt(inside);
      if (at === undefined || typeof at === 'string')
        throw new Error(`${entry} exports ${outside} of nobody`);
      return [`${at.file} ${at.name}`, { outside, at }] as const;
    }),
  ),
);

/** What something that is exported names and a program can't: names of ours, and those of packages. */
function unnameable({ file, name }: Name): string[] {
  const trees = declarationsOf(file).own.get(name) ?? [];
  return [...new Set(namesIn(trees as unknown))].flatMap((used) => {
    if (used.startsWith('import ')) return [used];
    // The type of a value is what the value is declared with, so that is looked through.
    const value = used.startsWith('typeof ') ? declaredAt({ file, name: used.slice(7) }) : undefined;
    if (value !== undefined && typeof value !== 'string') return unnameable(value);
    const at = declaredAt({ file, name: used });
    if (at === undefined) return [];
    if (typeof at === 'string') return at.startsWith('node:') ? [] : [`${used} of ${at}`];
    return open.has(`${at.file} ${at.name}`) ? [] : [`${at.name} of ${at.file}`];
  });
}

describe('what the package exports', () => {
  test('names nothing that a program could not name too', () => {
    const missing = [...open.values()].flatMap(({ outside, at }) =>
      unnameable(at).map((used) => `${outside} names ${used}`),
    );
    expect(missing).toEqual([]);
  });

  test('is looked through as far as it goes', () => {
    expect(open.size).toBeGreaterThan(80);
    const used = (name: string): string[] => {
      const found = [...open.values()].find(({ outside }) => outside === name);
      if (found === undefined) throw new Error(`${name} is not exported`);
      return namesIn((declarationsOf(found.at.file).own.get(found.at.name) ?? []) as unknown);
    };
    expect(used('openForWriting')).toEqual(
      expect.arrayContaining(['Project', 'WritingCommand', 'SessionOptions', 'WritingSession', 'Promise']),
    );
    expect(used('WritingSession')).toEqual(expect.arrayContaining(['Session', 'ApprovedPlan', 'Applied']));
    expect(used('ServerError')).toEqual(
      expect.arrayContaining(['ProblemsError', 'FailedRequest', 'Problem']),
    );
    expect(used('Json')).toEqual(expect.arrayContaining(['ExactNumber', 'Json']));
    expect(used('Summary')).toContain('Action');
    expect(used('Summary')).not.toContain('action');
    expect(used('ProblemCode')).toContain('typeof problemCodes');
  });

  test('is what the page about it has, function by function', () => {
    const page = readFileSync('docs/library.md', 'utf8');
    const values = [...open.values()].filter(({ at }) =>
      (declarationsOf(at.file).own.get(at.name) ?? []).some(
        ({ type }) => !/^Ts(Interface|TypeAlias)Declaration$/.test(String(type)),
      ),
    );
    expect(values.length).toBeGreaterThan(30);
    // Of a class that only others make, its type alone is open.
    const told = values.map(({ outside }) => outside).filter((name) => name !== 'ExactNumber');
    expect(told.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });

  test('has a word for whoever uses it', () => {
    const silent = [...open.values()].flatMap(({ outside, at }) => {
      const text = readFileSync(at.file, 'utf8');
      const declaration = new RegExp(
        `(\\*/\\n)?^(?:export )?(?:declare )?(?:abstract )?(?:interface|class|function|const|type) ${at.name}\\b`,
        'm',
      ).exec(text);
      return declaration?.[1] === undefined ? [`${outside} of ${at.file}`] : [];
    });
    expect(silent).toEqual([]);
  });
});
