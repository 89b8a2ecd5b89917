// SPDX-License-Identifier: MIT
// Texts from files are shown as texts, wherever they stand.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {block, downloaded, open_page, outside_requests, overflow, parse_csv} from './browser.mjs';
import {drawn_paths} from './drawn.mjs';
import {hostile, hostile_texts, write_page} from './samples.mjs';

const report = hostile();
const file = write_page('hostile', report);
const limit = {timeout: 60_000};

for (const width of [1280, 390]) {
  test(`hostile texts do nothing at ${width} px`, limit, async () => {
    const page = await open_page(file, {width});
    for (let j = 0; j < 5; ++j) await block(page, 0, j);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator('h1').innerText(), report.title);
    assert.equal(await page.locator('h2').first().innerText(), report.sections[0].title);
    assert.equal(await page.locator('#udv-page script, #udv-page b b, #udv-page img').count(), 0);
    assert.ok(await overflow(page) <= 0, `overflow by ${await overflow(page)}`);
    assert.deepEqual(page.trouble, []);
    assert.deepEqual(outside_requests(page), []);
    await page.context().close();
  });
}

test('every series with a hostile name is drawn, and its name is in the legend', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 0);
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, hostile_texts.length);
  const names = await figure.locator('.legend-entry span').allTextContents();
  assert.deepEqual(names.slice(0, 10), hostile_texts.slice(0, 10));
  await figure.locator('.legend-entry').first().click();
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, hostile_texts.length - 1);
  await page.context().close();
});

test('files saved from hostile texts are valid, harmless and safely named', limit, async () => {
  const page = await open_page(file);
  for (const j of [0, 1, 3, 4]) {
    const figure = await block(page, 0, j);
    const saved = await downloaded(page, () => figure.getByRole('button', {name: 'SVG', exact: true}).click());
    assert.match(saved.name, /^[a-z0-9-]+\.svg$/);
    const bad = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml');
      return root.querySelectorAll('parsererror, script, img, foreignObject').length;
    }, saved.text);
    assert.equal(bad, 0);
  }
  const figure = await block(page, 0, 0);
  const csv = await downloaded(page, () => figure.getByRole('button', {name: 'CSV', exact: true}).click());
  const rows = parse_csv(csv.text);
  assert.equal(rows.length, 1 + 3 * hostile_texts.length);
  assert.ok(rows.every((row) => row.every((cell) => !/^[=+@\t]/.test(cell))));
  await page.context().close();
});

test('empty and unknown blocks say so and leave the rest alone', limit, async () => {
  const page = await open_page(file);
  for (const figure of await page.locator('.chart').all()) await figure.scrollIntoViewIfNeeded();
  const texts = await page.locator('.refusal').allInnerTexts();
  assert.ok(texts.some((text) => text.includes('<b>unknown</b>')));
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test('a page without a readable report says so', limit, async () => {
  const page = await open_page(new URL('../dist/report.html', import.meta.url).pathname);
  assert.match(await page.locator('.notice').innerText(), /cannot be read/);
  await page.context().close();
});
