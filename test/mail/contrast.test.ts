import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faintTextIn } from '../../src/mail/contrast.js';
import { stylesOf } from '../../src/mail/css.js';
import { parseBody } from '../../src/mail/tree.js';
import { often } from '../often.js';

function faint(body: string): string[] {
  const tree = parseBody(body, { located: true });
  if ('refused' in tree) throw new Error(tree.refused);
  return faintTextIn(tree, stylesOf(tree, body)).map(({ color, background, ratio, needed, times, at }) => {
    const tag = at[0] === undefined ? '' : body.slice(at[0].start, at[0].end);
    return `${color} ${background} ${ratio}/${needed}${times > 1 ? ` ${times}x` : ''} ${tag}`;
  });
}

/** Whether a text in gray on white, which is too faint, is told. */
const tells = (body: string): boolean => faint(body).length > 0;

describe('the contrast of text', () => {
  it('is counted as the WCAG do', () => {
    expect(faint('<p style="color:#777;background:#fff">x')).toEqual([
      '#777777 #ffffff 4.4/4.5 <p style="color:#777;background:#fff">',
    ]);
    expect(tells('<p style="color:#767676;background:#fff">x')).toBe(false);
    expect(faint('<p style="color:white;background-color:rgb(255, 255 ,0)">x')).toEqual([
      '#ffffff #ffff00 1/4.5 <p style="color:white;background-color:rgb(255, 255 ,0)">',
    ]);
  });

  it.each([
    ['hsl(0,0%,60%)', '#999999'],
    ['hsla(200 40% 60% / 100%)', '#70a7c2'],
    ['HSL(0.5turn 100 60)', '#33ffff'],
    ['hsl(-120deg, 20%, 70%)', '#a3a3c2'],
    ['hwb(120 60% 20%)', '#99cc99'],
    ['hwb(0 80% 80%)', '#808080'],
    ['rgb(60%, 60%, 60%)', '#999999'],
    ['rgb(300, 200, 100)', '#ffc864'],
    ['hsl(0,0%,60%,.5)', undefined],
    ['hsl(0%,0%,60%)', undefined],
    ['rgb(60%, 60, 60)', undefined],
    ['hsl(0 0% calc(60%))', undefined],
    ['oklch(0.7 0 0)', undefined],
    ['constructor(1,2,3)', undefined],
  ])('knows the colour %s, or says nothing', (color, shown) => {
    const told = faint(`<p style="color:${color};background:#fff">x`);
    expect(told.map((one) => one.slice(0, 7))).toEqual(shown === undefined ? [] : [shown]);
  });

  it('is that of the nearest background and of the inherited colour', () => {
    const body =
      '<table bgcolor="#ffffff"><tr><td style="color:#999999"><b>x</b><p style="background:none">y</p></td></tr></table>';
    expect(faint(body)).toEqual(['#999999 #ffffff 2.8/4.5 2x <b>']);
    expect(tells('<body bgcolor="#ffffff" text="#999999"><p>x')).toBe(true);
    expect(tells('<div style="background:#fff"><font color="#999999">x')).toBe(true);
  });

  it.each([
    ['large', '<p style="color:#888;background:#fff;font-size:24px">x', false],
    ['large in points', '<p style="color:#888;background:#fff;font-size:18pt">x', false],
    [
      'bold and nearly large',
      '<p style="color:#888;background:#fff;font-size:19px;font-weight:700">x',
      false,
    ],
    ['nearly large', '<p style="color:#888;background:#fff;font-size:19px">x', true],
    ['a heading', '<h2 style="color:#888;background:#fff">x', false],
    ['of a size that depends', '<p style="color:#888;background:#fff;font-size:1.5em">x', false],
    ['large, and too faint for that', '<h1 style="color:#aaa;background:#fff">x', true],
  ])('may be less where the text is %s', (_, body, expected) => {
    expect(tells(body)).toBe(expected);
  });

  it.each([
    ['for a tag', '<style>p{color:#999;background:#fff}</style><p>x', true],
    ['for a class', '<style>.a{color:#999;background:#fff}</style><p class="b a">x', true],
    ['for an id', '<style>#a{color:#999;background:#fff}</style><p id="a">x', true],
    [
      'the later of two',
      '<style>.b{color:#999;background:#fff}.a{color:#000}</style><p class="a b">x',
      false,
    ],
    [
      'of a class above that of a tag',
      '<style>.a{color:#000}p{color:#999;background:#fff}</style><p class="a">x',
      false,
    ],
    ['in a list of selectors', '<style>b , p{color:#999;background:#fff}</style><p>x', true],
    [
      'below that of the element',
      '<style>p{color:#000}</style><p style="color:#999;background:#fff">x',
      true,
    ],
    [
      'for other elements',
      '<style>td p.a:hover{color:red}</style><p style="color:#999;background:#fff">x',
      true,
    ],
    [
      'in the dark',
      '<style>@media (prefers-color-scheme:dark){p{color:#999}}p{color:#000;background:#fff}</style><p>x',
      false,
    ],
  ])('knows a rule %s', (_, body, expected) => {
    expect(tells(body)).toBe(expected);
  });

  it.each([
    ['no background', '<p style="color:#999">x'],
    ['no colour', '<p style="background:#999">x'],
    ['the colour of links', '<p style="color:#999;background:#fff"><a href="https://x.example">x</a>'],
    ['a colour that shines through', '<p style="color:rgba(0,0,0,.2);background:#fff">x'],
    ['a picture behind it', '<p style="color:#999;background:#fff url(a.png)">x'],
    ['a picture behind it, by an attribute', '<table background="a.png"><td style="color:#999">x'],
    ['a placeholder', '<p style="color:#999;background:{{ brand }}">x'],
    ['a placeholder as its class', '<p class="{{ a }}" style="color:#999;background:#fff">x'],
    [
      'a rule for what stands in another',
      '<style>p{color:#999;background:#fff}div p{color:#000}</style><div><p>x',
    ],
    [
      'a rule for small screens',
      '<style>p{color:#999;background:#fff}@media(max-width:9px){p{color:#000}}</style><p>x',
    ],
    [
      'a rule that is important',
      '<style>p{color:#000!important}</style><p style="color:#999;background:#fff">x',
    ],
    ['text that is not shown', '<div style="display:none;color:#fff;background:#fff">x'],
    ['text that is too small to be seen', '<div style="font-size:1px;color:#fff;background:#fff">x'],
    ['no text', '<p style="color:#fff;background:#fff"> {{#a}} {{/a}} '],
    ['a name that is not known', '<p style="color:papayawhip;background:#fff">x'],
  ])('is not guessed where there is %s', (_, body) => {
    expect(faint(body)).toEqual([]);
  });

  it('is the same in any order of marks, and never throws', () => {
    const piece = fc.constantFrom(
      ...[
        '<p',
        '<td bgcolor="#fff"',
        ' style="',
        '"',
        '>',
        '</p>',
        'color:#999',
        ';',
        'background:',
        '#fff',
        'x',
      ],
      ...[
        '<style>',
        '</style>',
        '{',
        '}',
        '.a',
        '#b',
        ',',
        ':hover',
        '@media x',
        '!important',
        '(',
        ')',
        ' class="a"',
      ],
      ...['{{a}}', '<!--', '-->', '\r\n', '\uFEFF', '🎉', '<table>', '<b>', '</b>', '\\', '"', '&#x41;'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        for (const one of faint(pieces.join(''))) expect(one).toMatch(/^#[0-9a-f]{6} #[0-9a-f]{6} [\d.]+\//);
      }),
      { numRuns: often(500) },
    );
  });
});
