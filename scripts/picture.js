// Writes docs/plan.svg, the picture in the README: a real plan with the embedded server. A test compares it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startSandbox } from '../dist/sandbox/index.js';

const columns = 112;
const size = { character: 7.8, line: 19, margin: 20 };

/** Edits after `idops init`: file, text, new text. */
const edits = [
  // Only these kinds, so that new kinds don't change the picture.
  [
    'idops.yaml',
    'manifests/**/*.yaml',
    'manifests/organizations.yaml, manifests/users.yaml, manifests/email-templates.yaml',
  ],
  ['idops.yaml', 'max_destructive: 5', 'privileged: ["billing:write"]'],
  ['manifests/organizations.yaml', 'ACME Corp\n', 'ACME Corporation\n'],
  [
    'manifests/users.yaml',
    '  - reports:read\norganizations:\n  - globex',
    '  - reports:read\n  - billing:write\norganizations: []',
  ],
  [
    'manifests/emails/20000000-0000-4000-8000-000000000001/reset_password_instructions.txt',
    'one hour',
    '30 minutes',
  ],
];

const styles = `
    svg { color-scheme: light dark; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
    text { fill: #1f2328; white-space: pre }
    rect { fill: #f6f8fa; stroke: #d1d9e0 }
    .bold { font-weight: 700 } .dim { fill: #59636e } .changed { font-weight: 700; text-decoration: underline }
    .red { fill: #cf222e } .green { fill: #1a7f37 } .yellow { fill: #7d4e00 } .cyan { fill: #1b7c83 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc } rect { fill: #0d1117; stroke: #3d444d } .dim { fill: #9198a1 }
      .red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #76e3ea }
    }
  `;
const classes = { 1: 'bold', 2: 'dim', 7: 'changed', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
/** For each escape code, the styles that it ends. */
const ends = { 22: ['bold', 'dim'], 27: ['changed'], 39: ['red', 'green', 'yellow', 'cyan'] };

/** The pieces of equal style in each line; long lines are wrapped between words. */
function linesOf(ansi) {
  const lines = [[]];
  const on = new Set();
  let column = 0;
  for (const [, code, word] of ansi.matchAll(/\x1b\[(\d+)m|(\n| *[^ \n\x1b]+| +)/g)) {
    if (code !== undefined) {
      if (classes[code]) on.add(classes[code]);
      for (const name of ends[code] ?? []) on.delete(name);
    } else if (word === '\n' || column + word.length > columns) {
      lines.push(word === '\n' ? [] : [{ style: [...on].join(' '), text: word.trimStart() }]);
      column = word.trim().length;
    } else {
      const style = [...on].join(' ');
      const last = lines.at(-1).at(-1);
      if (last?.style === style) last.text += word;
      else lines.at(-1).push({ style, text: word });
      column += word.length;
    }
  }
  return lines;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function svg(ansi) {
  const lines = linesOf(ansi.trimEnd());
  const width = Math.ceil(columns * size.character + 2 * size.margin);
  const height = lines.length * size.line + 2 * size.margin;
  const texts = lines.map((line, at) => {
    const spans = line.map(({ style, text }) =>
      style === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`,
    );
    return `  <text x="${size.margin}" y="${size.margin + at * size.line + 14}">${spans.join('')}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>The output of idops plan</title>
  <style>${styles}</style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('')}</svg>
`;
}

export async function picture() {
  const folder = mkdtempSync(join(tmpdir(), 'idops-picture-'));
  const sandbox = await startSandbox({ profile: 'boruta' });
  const idops = async (...args) => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, FORCE_COLOR: '1', IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token };
    const command = [resolve('dist/cli/main.js'), ...args];
    return (await promisify(execFile)(process.execPath, command, { cwd: folder, env })).stdout;
  };
  try {
    await idops('init', '.', '--ci', 'none', '--yes');
    for (const [file, before, after] of edits) {
      const path = join(folder, file);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(before)) throw new Error(`${file} has no ${JSON.stringify(before)}`);
      writeFileSync(path, text.replace(before, after));
    }
    // The port differs each time, and so does the digest.
    const plan = (await idops('plan')).replace(sandbox.url, 'https://id.example.com');
    return svg(`$ \x1b[1midops plan\x1b[22m\n${plan.replace(/sha256:\w+/, 'sha256:46ab4afd…')}`);
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync('docs/plan.svg', await picture());
