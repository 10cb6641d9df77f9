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

/** Bodies whose requests contain the body's number. */
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

/** What a page must not do: requests, errors, messages of a content security policy. */
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

/** Every other body is cleaned as the body of a page. */
function cleaned(body: string, index: number): string[] {
  const clean = cleanHtml(body, { page: index % 2 === 1 });
  return 'rejection' in clean ? [] : [`<!DOCTYPE html>${clean.html}`];
}

describe(`${count} hostile emails, seed ${seed}`, () => {
  it('run nothing and request nothing in unguarded frames', async () => {
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
  ])('are shown on the page of the %s without a violation of its policy', async (_, pageOf, turn) => {
    // The two tests alternate between pages, because thousands of frames take long.
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

  it('cause no DNS lookup', async () => {
    await chromium.close();
    // One event a line; the first contains the command that started the browser.
    const events = (await readFile(netLog, 'utf8'))
      .split('\n')
      .filter((line) => !line.includes('host-resolver-rules'));
    expect(events.length).toBeGreaterThan(10);
    expect(events.filter((line) => line.includes(canaryHost))).toEqual([]);
  });
});

describe('the canary', () => {
  it('notices uncleaned bodies, so that its silence is meaningful', async () => {
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
