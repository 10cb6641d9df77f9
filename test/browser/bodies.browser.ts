import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanHtml } from '../../src/mail/clean.js';
import { type Canary, type Chromium, canaryHost, seeAll, startCanary, startChromium } from './chromium.js';
import { hostileBody, hostileElements } from './hostile-bodies.js';
import { bodiesGalleryPage, bodiesPlanPage, unguardedPage } from './pages.js';

/** IDOPS_BODIES=10000 takes an hour. */
const count = Number(process.env.IDOPS_BODIES ?? 200);
const seed = Number(process.env.IDOPS_SEED ?? Date.now() % 2 ** 31);
const perPage = 50;

let folder: string;
let netLog: string;
let chromium: Chromium;
let canary: Canary;
let address: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-bodies-'));
  netLog = join(folder, 'net.json');
  chromium = await startChromium({ netLog });
  canary = await startCanary();
  address = canary.url.replace('127.0.0.1', canaryHost);
});

afterAll(async () => {
  await canary.close();
  await rm(folder, { recursive: true, force: true });
});

/** Every body says by its number who was heard. */
function generated(): string[] {
  return fc
    .sample(hostileBody, { numRuns: count, seed })
    .map((body, index) => body(`${address}/body-${index}`));
}

function inPages(bodies: readonly string[]): string[][] {
  return [...Array(Math.ceil(bodies.length / perPage)).keys()].map((page) =>
    bodies.slice(page * perPage, (page + 1) * perPage),
  );
}

/** What a page does that it shouldn't: requests, errors, messages of a policy that had to step in. */
interface Watched {
  readonly page: Page;
  readonly noticed: readonly string[];
}

async function show(chromium: Chromium, html: string): Promise<Watched> {
  const page = await chromium.open('', { width: 1280, height: 3000, scheme: 'light' });
  const noticed: string[] = [];
  page.on('request', (request) => {
    if (!/^(?:data|file|about):/.test(request.url())) noticed.push(`request ${request.url()}`);
  });
  page.on('console', (message) => noticed.push(`console ${message.text()}`));
  page.on('pageerror', (failure) => noticed.push(`error ${failure.message}`));
  await page.setContent(html, { waitUntil: 'load', timeout: 0 });
  return { page, noticed };
}

/** Every other body as that of a page. */
function cleaned(body: string, index: number): string[] {
  const clean = cleanHtml(body, { page: index % 2 === 1 });
  return 'refused' in clean ? [] : [`<!DOCTYPE html>${clean.html}`];
}

describe(`${count} hostile emails, seed ${seed}`, () => {
  it('run nothing and ask for nothing, even where nothing else keeps them from it', async () => {
    for (const bodies of inPages(generated())) {
      const { page, noticed } = await show(chromium, unguardedPage(bodies.flatMap(cleaned)));
      await page.evaluate('window.shown.then(() => undefined)');
      await page.waitForTimeout(200);
      expect(await page.evaluate('window.ran')).toBeUndefined();
      expect(await page.evaluate('document.querySelectorAll("iframe").length')).toBeGreaterThan(perPage / 2);
      expect(noticed).toEqual([]);
      await page.context().close();
    }
    expect(canary.seen).toEqual([]);
  });

  it.each([
    ['plan', bodiesPlanPage, 0],
    ['gallery', bodiesGalleryPage, 1],
  ])('are shown in the page of the %s, whose policy has nothing to do', async (_, pageOf, turn) => {
    // Each of them has every other page full, since frames by the thousand take their time.
    for (const bodies of inPages(generated()).filter((_, index) => index % 2 === turn)) {
      const { page, noticed } = await show(chromium, pageOf(bodies));
      await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
      await seeAll(page);
      expect(page.frames().length).toBeGreaterThan(perPage / 2);
      expect(noticed).toEqual([]);
      await page.context().close();
    }
    expect(canary.seen).toEqual([]);
  });

  it('have not made the browser look a name up', async () => {
    await chromium.close();
    // An event a line; the first one tells the command with which the browser was started.
    const events = (await readFile(netLog, 'utf8'))
      .split('\n')
      .filter((line) => !line.includes('host-resolver-rules'));
    expect(events.length).toBeGreaterThan(10);
    expect(events.filter((line) => line.includes(canaryHost))).toEqual([]);
  });
});

describe('the canary', () => {
  it('hears them where nothing is done about them, so that its silence means something', async () => {
    const heard = await startCanary();
    const other = await startChromium();
    const url = heard.url.replace('127.0.0.1', canaryHost);
    const bodies = hostileElements.map((body, index) => body(`${url}/body-${index}`));
    const { page } = await show(other, unguardedPage(bodies));
    await page.waitForTimeout(3000);
    const numbers = heard.seen.flatMap((path) => /body-(\d+)/.exec(path)?.[1] ?? []);
    expect(new Set(numbers).size).toBeGreaterThan(50);
    await other.close();
    await heard.close();
  });
});
