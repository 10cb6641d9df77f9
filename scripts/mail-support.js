// Writes src/mail/support-data.ts: what Can I email says that mail programs don't understand, out of the npm package
// `caniemail`, of which the data alone is needed. Run it with a newer version now and then: npm run mail-support -- [VERSION]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const version = process.argv[2] ?? '2.0.2';
/** Programs of which little more than this was ever tested say nothing. */
const leastTests = 200;

const folder = mkdtempSync(join(tmpdir(), 'caniemail-'));
let source;
try {
  const options = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' };
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--silent', `caniemail@${version}`], options),
  );
  execFileSync('tar', ['-xzf', filename], options);
  source = JSON.parse(readFileSync(join(folder, 'package/data/caniemail.json'), 'utf8'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What stands for a feature in a body, where its name doesn't say it. The letters: e element, a attribute, p property, v a
 * property's value, k a value of any property, f function, u unit, s selector, m media feature, l link, i kind of picture. */
const signs = {
  'css-at-font-face': '@font-face',
  'css-at-import': '@import',
  'css-at-keyframes': '@keyframes',
  'css-at-media': '@media',
  'css-at-media-device-pixel-ratio':
    'm-webkit-device-pixel-ratio m-webkit-min-device-pixel-ratio m-webkit-max-device-pixel-ratio',
  'css-at-media-orientation': 'morientation',
  'css-at-supports': '@supports',
  'css-block-inline-size': 'pblock-size',
  'css-border-inline-block':
    'pborder-inline pborder-block pborder-inline-start pborder-inline-end pborder-block-start pborder-block-end',
  'css-border-inline-block-longhand':
    'pborder-inline-width pborder-block-width pborder-inline-style pborder-block-style pborder-inline-color pborder-block-color',
  'css-border-radius-logical':
    'pborder-start-start-radius pborder-start-end-radius pborder-end-start-radius pborder-end-end-radius',
  'css-column-layout-properties': 'pcolumns pcolumn-width pcolumn-rule pcolumn-span pcolumn-fill',
  'css-conic-gradient': 'fconic-gradient frepeating-conic-gradient',
  'css-display-flex': 'vdisplay:flex vdisplay:inline-flex',
  'css-display-grid': 'vdisplay:grid vdisplay:inline-grid',
  'css-display-none': 'vdisplay:none',
  'css-flex-direction': 'vflex-direction:column',
  'css-flex-wrap': 'vflex-wrap:wrap',
  'css-function-clamp': 'fclamp',
  'css-function-light-dark': 'flight-dark',
  'css-function-max': 'fmax',
  'css-function-min': 'fmin',
  'css-gap': 'pgap pcolumn-gap prow-gap',
  'css-grid-template': 'pgrid-template pgrid-template-areas pgrid-template-columns pgrid-template-rows',
  'css-important': '!important',
  'css-inert-attribute': 'ainert',
  'css-intrinsic-size': 'kfit-content kmin-content kmax-content',
  'css-left-right-top-bottom': 'pleft pright ptop pbottom',
  'css-linear-gradient': 'flinear-gradient frepeating-linear-gradient',
  'css-margin-block-start-end': 'pmargin-block-start pmargin-block-end',
  'css-margin-inline-block': 'pmargin-inline pmargin-block',
  'css-margin-inline-start-end': 'pmargin-inline-start pmargin-inline-end',
  'css-modern-color': 'flch foklch flab foklab',
  'css-padding-block-start-end': 'ppadding-block-start ppadding-block-end',
  'css-padding-inline-block': 'ppadding-inline ppadding-block',
  'css-padding-inline-start-end': 'ppadding-inline-start ppadding-inline-end',
  'css-pseudo-class-lang': ':lang',
  'css-radial-gradient': 'fradial-gradient frepeating-radial-gradient',
  'css-rgb': 'frgb',
  'css-rgba': 'frgba',
  'css-selector-adjacent-sibling': 's+',
  'css-selector-attribute': 's[',
  'css-selector-chaining': 's..',
  'css-selector-child': 's>',
  'css-selector-class': 's.',
  'css-selector-descendant': 's ',
  'css-selector-general-sibling': 's~',
  'css-selector-grouping': 's,',
  'css-selector-id': 's#',
  'css-selector-type': 'stype',
  'css-selector-universal': 's*',
  'css-sytem-ui': 'ksystem-ui kui-serif kui-sans-serif kui-rounded kui-monospace',
  'css-unit-calc': 'fcalc',
  'css-unit-initial': 'kinitial',
  'css-unit-percent': 'u%',
  'css-variables': 'fvar',
  'html-anchor-links': 'l#',
  'html-button-reset': 'ebutton[reset]',
  'html-button-submit': 'ebutton[submit]',
  'html-h1-h6': 'eh1 eh2 eh3 eh4 eh5 eh6',
  'html-image-maps': 'emap',
  'html-input-checkbox': 'einput[checkbox]',
  'html-input-hidden': 'einput[hidden]',
  'html-input-radio': 'einput[radio]',
  'html-input-reset': 'einput[reset]',
  'html-input-submit': 'einput[submit]',
  'html-input-text': 'einput[text]',
  'html-lists': 'eul eol edl',
  'html-mailto-links': 'lmailto',
  'html-semantics':
    'earticle easide edetails efigcaption efigure efooter eheader emain emark enav esection esummary etime',
  'html-srcset': 'asrcset asizes',
  'image-base64': 'ibase64',
  'image-heif': 'iheif iheic',
  'image-jpg': 'ijpg ijpeg',
  'image-mp4': 'imp4',
  'image-svg': 'isvg isvg+xml',
  'image-tiff': 'itiff itif',
};
const attributes =
  'align background cellpadding cellspacing dir height hidden popover required valign width'.split(' ');

/** What no reader misses where a program doesn't know it, what is no part of a body, and what can't be seen in one. */
const left = new Set(
  `amp bimi css-accent-color css-animation css-at-media-hover css-at-media-prefers-color-scheme
  css-at-media-prefers-reduced-motion css-border-inline-block-individual css-color-scheme css-comments css-cursor css-nesting
  css-pseudo-class-active css-pseudo-class-focus css-pseudo-class-focus-visible css-pseudo-class-focus-within
  css-pseudo-class-hover css-pseudo-class-link css-pseudo-class-target css-pseudo-class-visited css-transition css-user-select
  css-scroll-snap html-aria-describedby html-aria-hidden html-aria-label html-aria-labelledby html-aria-live html-body
  html-comments html-doctype html-lang html-loading-attribute html-meta-color-scheme html-role html-target image-apng image-hdr`.split(
    /\s+/,
  ),
);

function signsOf({ slug, category }) {
  if (signs[slug] !== undefined) return signs[slug].split(/ (?=\S)/);
  const [, name] = /^(?:css-pseudo-class|css-pseudo-element|css-unit|css|html|image)-(.*)$/.exec(slug) ?? [];
  if (slug.startsWith('css-pseudo-class-')) return [`:${name}`];
  if (slug.startsWith('css-pseudo-element-')) return [`::${name}`];
  if (slug.startsWith('css-unit-')) return [`u${name}`];
  if (category === 'css') return [`p${name}`];
  if (category === 'image') return [`i${name}`];
  return [attributes.includes(name) ? `a${name}` : `e${name}`];
}

const tests = new Map();
for (const { stats } of source.data) {
  for (const [family, platforms] of Object.entries(stats)) {
    for (const platform of Object.keys(platforms)) {
      const name = `${family}.${platform}`;
      tests.set(name, (tests.get(name) ?? 0) + 1);
    }
  }
}
const programs = [...tests].flatMap(([name, count]) => (count >= leastTests ? [name] : [])).sort();

/** The versions without it up to the newest that was tested; undefined where that one understands it, even if in part. */
function without(results) {
  const all = Object.entries(results);
  const from = all.findLastIndex(([, result]) => !result.startsWith('n')) + 1;
  if (from === all.length) return undefined;
  const [first, last] = [all[from][0], all.at(-1)[0]];
  // Dates are those of tests, of which the last is the one that counts.
  return first === last || [first, last].some((one) => /^\d{4}-\d\d$/.test(one)) ? last : `${first}-${last}`;
}

const lines = source.data.flatMap((feature) => {
  if (left.has(feature.slug)) return [];
  const found = Object.entries(feature.stats).flatMap(([family, platforms]) =>
    Object.entries(platforms).flatMap(([platform, results]) => {
      const index = programs.indexOf(`${family}.${platform}`);
      const versions = index < 0 ? undefined : without(results);
      return versions === undefined ? [] : [`${index.toString(36)}:${versions}`];
    }),
  );
  const title = feature.title
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
  return found.length === 0 ? [] : [`${title}|${signsOf(feature).join('|')}||${found.join(' ')}`];
});

const license = `
The MIT License

Copyright (c) 2019 HTeuMeuLeu (Can I email)
Copyright (c) Avi Goldman, Copyright (c) Andrew Powell <andrew@shellscape.org> (the package caniemail)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
  .split('\n')
  .map((line) => ` * ${line}`.trimEnd())
  .join('\n');

writeFileSync(
  'src/mail/support-data.ts',
  `// Written by scripts/mail-support.js out of caniemail ${version}; don't edit.
/*!
 * Data of Can I email, https://www.caniemail.com, as of ${source.last_update_date.slice(0, 10)}
${license}
 */

/** The programs that the lines below count, from 0. */
export const supportPrograms = \`
${programs.join('\n')}
\`;

/** A feature in each line: its name, its signs in a body, and behind \`||\` the programs without it and their versions. */
export const supportLines = \`
${lines.join('\n')}
\`;
`,
);
