// Draws the dependencies between the rooms of src into CONTRIBUTING.md, without arrows that follow from others.
import { readFileSync, writeFileSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.cjs';

const { output } = await cruise(['src'], { ...config.options, includeOnly: '^src/[^/]+/' });
const room = (path) => path.split('/')[1];
const uses = new Map();
for (const { source, dependencies } of output.modules) {
  const from = room(source);
  if (!uses.has(from)) uses.set(from, new Set());
  for (const { resolved } of dependencies) if (room(resolved) !== from) uses.get(from).add(room(resolved));
}

/** Whether a room depends on another through a third one. */
const byWay = (from, to) =>
  [...uses.get(from)].some((next) => next !== to && (uses.get(next).has(to) || byWay(next, to)));

const arrows = [...uses.keys()].sort().flatMap((from) =>
  [...uses.get(from)]
    .sort()
    .filter((to) => !byWay(from, to))
    .map((to) => `  ${from} --> ${to}`),
);
const alone = [...uses.keys()].filter(
  (name) => uses.get(name).size === 0 && ![...uses.values()].some((others) => others.has(name)),
);
const picture = ['```mermaid', 'flowchart TD', ...arrows, ...alone.sort().map((name) => `  ${name}`), '```'];
const page = readFileSync('CONTRIBUTING.md', 'utf8');
const drawn = page.replace(
  /(<!-- rooms -->\n)[\s\S]*?(\n<!-- \/rooms -->)/,
  (_, before, after) => before + picture.join('\n') + after,
);
writeFileSync('CONTRIBUTING.md', drawn);
