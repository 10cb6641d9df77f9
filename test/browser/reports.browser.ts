import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.js';
import { type Canary, type Chromium, picture, seeAll, startCanary, startChromium } from './chromium.js';
import { emailPage, galleryPage, planPage, resultPage } from './pages.js';

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
const wide = { width: 1280, scheme: 'light' } as const;
const views = [
  wide,
  { width: 1280, scheme: 'dark' },
  { width: 360, scheme: 'light' },
  { width: 360, scheme: 'dark' },
] as const;

describe.each(Object.entries(pages))('the page of the %s', (name, html) => {
  it.each(views)('is accessible at $width pixels, $scheme', async (view) => {
    const page = await chromium.open(html, { ...view, scripts: true });
    await seeAll(page);
    await picture(page, `${name}-${view.width}-${view.scheme}`);
    await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    // Emails are excluded: they belong to their authors, and axe can't run in frames without scripts.
    const { violations } = await page.evaluate<AxeResults>('axe.run(document, { iframes: false })');
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map((node) => node.html.slice(0, 200))])).toEqual(
      [],
    );
    await page.context().close();
  });

  it.each(views)('needs no horizontal scrolling at $width pixels, $scheme', async (view) => {
    const page = await chromium.open(html, view);
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    expect(beyond).toBeLessThanOrEqual(0);
    await page.context().close();
  });
});

describe('the page of a plan', () => {
  it('is filtered by kind and action, by keyboard', async () => {
    const page = await chromium.open(pages.plan, wide);
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

  it('shows an email rendered, as text and as source, by keyboard', async () => {
    const page = await chromium.open(pages.plan, wide);
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
    const page = await chromium.open(pages.plan, wide);
    await seeAll(page);
    const mail = page.locator('.change.destructive[data-kind="EmailTemplate"] .mail').first();
    await mail.scrollIntoViewIfNeeded();
    const frame = mail.frameLocator('iframe');
    expect(await frame.locator('body').textContent()).toContain('Paragraph 0 for Jane Doe');
    await page.context().close();
  });
});

describe('the frame of an email', () => {
  const end = '<div style="height:900px">tall</div><p id="end">end';

  it.each([
    ['is long', ''],
    [
      'scrolls its body',
      '<html style="height:100%;overflow:hidden"><body style="height:100%;overflow:auto;margin:0">',
    ],
    ['fixes its body', '<html><body style="position:fixed;top:0;left:0">'],
    ['positions its body', '<html><body style="position:absolute;top:20px;left:0;bottom:0;overflow:auto">'],
    [
      'fixes all of the email',
      '<html><head><style>html,body{position:fixed!important;height:0!important;overflow:hidden!important}</style></head><body>',
    ],
    ['fixes part of the email', '<html><body style="margin:0"><div style="position:fixed;top:0;left:0">'],
    [
      'scrolls part of the email',
      '<html><body style="margin:0"><div style="position:absolute;top:0;left:0;right:0;bottom:0;overflow:auto">',
    ],
  ])('can be scrolled to the end of an email that %s', async (_, start) => {
    const page = await chromium.open(emailPage(`<!DOCTYPE html>${start}${end}`), wide);
    await seeAll(page);
    const element = page.locator('iframe').first();
    await element.scrollIntoViewIfNeeded();
    await element.hover();
    const frame = await (await element.elementHandle())?.contentFrame();
    const seen = async () => {
      await page.mouse.wheel(0, 200);
      return await frame?.evaluate<boolean>(
        "(({ top, bottom }) => top > 0 && bottom <= innerHeight)(document.querySelector('#end').getBoundingClientRect())",
      );
    };
    await expect.poll(seen).toBe(true);
    await page.context().close();
  });

  it("has links that look like links but can't be followed, by mouse or keyboard", async () => {
    const email = `<style>b a:link { color: rgb(1, 2, 3) }</style>
      <a href="${canary.url}">plain</a> <b><a href="#main">styled</a></b> <a>none</a>`;
    const page = await chromium.open(emailPage(email), wide);
    await seeAll(page);
    const element = page.locator('iframe').first();
    await element.scrollIntoViewIfNeeded();
    const frame = await (await element.elementHandle())?.contentFrame();
    const looks = await frame?.evaluate<string[]>(
      "[...document.querySelectorAll('a')].map((a) => { const { color, textDecorationLine } = getComputedStyle(a); return `${color} ${textDecorationLine}`; })",
    );
    expect(looks).toEqual(['rgb(0, 0, 238) underline', 'rgb(1, 2, 3) underline', 'rgb(0, 0, 0) none']);
    const address = page.url();
    for (const link of (await frame?.locator('a').all()) ?? []) {
      await link.click();
      await link.click({ button: 'middle' });
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await frame?.evaluate<string>('`${location.href} ${document.activeElement.tagName}`')).toBe(
        'about:srcdoc BODY',
      );
    }
    expect([page.url(), page.context().pages().length, canary.seen]).toEqual([address, 1, []]);
    await page.context().close();
  });

  it('can be resized', async () => {
    const page = await chromium.open(emailPage(end), wide);
    await seeAll(page);
    const mail = page.locator('.mail').first();
    await mail.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await mail.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(x + width - 4, y + height - 4);
    await page.mouse.down();
    await page.mouse.move(x + width - 4, y + height + 96);
    await page.mouse.up();
    await expect.poll(async () => (await mail.boundingBox())?.height).toBe(height + 100);
    await page.context().close();
  });

  it('shows an email with each set of sample data', async () => {
    const page = await chromium.open(pages.plan, wide);
    const change = page.locator('.change.destructive[data-kind="EmailTemplate"]');
    const textOf = (at: number) =>
      change.locator('.panel.rendered .variant').nth(at).frameLocator('iframe').locator('body').textContent();
    expect(await textOf(0)).toContain('Sent on behalf of');
    await change.locator('.panel.rendered summary', { hasText: 'without organization' }).click();
    expect(await textOf(1)).toContain('Sent by us');
    await page.context().close();
  });
});

describe('the keyboard', () => {
  it('reaches all changes, and leaves email frames', async () => {
    const page = await chromium.open(pages.plan, wide);
    const reached = new Set<string>();
    for (let step = 0; step < 90; step += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate<string>(
          "document.activeElement.closest('.change')?.querySelector('.inside').id ?? document.activeElement.name ?? ''",
        ),
      );
    }
    for (const id of ['kind', 'change-1', 'change-2', 'change-25']) expect(reached).toContain(id);
    await page.context().close();
  });

  it('opens a change from the contents', async () => {
    const page = await chromium.open(pages.result, wide);
    await page.locator('.contents > summary').click();
    await page.locator('.contents nav > details').last().locator('summary').click();
    await page.locator('.contents a', { hasText: 'reset_password' }).click();
    const change = page.locator('.change[data-kind="EmailTemplate"][data-action="update"]');
    await expect.poll(() => change.getAttribute('open')).toBe('');
    expect(await change.frameLocator('iframe').first().locator('body').textContent()).toContain(
      'Paragraph 0',
    );
    await page.context().close();
  });
});

it('no injected script runs on a page', async () => {
  const ran = "document.title = 'ran'";
  const html = pages.plan
    .replace('</body>', `<script>${ran}</script><img src="data:," onerror="${ran}"></body>`)
    .replace('</head>', `<script type="module">${ran}</script></head>`);
  const page = await chromium.open(html, wide);
  await seeAll(page);
  expect(await page.title()).toMatch(/^Plan:/);
  await page.context().close();
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

  it.each(['plan', 'gallery'])('runs nothing and loads nothing on the page of the %s', async (kind) => {
    const html = kind === 'plan' ? emailPage(hostile(canary.url)) : galleryPage(hostile(canary.url));
    const page = await chromium.open(html, wide);
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

describe("a secret that is part of idops's markup", () => {
  const words = [
    'sandbox=""',
    'Content-Security-Policy',
    "default-src 'none'",
    'http-equiv="Content-Security-Policy"',
    'srcdoc="',
    'script-src',
  ];

  it.each(['plan', 'gallery'])('lets no script of an email run on the page of the %s', async (kind) => {
    const redactor = createRedactor();
    for (const word of words) redactor.add(word);
    const script = "<script>document.title = 'ran'; top.document.title = 'ran'</script>";
    const html = `<!DOCTYPE html><html><head>${script}</head><body>${words.join(' ')}${script}
<p onclick="top.document.title = 'ran'" id="click">click</p></body></html>`;
    const page = await chromium.open(
      kind === 'plan' ? emailPage(html, redactor) : galleryPage(html, redactor),
      wide,
    );
    const title = await page.title();
    await seeAll(page);
    const frame = page.locator('iframe').first();
    expect(await frame.getAttribute('sandbox')).toBe('');
    const inner = page.frameLocator('iframe').first();
    expect(await inner.locator('body').textContent()).toContain('(sensitive)');
    await inner.locator('#click').click();
    expect(await page.title()).toBe(title);
    await page.context().close();
  });
});
