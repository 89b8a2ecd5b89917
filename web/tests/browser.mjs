// SPDX-License-Identifier: MIT
// Debian's Chromium (or $CHROMIUM) through playwright-core, with a record of everything a page must not do.
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {after} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
let browser;

export async function open_browser() {
  const executablePath = candidates.find((file) => file && existsSync(file));
  if (!executablePath) throw new Error('no Chromium found: install Debian\'s chromium, or set CHROMIUM');
  browser ??= await chromium.launch({executablePath, args: ['--no-sandbox']});
  return browser;
}

after(async () => browser?.close());

export async function open_page(address, {width = 1280, height = 900, scheme = 'light', motion = 'no-preference', context} = {}) {
  const own = context ?? await (await open_browser()).newContext({viewport: {width, height}, colorScheme: scheme, reducedMotion: motion});
  const page = await own.newPage();
  page.setDefaultTimeout(10_000);
  page.trouble = [];
  page.requests = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.trouble.push(message.text()));
  page.on('pageerror', (error) => page.trouble.push(String(error)));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.goto(address.startsWith('http') ? address : pathToFileURL(address).href);
  return page;
}

// Pictures inside the page are read by data: addresses, which never leave it.
export const outside_requests = (page) => page.requests.slice(1).filter((url) => !/^(data|blob):/.test(url));

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function milliseconds_to_first_chart(page) {
  await page.waitForFunction(() => document.querySelector('.plot svg, .plot canvas') || !document.querySelector('.plot'));
  return page.evaluate(() => performance.now());
}

// The least of three openings: what else the machine does can only add to it.
export async function opening_milliseconds(file, options) {
  const times = [];
  for (let i = 0; i < 3; ++i) {
    const page = await open_page(file, options);
    times.push(await milliseconds_to_first_chart(page));
    await page.context().close();
  }
  return Math.min(...times);
}

export function report_of(page) {
  return page.evaluate(() => JSON.parse(document.getElementById('udv-report').textContent));
}

// The element of block j in section i; sections and blocks stand in the order of the JSON.
export async function block(page, i, j) {
  const found = page.locator('details.card').nth(i).locator('.blocks > *').nth(j);
  await found.evaluate((element) => element.scrollIntoView({block: 'center'}));
  if (await found.locator('.plot').count()) await found.locator('.plot svg, .plot canvas').first().waitFor();
  return found;
}

export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return {name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8')};
}

export function parse_csv(text) {
  const rows = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    rows.at(-1).push(quoted === undefined ? bare : quoted.replace(/""/g, '"'));
    if (end === '\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
