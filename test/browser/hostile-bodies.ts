import fc from 'fast-check';

/** Replaces `@` with the canary's URL and the number of the body. */
function at(parts: readonly string[]): (url: string) => string {
  return (url) => parts.join('').replaceAll('@', url);
}

const run = "fetch('@/run');top.ran=1";

/** Contexts in which a browser may parse a body in another way. */
const wrappers: readonly (readonly [string, string])[] = [
  ['', ''],
  ['<noscript>', '</noscript>'],
  ['<textarea>', '</textarea>'],
  ['<title>', '</title>'],
  ['<style>', '</style>'],
  ['<xmp>', '</xmp>'],
  ['<iframe>', '</iframe>'],
  ['<noembed>', '</noembed>'],
  ['<noframes>', '</noframes>'],
  ['<plaintext>', ''],
  ['<template>', '</template>'],
  ['<div><template shadowrootmode="open">', '</template></div>'],
  ['<svg>', '</svg>'],
  ['<svg><style>', '</style></svg>'],
  ['<svg><title>', '</title></svg>'],
  ['<svg><desc>', '</desc></svg>'],
  ['<svg><foreignObject>', '</foreignObject></svg>'],
  ['<math>', '</math>'],
  ['<math><mtext><table><mglyph><style>', '</style></mglyph></table></mtext></math>'],
  ['<math><annotation-xml encoding="text/html">', '</annotation-xml></math>'],
  ['<form><math><mtext></form><form><mglyph><svg><mtext><textarea><path id="', '"></textarea>'],
  ['<select>', '</select>'],
  ['<select><option>', '</option></select>'],
  ['<select><style></select>', '</style>'],
  ['<table>', '</table>'],
  ['<table><tr>', '</tr></table>'],
  ['<table><caption><svg><style>', '</style></svg></caption></table>'],
  ['<p title="</noscript>', '"></p>'],
  ['<p title="</style>', '"></p>'],
  ["<p id='</textarea>", "'>"],
  ['<!--', '-->'],
  ['<!-->', ''],
  ['<!--[if !mso]><!-->', '<!--<![endif]-->'],
  ['<![CDATA[', ']]>'],
  ['<svg><![CDATA[', ']]></svg>'],
  ['<head>', '</head>'],
  ['<frameset>', '</frameset>'],
  ['<b><i><a href="#">', '</b></a></i>'],
  ['<dialog open>', '</dialog>'],
  ['<details open ontoggle="fetch(\'@/toggle\')">', '</details>'],
];

const styleUses = [
  'background:url(@/css)',
  "background:url('@/css')",
  'background:\\75 rl(@/css)',
  'background:u\\72l(@/css)',
  'background-image:image-set("@/css" 1x)',
  'background-image:-webkit-image-set(url(@/css) 1x)',
  'background-image:cross-fade(url(@/css), red)',
  'list-style-image:url(@/css);display:list-item',
  'border-image:url(@/css) 1',
  'cursor:url(@/css),auto',
  'content:url(@/css)',
  'mask-image:url(@/css)',
  '-webkit-mask:url(@/css)',
  'filter:url(@/css#a)',
  'clip-path:url(@/css#a)',
  '-webkit-box-reflect:below 0 url(@/css)',
  'shape-outside:url(@/css);float:left',
  '--x:url(@/css);background:var(--x)',
  'background:url(@/css',
  'color:red;/*"*/background:url(@/css)/*"*/',
  "content:'\n;background:url(@/css)'",
  "font-family:'</style><img src=@/css>'",
  'animation:x 1s;offset-path:url(@/css)',
];

const elements: readonly string[] = [
  `<script>${run}</script>`,
  '<script src="@/script"></script>',
  '<script type="module">import "@/module"</script>',
  '<script type="speculationrules">{"prefetch":[{"urls":["@/speculate"]}]}</script>',
  '<script type="importmap">{"imports":{"a":"@/map"}}</script>',
  '<img src="@/img">',
  `<img src=x: onerror="${run}">`,
  '<img srcset="@/srcset 1x" src="data:image/png;base64,AAAA">',
  `<img src="data:image/gif;base64,AAAA" onerror="${run}">`,
  '<image src="@/image">',
  '<picture><source srcset="@/source"><img></picture>',
  '<input type=image src="@/input">',
  `<input autofocus onfocus="${run}">`,
  '<video src="@/video" autoplay poster="@/poster"></video>',
  '<audio src="@/audio" autoplay></audio>',
  '<video><source src="@/vsource"><track default src="@/track"></video>',
  '<iframe src="@/iframe"></iframe>',
  `<iframe srcdoc="<script>${run}</script>"></iframe>`,
  `<iframe src="javascript:${run}"></iframe>`,
  '<object data="@/object"></object>',
  '<object><param name=src value="@/param"><img src="@/fallback"></object>',
  '<embed src="@/embed">',
  '<applet code="@/applet"></applet>',
  '<frameset><frame src="@/frame"></frameset>',
  '<portal src="@/portal"></portal>',
  '<fencedframe src="@/fenced"></fencedframe>',
  '<link rel=stylesheet href="@/sheet">',
  '<link rel=preconnect href="@">',
  '<link rel=dns-prefetch href="@">',
  '<link rel=preload as=image href="@/preload">',
  '<link rel=prefetch href="@/prefetch">',
  '<link rel=modulepreload href="@/modulepreload">',
  '<link rel=icon href="@/icon">',
  '<link rel=manifest href="@/manifest">',
  '<base href="@/base/"><img src="relative">',
  '<meta http-equiv=refresh content="0;url=@/refresh">',
  '<meta http-equiv=Link content="<@/link>; rel=preload">',
  '<style>@import "@/import";</style>'.replace('@import', '\u0001import'),
  '<style>@import url(@/import2);</style>'.replace('@import', '\u0001import'),
  '<style>@font-face{font-family:f;src:url(@/font)}*{font-family:f}</style>'.replace('@font', '\u0001font'),
  ...styleUses.map((style) => `<div style="${style.replaceAll('"', '&quot;')}">x</div>`),
  ...styleUses.map((style) => `<style>*{${style}}</style><p>x</p>`),
  '<body background="@/background">',
  `<body onload="${run}" onpageshow="${run}">`,
  '<table background="@/table"><tr><td background="@/td">x</table>',
  `<svg onload="${run}"></svg>`,
  `<svg><script>${run}</script></svg>`,
  '<svg><script href="@/svgscript"/></svg>',
  '<svg><image href="@/svgimage" width=9 height=9 /></svg>',
  '<svg><image xlink:href="@/svgxlink" width=9 height=9 /></svg>',
  '<svg><use href="@/use#a"/></svg>',
  '<svg><filter id=f><feImage href="@/feimage"/></filter><rect width=9 height=9 filter="url(#f)"/></svg>',
  '<svg><rect width=9 height=9 fill="url(@/fill#a)"/></svg>',
  '<svg><image><set attributeName=href to="@/set"/></image></svg>',
  '<svg><image width=9 height=9><animate attributeName=href values="@/animate" begin=0s /></image></svg>',
  `<svg><animate onbegin="${run}" attributeName=x dur=1s></svg>`,
  `<svg><a><animate attributeName=href values="javascript:${run}"/><text y=9>x</text></a></svg>`,
  '<svg><style>@import "@/svgimport";</style></svg>'.replace('@import', '\u0001import'),
  '<svg><foreignObject><img src="@/foreign"></foreignObject></svg>',
  '<math href="@/math" xlink:href="@/math">x</math>',
  `<math><mtext><mglyph><img src=x: onerror="${run}"></math>`,
  `<a href="javascript:${run}" ping="@/ping">x</a>`,
  '<a href="@/link">x</a>',
  '<form action="@/form"><input name=a autofocus><button>go</button></form>',
  '<p id=a id=b class="</style><img src=@/class>">x</p>',
  `<p onmouseover="${run}" onanimationstart="${run}" style="animation:x 1s">x</p>`,
  '<?xml-stylesheet href="@/xml"?>',
  '<keygen autofocus>',
  `<marquee onstart="${run}">x</marquee>`,
  `<x contenteditable autofocus onfocus="${run}" tabindex=0>x</x>`,
  `<button popovertarget=p onclick="${run}">x</button><p popover id=p>y</p>`,
  `</p><br/><img src=x: onerror="${run}"//`,
  `<img """><script>${run}</script>">`,
  `<img src=\`x:\` onerror=${run.replaceAll(' ', '')}>`,
  `<IMG SRC=x: OnErRoR="${run}">`,
  `<a href="#" style="x:\u0000;background:url(@/nul)">x</a>`,
  `&lt;img src=x: onerror=${run}&gt;`,
];

const noise = fc.constantFrom(
  ...' |\n|>|"|\'|<|</|-->|</p>|</style>|</svg>|</noscript>|&|\0|{{ x }}|text'.split('|'),
  '',
);

/** Bodies that try to run code or to reach the given URL. */
export const hostileBody: fc.Arbitrary<(url: string) => string> = fc
  .array(
    fc.tuple(fc.array(fc.constantFrom(...wrappers), { maxLength: 3 }), fc.constantFrom(...elements), noise),
    { minLength: 1, maxLength: 3 },
  )
  .map((pieces) =>
    at(
      pieces.map(
        ([around, element, after]) =>
          around.map(([open]) => open).join('') +
          element +
          after +
          around
            .toReversed()
            .map(([, close]) => close)
            .join(''),
      ),
    ),
  )
  .map((body) => (url) => body(url).replaceAll('\u0001', '@'));

/** Each element without a wrapper. */
export const hostileElements: readonly ((url: string) => string)[] = elements.map(
  (element) => (url) => at([element])(url).replaceAll('\u0001', '@'),
);
