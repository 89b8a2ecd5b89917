// SPDX-License-Identifier: MIT
// A report of 200 runs with 200 points each stays small and scrolls.
import assert from 'node:assert/strict';
import {statSync} from 'node:fs';
import {test} from 'node:test';
import {block, open_page, opening_milliseconds, overflow} from './browser.mjs';
import {drawn_paths} from './drawn.mjs';
import {many_runs, write_page} from './samples.mjs';

const report = many_runs();
const file = write_page('many', report);
const limit = {timeout: 90_000};

test('200 runs stay under 5 MB and open within two seconds', limit, async () => {
  assert.ok(statSync(file).size < 5e6);
  const time = await opening_milliseconds(file);
  assert.ok(time < 2000, `${time} ms`);
  const page = await open_page(file);
  const figure = await block(page, 0, 0);
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, 200);
  await page.context().close();
});

test('the legend of 200 series stays in its box and can be searched', limit, async () => {
  const page = await open_page(file, {width: 390});
  const figure = await block(page, 0, 0);
  assert.ok((await figure.locator('.legend').boundingBox()).height < 260);
  await figure.getByLabel('Find a series').fill('run-123');
  assert.deepEqual(await figure.locator('.legend-entry:visible').allInnerTexts(), ['run-123']);
  await figure.locator('.legend-entry:visible').click();
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, 199);
  assert.ok(await overflow(page) <= 0);
  await page.context().close();
});

test('scrolling through all runs is smooth and draws only what is near', limit, async () => {
  const page = await open_page(file);
  await block(page, 0, 0);
  const seen = await page.evaluate(async () => {
    const gaps = [];
    let last = performance.now();
    for (let i = 0; i < 90; ++i) {
      scrollBy(0, 120);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    gaps.sort((a, b) => a - b);
    return {median: gaps[45], drawn: document.querySelectorAll('.plot svg').length, all: document.querySelectorAll('.plot').length};
  });
  assert.ok(seen.median < 60, `median frame ${seen.median} ms`);
  assert.ok(seen.drawn < seen.all / 2, JSON.stringify(seen));
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
