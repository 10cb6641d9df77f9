import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redact.js';
import { type Canary, type Chromium, picture, seeAll, startCanary, startChromium } from './chromium.js';
import { bodiesPlanPage, emailPage, galleryPage, planPage, resultPage } from './pages.js';

let chromium: Chromium;
let canary: Canary;

beforeAll(async () => {
  chromium = await startChromium();
  canary = await startCanary();
});

afterAll(async () => {
  await chromium.close();
  await canary.close();
});

const pages = { plan: planPage(), result: resultPage(), gallery: galleryPage() };
const views = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 360, scheme: 'light' },
  { width: 360, scheme: 'dark' },
] as const;

describe.each(Object.entries(pages))('the page of the %s', (name, html) => {
  it.each(views)('can be read by everybody at $width pixels, $scheme', async (view) => {
    const page = await chromium.open(html, { ...view, scripts: true });
    await seeAll(page);
    await picture(page, `${name}-${view.width}-${view.scheme}`);
    await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    // The emails themselves are their authors' matter, and their frames run no script anyway.
    const { violations } = await page.evaluate<AxeResults>('axe.run(document, { iframes: false })');
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map((node) => node.html.slice(0, 200))])).toEqual(
      [],
    );
    await page.context().close();
  });

  it.each(views)('needs no scrolling to the side at $width pixels, $scheme', async (view) => {
    const page = await chromium.open(html, view);
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    expect(beyond).toBeLessThanOrEqual(0);
    await page.context().close();
  });
});

describe('the page of a plan', () => {
  it('is filtered by kind and action, by keyboard', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    const shown = () => page.locator('.change:visible').count();
    expect(await shown()).toBe(25);
    await page.locator('input[name="kind"][value="Organization"]').focus();
    await page.keyboard.press('Space');
    expect(await shown()).toBe(4);
    await page.locator('input[name="action"][value="delete"]').focus();
    await page.keyboard.press('Space');
    expect(await shown()).toBe(3);
    await page.locator('input[name="only"][value="warnings"]').check();
    expect(await shown()).toBe(1);
    await page.context().close();
  });

  it('shows an email as it looks, as text and as its source, by keyboard', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    const change = page.locator('.change[data-kind="EmailTemplate"][data-action="update"]');
    await change.locator('summary').first().focus();
    await page.keyboard.press('Enter');
    expect(await change.locator('.panel.rendered').isVisible()).toBe(true);
    await change.locator('.tabs > fieldset input').first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await change.locator('.panel.rendered').isVisible()).toBe(false);
    expect(await change.locator('.panel.text').isVisible()).toBe(true);
    await page.keyboard.press('ArrowRight');
    expect(await change.locator('.panel.source').isVisible()).toBe(true);
    expect(await change.locator('.panel.source').textContent()).toContain('continue at');
    await page.context().close();
  });

  it('renders an email in its frame', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    await seeAll(page);
    const mail = page.locator('.change.destructive[data-kind="EmailTemplate"] .mail').first();
    await mail.scrollIntoViewIfNeeded();
    const frame = mail.frameLocator('iframe');
    expect(await frame.locator('body').textContent()).toContain('Paragraph 0 for Jane Doe');
    await page.context().close();
  });
});

describe('a page of many emails', () => {
  const many = bodiesPlanPage(
    [...Array(60).keys()].map(
      (number) => `<p style="font-size:40px">${'long words '.repeat(40)}${number}</p>`,
    ),
  );

  it('makes frames of those that are looked at, and keeps no more than a few', async () => {
    const page = await chromium.open(many, { width: 1280, scheme: 'light' });
    const frames = page.locator('iframe');
    expect(await frames.count()).toBe(0);
    await page.locator('.change > summary').nth(3).click();
    await expect.poll(() => frames.count()).toBe(1);
    expect(await page.frameLocator('iframe').locator('p').textContent()).toMatch(/ 3$/);
    await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    await seeAll(page);
    expect(await frames.count()).toBeLessThanOrEqual(40);
    await page.context().close();
  });

  it('shows each as high as its content, whatever the width', async () => {
    const page = await chromium.open(many, { width: 1280, scheme: 'light' });
    await page.locator('.change > summary').first().click();
    const heights = () =>
      page.evaluate<[number, number]>(`(() => {
        const mail = document.querySelector('.mail:has(iframe)');
        return [mail.clientHeight, mail.firstElementChild.contentDocument.body.parentElement.scrollHeight];
      })()`);
    const fitting = async (beyond: number) => {
      // A frame may grow in steps.
      const settled = async () => {
        const [height, content] = await heights();
        return height > beyond && height === content;
      };
      await expect.poll(settled).toBe(true);
      return (await heights())[0];
    };
    const wide = await fitting(300);
    await page.setViewportSize({ width: 400, height: 900 });
    await fitting(wide);
    await page.context().close();
  });

  it('shows an email whose height is that of its frame and more in a frame that does not grow', async () => {
    const body = '<body style="margin:0"><div style="height:100vh;padding:50px">x</div>';
    const page = await chromium.open(emailPage(body), { width: 1280, scheme: 'light' });
    await seeAll(page);
    const heightNow = () => page.evaluate<number>("document.querySelector('.mail').clientHeight");
    const height = await heightNow();
    await page.waitForTimeout(500);
    expect(await heightNow()).toBe(height);
    expect(height).toBeLessThan(400);
    await page.context().close();
  });

  const page = '<p style="margin:0">one</p><p style="margin:0">two</p>';
  const scrolling = `<div style="height:900px">tall</div>${page}`;

  it.each([
    [
      'scrolls its body',
      '<html style="height:100%;overflow:hidden"><body style="height:100%;overflow:auto;margin:0">',
      page,
    ],
    ['fixes its body', '<html><body style="position:fixed;top:0;left:0">', page],
    [
      'places its body',
      '<html><body style="position:absolute;top:20px;left:0;bottom:0;overflow:auto">',
      scrolling,
    ],
    [
      'fixes all of it',
      '<html><head><style>html,body{position:fixed!important;height:0!important;overflow:hidden!important}</style></head><body>',
      page,
    ],
    ['is as high as its window', '<html><body style="margin:24px"><div style="min-height:100vh">', page],
    ['has a body as high as its window', '<html><body style="margin:24px;min-height:100vh">', page],
    [
      'fixes a part of it',
      '<html><body style="margin:0"><div style="position:fixed;top:0;left:0">',
      scrolling,
    ],
    [
      'scrolls in a part of it',
      '<html><body style="margin:0"><div style="position:absolute;top:0;left:0;right:0;bottom:0;overflow:auto">',
      scrolling,
    ],
    [
      'is there in a high window alone',
      '<html><head><style>@media (max-height:10px){body{display:none}}</style></head><body>',
      page,
    ],
  ])('shows all of an email that %s', async (_, start, content) => {
    const opened = await chromium.open(emailPage(`<!DOCTYPE html>${start}${content}`), {
      width: 1280,
      scheme: 'light',
    });
    await seeAll(opened);
    const seen = async () => {
      const [height, last, hidden] = await opened.evaluate<[number, number, number]>(`(() => {
        const mail = document.querySelector('.mail:has(iframe)');
        const inner = mail.firstElementChild.contentDocument;
        const texts = [...inner.querySelectorAll('p')];
        const root = inner.documentElement;
        return [mail.clientHeight, texts.at(-1).getBoundingClientRect().bottom, root.scrollHeight - root.clientHeight];
      })()`);
      return { last: last > 30, whole: height >= Math.floor(last), close: height < last + 260, hidden };
    };
    await expect.poll(seen).toEqual({ last: true, whole: true, close: true, hidden: 0 });
    await opened.context().close();
  });

  it('shows a box of an email that is nearly empty, and says where one is too high for its frame', async () => {
    const empty = await chromium.open(emailPage('<body style="margin:0"><p style="display:none">x'), {
      width: 1280,
      scheme: 'light',
    });
    await seeAll(empty);
    expect(
      await empty.evaluate<number>("document.querySelector('.mail:has(iframe)').clientHeight"),
    ).toBeGreaterThanOrEqual(32);
    expect(await empty.locator('.cut').count()).toBe(0);
    await empty.context().close();

    const high = await chromium.open(emailPage('<div style="height:30000px">x</div><p>end'), {
      width: 1280,
      scheme: 'light',
    });
    await expect.poll(() => high.locator('.cut').count()).toBeGreaterThan(0);
    expect(await high.locator('.cut').first().textContent()).toMatch(
      /^This email is 30,\d+ pixels high; its frame has 20,000,/,
    );
    const scrolls = `(() => {
      const root = document.querySelector('.mail:has(iframe)').firstElementChild.contentDocument.documentElement;
      root.scrollTop = 50000;
      return root.scrollTop;
    })()`;
    expect(await high.evaluate<number>(scrolls)).toBeGreaterThan(9000);
    await high.context().close();
  });

  it('shows the sample data that is chosen, in the email and in its text', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    const change = page.locator('.change.destructive[data-kind="EmailTemplate"]');
    const said = () => change.frameLocator('.variant.chosen iframe').first().locator('body').textContent();
    expect(await said()).toContain('Sent on behalf of');
    await change.getByLabel('Sample data').selectOption({ label: 'without organization' });
    expect(await said()).toContain('Sent by us');
    await change.getByLabel('as text').check();
    const texts = await change.locator('.panel.text pre:visible').allTextContents();
    expect(texts.join()).not.toContain('on behalf of');
    await page.context().close();
  });
});

describe('the keys and the search of a page', () => {
  const shown = (page: Page) => page.locator('.change:visible').count();

  it('find changes as one types, by address, field and text', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    await page.keyboard.press('/');
    await page.keyboard.type('organization-number-1');
    await expect.poll(() => shown(page)).toBe(11);
    expect(await page.getByRole('status').textContent()).toBe('11 of 25 shown');
    expect(await page.locator('section:visible').count()).toBe(1);
    await page.keyboard.type(' company 12');
    await expect.poll(() => shown(page)).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => shown(page)).toBe(25);
    expect(await page.getByRole('status').textContent()).toBe('');
    await page.keyboard.type('SMTP_password');
    await expect.poll(() => shown(page)).toBe(1);
    await page.context().close();
  });

  it('lead from change to change, and can be turned off', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    const at = () =>
      page.evaluate<string | null>(
        "document.activeElement.closest('.change')?.id ?? document.activeElement.id",
      );
    await page.keyboard.press('j');
    expect(await at()).toBe('change-1');
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
    expect(await at()).toBe('change-4');
    await page.keyboard.press('k');
    expect(await at()).toBe('change-3');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    expect(await page.locator('#change-4').getAttribute('open')).toBe('');
    await page.getByLabel('use these keys').uncheck();
    await page.keyboard.press('j');
    expect(await at()).toBe('keys');
    await page.context().close();
  });

  it('leave by the tab key, from the search and from an email', async () => {
    const page = await chromium.open(pages.plan, { width: 1280, scheme: 'light' });
    const reached = new Set<string>();
    for (let step = 0; step < 90; step += 1) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate<string>("document.activeElement.closest('[id]')?.id ?? ''"));
    }
    for (const id of ['search', 'keys', 'change-1', 'change-2', 'change-25']) expect(reached).toContain(id);
    await page.context().close();
  });

  it('lead from the contents to a change, and open it', async () => {
    const page = await chromium.open(pages.result, { width: 1280, scheme: 'light' });
    await page.locator('.contents > summary').click();
    await page.locator('.contents nav > details').last().locator('summary').click();
    await page.locator('.contents a', { hasText: 'reset_password' }).click();
    const change = page.locator('.change[data-kind="EmailTemplate"][data-action="update"]');
    expect(await change.getAttribute('open')).toBe('');
    expect(await change.frameLocator('iframe').first().locator('body').textContent()).toContain(
      'Paragraph 0',
    );
    await page.context().close();
  });
});

describe('a page without scripts', () => {
  it.each(Object.entries(pages))('is there to be read all the same: %s', async (name, html) => {
    const page = await chromium.open(html, { width: 1280, scheme: 'light', javaScript: false });
    expect(await page.locator('.unscripted').first().isVisible()).toBe(name !== 'result');
    expect(await page.locator('.search').count()).toBe(name === 'gallery' ? 0 : 1);
    expect(await page.locator('.search:visible, .pick:visible, .keys:visible').count()).toBe(0);
    if (name === 'plan') {
      const change = page.locator('.change.destructive[data-kind="EmailTemplate"]');
      await change.getByLabel('as text').check();
      expect(await change.locator('pre:visible').first().textContent()).toContain('Hello Jane Doe');
      await change.getByLabel('changes of the source').check();
      expect(await change.locator('.diff:visible').first().textContent()).toContain(
        'Hello {{ user.username }}',
      );
    }
    await page.context().close();
  });
});

describe('the script of a page', () => {
  it('is the only one that runs, wherever another one stands', async () => {
    const ran = "document.title = 'ran'";
    const html = pages.plan
      .replace('</body>', `<script>${ran}</script><img src="data:," onerror="${ran}"></body>`)
      .replace('</head>', `<script type="module">${ran}</script></head>`);
    const page = await chromium.open(html, { width: 1280, scheme: 'light' });
    await seeAll(page);
    expect(await page.title()).toMatch(/^Plan:/);
    expect(await page.locator('iframe').count()).toBeGreaterThan(0);
    await page.context().close();
  });
});

describe('a hostile email', () => {
  const hostile = (url: string) => `<!DOCTYPE html><html><head>
<base href="${url}/base/"><link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}">
<link rel="prefetch" href="${url}/prefetch"><link rel="stylesheet" href="${url}/style.css"><link rel="icon" href="${url}/icon">
<meta http-equiv="refresh" content="0;url=${url}/refresh"><meta http-equiv="Content-Security-Policy" content="default-src *">
<style>@import "${url}/import.css"; @font-face { font-family: x; src: url(${url}/font); } body { background: url(${url}/background); font-family: x; }</style>
<script>document.title = 'ran'; top.document.title = 'ran'; fetch('${url}/fetch')</script><script src="${url}/script.js"></script>
</head><body background="${url}/body" onload="fetch('${url}/onload')">
<img src="${url}/image.png" srcset="${url}/srcset.png 2x" onerror="fetch('${url}/onerror')"><svg><image href="${url}/svg"/></svg>
<iframe src="${url}/frame"></iframe><object data="${url}/object"></object><embed src="${url}/embed">
<video src="${url}/video" autoplay poster="${url}/poster"></video><audio src="${url}/audio" autoplay></audio>
<form action="${url}/form"><input autofocus><button id="send">send</button></form><a id="link" href="${url}/link" ping="${url}/ping">link</a>
<a id="out" target="_top" href="${url}/top">top</a><div><template shadowrootmode="open"><img src="${url}/shadow"></template></div>
</body></html>`;

  it.each(['plan', 'gallery'])('runs nothing and loads nothing in the page of the %s', async (kind) => {
    const html = kind === 'plan' ? emailPage(hostile(canary.url)) : galleryPage(hostile(canary.url));
    const page = await chromium.open(html, { width: 1280, scheme: 'light' });
    const title = await page.title();
    await seeAll(page);
    const frame = page.frameLocator('iframe').first();
    await frame.locator('#send').click();
    await frame.locator('#link').click();
    await page.waitForTimeout(1000);
    const other = page.frameLocator('iframe').nth(1);
    await other.locator('#out').click();
    await page.waitForTimeout(1000);
    expect(canary.seen).toEqual([]);
    expect(await page.title()).toBe(title);
    expect(page.url()).toMatch(/^file:/);
    expect(page.context().pages()).toHaveLength(1);
    await page.context().close();
  });
});

describe('a secret that is our own markup', () => {
  const words = [
    'sandbox=""',
    'Content-Security-Policy',
    "default-src 'none'",
    'http-equiv="Content-Security-Policy"',
    'srcdoc="',
    'script-src',
  ];

  it.each(['plan', 'gallery'])('lets no script of an email run in the page of the %s', async (kind) => {
    const redactor = createRedactor();
    for (const word of words) redactor.add(word);
    const script = "<script>document.title = 'ran'; top.document.title = 'ran'</script>";
    const html = `<!DOCTYPE html><html><head>${script}</head><body>${words.join(' ')}${script}
<p onclick="top.document.title = 'ran'" id="click">click</p></body></html>`;
    const page = await chromium.open(
      kind === 'plan' ? emailPage(html, redactor) : galleryPage(html, redactor),
      {
        width: 1280,
        scheme: 'light',
      },
    );
    const title = await page.title();
    await seeAll(page);
    const frame = page.locator('iframe').first();
    expect(await frame.getAttribute('sandbox')).toBe('allow-same-origin');
    const inner = page.frameLocator('iframe').first();
    expect(await inner.locator('body').textContent()).toContain('(sensitive)');
    await inner.locator('#click').click();
    expect(await page.title()).toBe(title);
    await page.context().close();
  });
});
