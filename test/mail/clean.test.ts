import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedAttributes, allowedElements } from '../../src/mail/allowed.js';
import { cleanHtml } from '../../src/mail/clean.js';
import { treeOf } from '../report/trees.js';
import { layout } from './layouts.js';

function clean(body: string): { html: string; removed: readonly string[] } {
  const cleaned = cleanHtml(body);
  if ('rejection' in cleaned) throw new Error(cleaned.rejection);
  return cleaned;
}

function inner(body: string): string | undefined {
  return /<body[^>]*>([\s\S]*)<\/body>/.exec(clean(body).html)?.[1];
}

describe('an email that is rewritten', () => {
  it.each([
    [
      '<p class=a style="color:red">x &amp; &lt;b></p>',
      '<p class="a" style="color: red">x &amp; &lt;b&gt;</p>',
    ],
    [
      '<table width=600 bgcolor=#ffffff><tr><td align=center>x</table>',
      '<table width="600" bgcolor="#ffffff"><tbody><tr><td align="center">x</td></tr></tbody></table>',
    ],
    ['<img src="data:image/png;base64,AA" alt=x onload=y>', '<img src="data:image/png;base64,AA" alt="x">'],
    ['<a href="https://x.example/?a=1&b" ping=y>x</a>', '<a title="https://x.example/?a=1&amp;b">x</a>'],
    ['<a id=a id=b onclick=c>x</a>', '<a id="a">x</a>'],
    ['<form action=x><button>go</button></form>', '<button>go</button>'],
    ['<noscript>a<b>c</b></noscript>', 'a<b>c</b>'],
    ['<o:p>x</o:p>', 'x'],
    ['<!-- x -->a<![if !mso]>b<![endif]>', 'ab'],
    ['<script>x</script><template><p>y</template><link href=z><base href=z><meta http-equiv=refresh>', ''],
    ['<pre>\n\nx</pre>', '<pre>\n\nx</pre>'],
  ])('rewrites %s as %s', (body, written) => {
    expect(inner(body)).toBe(written);
  });

  it('reads noscript as a browser without scripts does', () => {
    const { html } = clean('<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>');
    const tags = treeOf(`<!DOCTYPE html>${html}`).elements.map(({ tag }) => tag);
    expect(tags).toEqual(['html', 'head', 'body', 'p']);
  });

  it('keeps the text and the styles of the page', () => {
    const { html } = clean(
      '<html lang=de><head><title>T</title><style media=screen>p{color:red}</style></head><body bgcolor=#eee onload=x>y</body>',
    );
    expect(html).toBe(
      '<html lang="de"><head><style media="screen">\np { color: red }\n</style></head><body bgcolor="#eee">y</body></html>',
    );
  });

  it.each([
    ['<img src="https://x.example/a" alt=Logo width=12>', 'Logo', 'picture Logo, https://x.example/a'],
    ['<img src="cid:logo">', 'cid:logo', 'picture cid:logo'],
    ['<iframe src="https://a.b"></iframe>', '&lt;iframe&gt; https://a.b', '<iframe> https://a.b'],
    ['<svg><image href=x /></svg>', '&lt;svg&gt;', '<svg>'],
    ['<video poster=x><source src=y></video>', '&lt;video&gt;', '<video>'],
  ])('lists what it removes as text: %s', (body, text, left) => {
    expect(inner(body)).toMatch(/^<span style="[^"]*"[^>]*>[^<]*<\/span>$/);
    expect(inner(body)).toContain(`>${text}</span>`);
    expect(clean(body).removed).toEqual([left]);
  });

  it('describes a removed frameset', () => {
    expect(clean('<frameset><frame src=x></frameset>').removed).toEqual(['<frameset>']);
  });

  it('lists only as many removals as a reviewer reads', () => {
    const word = 'x'.repeat(100_000);
    for (const start of ['<img alt=', '<img src=', '<video src=', '<p background='])
      for (const words of clean(`${start}${word}>`).removed) expect(words.length).toBeLessThan(500);
    expect(clean([...Array(100).keys()].map((at) => `<img src=${at}>`).join('')).removed).toHaveLength(20);
  });

  it.each([
    ['<div>'.repeat(200_000), 'nested more than 512 elements deep'],
    ['x'.repeat(1_048_577), 'longer than 1,048,576 characters'],
    ['<br>'.repeat(60_000), 'made of more than 50,000 elements'],
    [
      `<p>${[...Array(400).keys()].map((at) => `<font size=${at}>`).join('')}${'<p>x'.repeat(1000)}`,
      'made of more than 50,000 elements',
    ],
  ])('is refused if it is too much for a browser (%#)', (body, words) => {
    expect(cleanHtml(body)).toEqual({ rejection: words });
  });

  it('has the table, the text and the styles of a real layout', () => {
    const { html } = clean(layout(20));
    expect(html).toContain('Paragraph 3 for {{ user.username }}');
    const before = layout(20).replace(/<!--[\s\S]*?-->/g, '');
    expect(html.match(/<table/g)).toHaveLength(before.match(/<table/g)?.length ?? 0);
    expect(html).toContain('font-size: 13px; line-height: 22px; color: #55575d');
  });

  it('contains only what is allowed, whatever the source', () => {
    const part = fc.oneof(
      fc.constantFrom(
        ...'<svg>|</svg>|<math>|<mtext>|<mglyph>|<style>|</style>|<title>|</title>|<textarea>'.split('|'),
        ...'<noscript>|</noscript>|<select>|<option>|<template>|<foreignObject>|<desc>|<table>'.split('|'),
        ...'<tr>|<td>|<p>|<a href="javascript:x">|<form>|<img src=x onerror=y>|<!--|-->|<![CDATA['.split('|'),
        ...']]>|<iframe srcdoc="<p>">|<xmp>|<plaintext>|<b | onclick=x|"|\'|>|/'.split('|'),
        ...'<animate href=#x attributeName=href to=javascript:x>|<frameset>|<head>|</br>|&#0;'.split('|'),
        ...'<body onload=x>|<image src=x>|&lt;'.split('|'),
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), (parts) => {
        const { html } = clean(parts.join(''));
        for (const { tag, attributes } of treeOf(`<!DOCTYPE html>${html}`).elements) {
          const known = ['html', 'head', 'body', 'img', 'style'].includes(tag) || allowedElements.has(tag);
          expect(known).toBe(true);
          for (const name of Object.keys(attributes)) {
            if (name === 'src') expect(attributes.src).toMatch(/^data:image/);
            else if (name === 'href') expect(attributes.href).toBe('#');
            else expect(name === 'style' || allowedAttributes.has(name)).toBe(true);
          }
        }
      }),
    );
  });
});

describe('a page that is rewritten', () => {
  const page = (body: string) => {
    const cleaned = cleanHtml(body, { page: true });
    if ('rejection' in cleaned) throw new Error(cleaned.rejection);
    return { ...cleaned, inner: /<body[^>]*>([\s\S]*)<\/body>/.exec(cleaned.html)?.[1] };
  };

  it.each([
    [
      '<form action=x class=f><button formaction=y>a</button></form>',
      '<form class="f" inert><button>a</button></form>',
    ],
    ['<label for=a class=l>A</label>', '<label class="l" inert>A</label>'],
    [
      '<input type=email name=a value="{&quot;" placeholder="<b>" autofocus onfocus=x>',
      '<input type="email" value="{&quot;" placeholder="&lt;b&gt;" inert>',
    ],
    ['<input type=checkbox checked>', '<input type="checkbox" checked inert>'],
    ['<input type=HIDDEN name=_csrf_token value=x>', ''],
    ['<textarea>a</textarea>', '<textarea inert>a</textarea>'],
    [
      '<textarea>&lt;/textarea><script>x</script></textarea>',
      '<textarea inert>&lt;/textarea&gt;&lt;script&gt;x&lt;/script&gt;</textarea>',
    ],
    [
      '<select><option>a<option onclick=x>b</select>',
      '<select inert><option inert>a</option><option inert>b</option></select>',
    ],
  ])('rewrites %s as %s', (body, written) => {
    expect(page(body).inner).toBe(written);
  });

  it('lists what it removes', () => {
    const { inner, removed } = page(
      '<link rel="preload stylesheet" href=a.css><script src=b.js></script><p>x</p><script>y</script><input type=image src=c.png>',
    );
    expect(inner).toMatch(/^<p>x<\/p><span [^>]*>&lt;input&gt; c\.png<\/span>$/);
    expect(removed).toEqual(['style sheet a.css', 'script b.js', 'script', '<input> c.png']);
  });
});
