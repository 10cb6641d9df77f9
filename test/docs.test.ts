import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { pages as generatedPages } from '../scripts/reference/pages.js';
import { kindNames } from '../src/base/kind-names.js';
import { validator } from './e2e/schemas.js';
import { helpOf } from './help.js';

/** The names in one section of a help text, in which each entry is indented by two spaces. */
function entriesOf(help: string, section: string): string[] {
  const [, rest = ''] = help.split(`\n${section}:\n`);
  const [lines = ''] = rest.split('\n\n');
  return lines
    .split('\n')
    .filter((line) => /^ {2}\S/.test(line))
    .map((line) => line.trim().split(/ {2,}/)[0] ?? '');
}

/** Every command, including subcommands. */
async function commandsBelow(...above: string[]): Promise<string[][]> {
  const names = entriesOf(await helpOf(...above), 'Commands')
    .map((entry) => entry.split(' ')[0] ?? '')
    .filter((name) => name !== 'help');
  const commands = names.map((name) => [...above, name]);
  const deeper = await Promise.all(commands.map((command) => commandsBelow(...command)));
  return [...commands, ...deeper.flat()];
}

async function pages(): Promise<string[]> {
  const docs = (await readdir('docs', { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.sort()];
}

/** A page without code, in which brackets aren't links and `#` isn't a heading. */
function withoutCode(page: string): string {
  return page
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''));
}

/** The names that GitHub gives the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let unique = anchor;
    for (let number = 1; anchors.has(unique); number += 1) unique = `${anchor}-${number}`;
    anchors.add(unique);
  }
  return anchors;
}

test('the generated parts of pages are up to date (npm run docs writes them)', async () => {
  for (const { path, is, made } of await generatedPages()) {
    expect(is, path).toContain('<!-- generated: ');
    expect(is, path).toBe(made);
    // No description is empty.
    expect(made.match(/^\|.*\| *\|$/gm), path).toBe(null);
  }
});

test('the pages about kinds name every kind, and each has a section with an example', async () => {
  const manifests = await readFile('docs/reference/manifests.md', 'utf8');
  const sections = new Map(
    manifests.split(/^#{2,3} /m).map((section) => [section.split('\n')[0] ?? '', section] as const),
  );
  for (const kind of kindNames) {
    expect(manifests).toContain(`| \`${kind}\` |`);
    expect(sections.get(kind)).toContain(`kind: ${kind}\n`);
  }
  const errors = await readFile('docs/reference/errors.md', 'utf8');
  const named = kindNames.map((kind) => `\`${kind}\``);
  expect(errors.replace(/\s+/g, ' ')).toContain(
    `Kinds are ${named.slice(0, -1).join(', ')} and ${named.at(-1)}.`,
  );
});

describe('the page of commands', () => {
  test('names exactly the commands', async () => {
    const page = await readFile('docs/reference/commands.md', 'utf8');
    const commands = (await commandsBelow()).map((command) => command.join(' '));
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((command) => !page.includes(`\`idops ${command}`))).toEqual([]);
    const named = [...page.matchAll(/`idops ((?:runs )?[a-z][a-z-]*)/g)].map(([, command = '']) => command);
    expect(named.filter((command) => command !== 'help' && !commands.includes(command))).toEqual([]);
  });

  test('has a section for every command, with exactly its options', async () => {
    const page = await readFile('docs/reference/commands.md', 'utf8');
    const sections = new Map(
      page.split(/^## /m).map((section) => [section.split('\n')[0] ?? '', section] as const),
    );
    const known = new Map<string, Set<string>>();
    const learn = (title: string, help: string, part: string): void => {
      const options = entriesOf(help, part).flatMap((entry) => entry.match(/--[a-z-]+/g) ?? []);
      known.set(title, new Set([...(known.get(title) ?? []), ...options]));
    };
    learn('Options of all commands', await helpOf(), 'Options');
    for (const command of await commandsBelow()) {
      learn(command[0] ?? '', await helpOf(...command), 'Options');
    }
    for (const [title, options] of known) {
      const section = sections.get(title) ?? '';
      expect(section, title).not.toBe('');
      const cells = [...section.matchAll(/^\|(?!---) ?(.*?) ?\|/gm)].map(([, cell = '']) => cell);
      const shown = new Set(cells.flatMap((cell) => cell.match(/--[a-z-]+/g) ?? []));
      const common = title === 'Options of all commands' ? [] : ['--help'];
      expect([...shown, ...common].sort(), title).toEqual([...options].sort());
    }
  });
});

test('the manifests and configurations on pages are valid', async () => {
  const [manifest, config] = [validator('manifest'), validator('config')];
  let seen = 0;
  for (const path of await pages()) {
    const page = await readFile(path, 'utf8');
    const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
      text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    );
    for (const document of blocks.flatMap((block) => parseAllDocuments(block))) {
      const value: unknown = document.toJS();
      if (typeof value !== 'object' || value === null) continue;
      const check = 'kind' in value ? manifest : 'version' in value && 'server' in value ? config : null;
      if (check === null) continue;
      seen += 1;
      expect(check(value), `${path}: ${String(document)}${JSON.stringify(check.errors)}`).toBe(true);
    }
  }
  expect(seen).toBeGreaterThan(8);
});

test('the README names the index of the docs, which names every page', async () => {
  const [readme, index] = await Promise.all([
    readFile('README.md', 'utf8'),
    readFile('docs/README.md', 'utf8'),
  ]);
  for (const page of ['docs/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'])
    expect(readme).toContain(`(${page})`);
  const named = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => `docs/${target}`);
  const docs = (await pages()).filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
  expect(docs.filter((path) => !named.includes(path))).toEqual([]);
});

describe('links', () => {
  test('lead to existing files and headings', async () => {
    const lost: string[] = [];
    for (const path of await pages()) {
      const page = await readFile(path, 'utf8');
      const links = [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
      const defined = [...page.matchAll(/^\[([^\]]+)\]: \S+$/gm)].map(([, name]) => name);
      const named = [...withoutCode(page).matchAll(/\]\[([^\]]+)\]/g)].map(([, name = '']) => name);
      lost.push(...named.filter((name) => !defined.includes(name)).map((name) => `${path}: [${name}]`));
      for (const target of links.filter((link) => !/^[a-z]+:/.test(link))) {
        const [file = '', anchor] = target.split('#');
        const linked = file === '' ? path : normalize(join(dirname(path), file));
        const there = await access(linked).then(
          () => true,
          () => false,
        );
        const text = there && anchor !== undefined ? await readFile(linked, 'utf8') : '';
        if (!there || (anchor !== undefined && !anchorsOf(text).has(anchor))) lost.push(`${path}: ${target}`);
      }
    }
    expect(lost).toEqual([]);
  });
});

test('the steps of an apply in CONTRIBUTING name existing functions', async () => {
  const page = await readFile('CONTRIBUTING.md', 'utf8');
  const steps = [...page.matchAll(/^\| \d+ \| `(src\/\S+)` \| `(\w+)` \|/gm)];
  expect(steps).toHaveLength(15);
  for (const [, file = '', name] of steps)
    expect(await readFile(file, 'utf8')).toMatch(
      new RegExp(`^(?:export |  )(?:async )?(?:function )?${name}[(<]`, 'm'),
    );
});

// The tests don't run conftest, so they compare the rules with the plan's schema.
test('the rules for conftest read fields that plans have', async () => {
  const [, rules = ''] = /```rego\n(.*?)```/s.exec(await readFile('docs/how-to/guards.md', 'utf8')) ?? [];
  const schema = JSON.parse(await readFile('schemas/plan.schema.json', 'utf8'));
  const change = schema.properties.changes.items;
  const known: { readonly [name: string]: { readonly properties: object } } = {
    input: schema,
    change,
    field: change.properties.fields.items,
  };
  const read = [...rules.matchAll(/\b(input|change|field)\.(\w+)/g)];
  expect(read.length).toBeGreaterThan(8);
  for (const [path, name = '', member = ''] of read)
    expect(Object.keys(known[name]?.properties ?? {}), path).toContain(member);
});
