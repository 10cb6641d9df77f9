import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

export interface View {
  readonly width: number;
  readonly scheme: 'light' | 'dark';
  /** Lets a test run scripts on a page that forbids them. */
  readonly scripts?: boolean;
  /** False for a browser without JavaScript. */
  readonly javaScript?: boolean;
  /** Default: 900 pixels. */
  readonly height?: number;
}

/** A Chromium, and a folder with the pages that it opens. */
export interface Chromium {
  /** Opens a page from a file, as a reviewer opens an attachment. */
  open(html: string, view: View): Promise<Page>;
  close(): Promise<void>;
}

/** A name that resolves to this machine, and that only a canary uses. */
export const canaryHost = 'canary.test';

/** `netLog` is the file to which the browser writes all network events, including DNS lookups. */
export async function startChromium({ netLog }: { readonly netLog?: string } = {}): Promise<Chromium> {
  const browser: Browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // Root can't use Chromium's own sandbox, for example in a container.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      // One process for each of hundreds of frames takes minutes.
      '--disable-features=IsolateSandboxedIframes',
      `--host-resolver-rules=MAP ${canaryHost} 127.0.0.1`,
      ...(netLog === undefined ? [] : [`--log-net-log=${netLog}`]),
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'idops-browser-'));
  let pages = 0;
  return {
    async open(html, { width, scheme, scripts = false, javaScript = true, height = 900 }) {
      pages += 1;
      const file = join(folder, `page-${pages}.html`);
      await writeFile(file, html);
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        bypassCSP: scripts,
        javaScriptEnabled: javaScript,
      });
      const page = await context.newPage();
      await page.goto(pathToFileURL(file).href);
      return page;
    },
    async close() {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A server that nothing may reach: it records every connection and request. */
export interface Canary {
  readonly url: string;
  readonly seen: readonly string[];
  close(): Promise<void>;
}

export async function startCanary(): Promise<Canary> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.url));
    response.end();
  });
  server.on('connection', () => seen.push('connection'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Scrolls through the page, so that lazy frames load. */
export async function seeAll(page: Page): Promise<void> {
  const step = (page.viewportSize()?.height ?? 900) - 300;
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  for (let top = 0; top < height; top += step) {
    await page.evaluate(`window.scrollTo(0, ${top})`);
    await painted(page);
    await framesLoaded(page);
  }
  await page.evaluate('window.scrollTo(0, 0)');
  await page.waitForTimeout(300);
  await framesLoaded(page);
}

/**
 * Waits until the page is painted after scrolling, also on a slow machine: visible elements are laid out in the first frame,
 * and observers are notified in the next.
 */
async function painted(page: Page): Promise<void> {
  const frame = 'new Promise((next) => requestAnimationFrame(() => setTimeout(next)))';
  for (let passed = 0; passed < 3; passed += 1) await page.evaluate(frame);
}

/** Waits until the visible frames are loaded. */
async function framesLoaded(page: Page): Promise<void> {
  const inSight = await page.evaluate<
    number[]
  >(`[...document.querySelectorAll('iframe')].flatMap((frame, at) => {
    const { top, bottom } = frame.getBoundingClientRect();
    return frame.checkVisibility({ contentVisibilityAuto: true }) && bottom >= 0 && top <= innerHeight ? [at] : [];
  })`);
  for (const at of inSight) {
    const frame = await (await page.locator('iframe').nth(at).elementHandle())?.contentFrame();
    await frame?.waitForURL('about:srcdoc', { timeout: 0 });
  }
}

/** Saves a screenshot in the folder IDOPS_SCREENSHOTS, if it is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.IDOPS_SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
