import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as library from '../../src/index.js';

/** What a module declares under a name, with the line above it; undefined where it only passes it on. */
function declared(source: string, name: string) {
  const found = new RegExp(
    `^(.*)\n(?:export )(?:async )?(?:function|const|class|interface|type) ${name}\\b[^]*?(?=\n\n|$(?![^]))`,
    'm',
  ).exec(source);
  return found === null ? undefined : { above: found[1] ?? '', body: found[0] };
}

test('everything that the library exports has a docstring, and so has each member of its interfaces', async () => {
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

test('the page about the library names all that a program can call', async () => {
  const page = await readFile('docs/reference/library.md', 'utf8');
  const lacking = Object.keys(library).filter((name) => !new RegExp(`\\b${name}\\b`).test(page));
  expect(lacking).toEqual([]);
});
