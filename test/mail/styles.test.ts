import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanDeclarations, cleanMedia, cleanSheet } from '../../src/mail/styles.js';

function sheet(source: string): { written: string; left: string[] } {
  const left: string[] = [];
  const written = cleanSheet(source, (address) => {
    left.push(address);
    return address.startsWith('data:') ? address : undefined;
  });
  return { written: written.replace(/\s+/g, ' ').trim(), left };
}

function style(source: string): string {
  return cleanDeclarations(source, () => undefined);
}

describe('a style sheet that is rewritten', () => {
  it.each([
    ['td.a > b:not(.c), #d [class~="e"]{color:red}', 'td.a > b:not(.c), #d [class~="e"] { color: red }'],
    ['tr:nth-child(2n+1){margin:0 -5px}', 'tr:nth-child(2n+1) { margin: 0 -5px }'],
    ['.sm\\:full{width:100% ! important}', '.sm\\3a full { width: 100% !important }'],
    [
      '@media only screen and (max-width:480px){.c{width:calc(100% - 2px)}}',
      '@media only screen and (max-width:480px) { .c { width: calc(100% - 2px) } }',
    ],
    [
      'p{font:italic 12px/1.5 "A B",serif;color:RGBA(0,0,0,.5)}',
      'p { font: italic 12px / 1.5 "A B",serif; color: rgba(0,0,0,0.5) }',
    ],
    ['p{min-height:100vh;margin:1DVH 2vmin}', 'p { min-height: 200px; margin: 2px 4px }'],
    ['p{width:calc(100vw - 2vmax)}', 'p { width: calc(100vw - 2vw) }'],
    [
      'a:link, a:Any-Link:hover, a[href^="tel"]{color:red}',
      'a:is(a[title]), a:is(a[title]):hover, a[title^="tel"] { color: red }',
    ],
    ['<!-- p{color:red} -->', 'p { color: red }'],
    ['p{color:red', 'p { color: red }'],
  ])('keeps %s', (source, written) => {
    expect(sheet(source).written).toBe(written);
  });

  it.each([
    ...'@import "https://x.example";|@import url(https://x.example);'.split('|'),
    '@font-face{font-family:x;src:url(https://x.example)}',
    ...'@namespace url(https://x.example);|@supports (color:red){p{color:red}}'.split('|'),
    ...'@keyframes x{from{background:url(https://x.example)}}|@\\69mport "https://x.example";'.split('|'),
    ...'p{--x:url(https://x.example)}|p{width:expression(alert(1))}|p{behavior:url(#x)}'.split('|'),
    'p{background:-webkit-image-set("https://x.example" 1x)}',
    ...'p{cursor:url(https://x.example),auto}|p{filter:url(https://x.example#a)}'.split('|'),
    ...'p{mask:url(https://x.example)}|p{color:red)|p{width:calc(1px}|p{a{color:red}}'.split('|'),
  ])('loses %s', (source) => {
    expect(sheet(source).written).toBe('');
  });

  it.each(['url(https://x.example)', '\\75 rl("https://x.example")', 'URL( https://x.example )'])(
    'says that the picture %s is left out, and keeps the colour beside it',
    (picture) => {
      expect(sheet(`p{background:#fff ${picture} no-repeat}`)).toEqual({
        written: 'p { background: #fff none no-repeat }',
        left: ['https://x.example'],
      });
    },
  );

  it('keeps an embedded picture', () => {
    expect(sheet('p{background-image:url(data:image/png;base64,AAAA)}').written).toBe(
      'p { background-image: url("data:image/png;base64,AAAA") }',
    );
  });

  it("can't open or close an element, whatever its strings and names contain", () => {
    const { written } = sheet(
      'p[title="</style><img src=x onerror=y>"] \\3c b{content:"</style>";color:red}',
    );
    expect(written).not.toContain('<');
    expect(written).toContain('color: red');
  });

  it('is removed if brackets nest too deeply', () => {
    expect(sheet(`p{color:red} ${'('.repeat(100_000)}`).written).toBe('');
  });

  it("doesn't change if it is rewritten again", () => {
    const part = fc.constantFrom(
      ...'p|.a|#b|{|}|;|:|color|red|background|url(|"|\'|)|(|[|]|\\|\n| |/*|*/|@media|@import|x'.split('|'),
      ...'!important|1px|<|</style>|\\75 |,|-|\0|é|\ud800'.split('|'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const once = sheet(parts.join('')).written;
        expect(once).not.toMatch(/[<@]|url\(/);
        expect(sheet(once).written).toBe(once);
      }),
    );
  });
});

describe('a style attribute', () => {
  it.each([
    ['color:red;;font-size:12px', 'color: red; font-size: 12px'],
    ['mso-line-height-rule:exactly;color:red', 'color: red'],
    ['COLOR:Red', 'color: Red'],
    ['color:red;background:url(https://x.example)', 'color: red; background: none'],
    ['background:u\\72l(https://x.example)', 'background: none'],
    ['background:url(https://x.example', 'background: none'],
    ['*zoom:1', ''],
    ['color:var(--x)', ''],
    ['width:1e999px', 'width: 1000000000px'],
  ])('of %s is written as %s', (source, written) => {
    expect(style(source)).toBe(written);
  });
});

describe('a media attribute', () => {
  it('is rewritten or removed', () => {
    expect(cleanMedia('screen and (max-width: 3px)')).toBe('screen and (max-width: 3px)');
    expect(cleanMedia('</style>')).toBeUndefined();
  });
});
