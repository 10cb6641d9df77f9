import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as library from '../../src/index.js';

/** What a module declares under a name, with the line above it; undefined if it only re-exports it. */
function declared(source: string, name: string) {
  const found = new RegExp(
    `^(.*)\n(?:export )(?:async )?(?:function|const|class|interface|type) ${name}\\b[^]*?(?=\n\n|$(?![^]))`,
    'm',
  ).exec(source);
  return found === null ? undefined : { above: found[1] ?? '', body: found[0] };
}

test('every export of the library and every member of its interfaces has a docstring', async () => {
  const index = await readFile('src/index.ts', 'utf8');
  const lists = [...index.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)];
  const exported = lists.flatMap(([, names = '', from = '']) => {
    const file = join('src', from.replace(/\.js$/, '.ts'));
    const each = names.split(',').map((name) => name.replace('type ', '').trim());
    return each.filter(Boolean).map((name) => ({ name, file }));
  });
  expect(exported.length).toBeGreaterThan(50);
  const lacking: string[] = [];
  for (const { name, file } of exported) {
    const found = declared(await readFile(file, 'utf8'), name);
    if (found === undefined) continue;
    if (!found.above.endsWith('*/')) lacking.push(name);
    if (!/^export interface/m.test(found.body)) continue;
    const lines = found.body.split('\n');
    lines.forEach((line, number) => {
      const member = /^ {2}(?:readonly )?(\w+)[?(:]/.exec(line)?.[1];
      if (member !== undefined && !lines[number - 1]?.endsWith('*/')) lacking.push(`${name}.${member}`);
    });
  }
  expect(lacking).toEqual([]);
});

test('docs/reference/library.md names everything that a program can call', async () => {
  const page = await readFile('docs/reference/library.md', 'utf8');
  const lacking = Object.keys(library).filter((name) => !new RegExp(`\\b${name}\\b`).test(page));
  expect(lacking).toEqual([]);
});
