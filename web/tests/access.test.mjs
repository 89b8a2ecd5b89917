// SPDX-License-Identifier: MIT
// Who reads with a screen reader, a keyboard or a telephone: axe finds nothing serious, charts have alternatives, and the answer is in view at
// 390 px without scrolling.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {test} from 'node:test';
import {open_page, overflow} from './browser.mjs';
import {realistic, write_page} from './samples.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const limit = {timeout: 300_000};
const produced = process.env.UDV_REPORT && path.resolve(process.env.UDV_REPORT);
const pages = [['the sample', write_page('access', realistic())], ...(produced ? [['a produced page', produced]] : [])];

async function open_all(page) {
  for (const card of await page.locator('details.card').all()) {
    await card.evaluate((element) => (element.open = true));
    await card.scrollIntoViewIfNeeded();
  }
  await page.waitForFunction(() => [...document.querySelectorAll('.plot')].some((plot) => plot.querySelector('svg, canvas')) || !document.querySelector('.plot'));
}

// The policy of the page allows no other scripts: axe comes in through the debugger.
async function findings(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  return violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
    .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({target, failureSummary}) => `${target} (${failureSummary?.split('\n')[1]?.trim()})`).join('; ')}`);
}

for (const [name, file] of pages) {
  for (const scheme of ['light', 'dark']) {
    test(`axe finds nothing serious on ${name}, ${scheme}`, limit, async () => {
      const page = await open_page(file, {scheme});
      await open_all(page);
      assert.deepEqual(await findings(page), []);
      await page.context().close();
    });
  }

  test(`the answer of ${name} is in view at 390 px`, limit, async () => {
    const page = await open_page(file, {width: 390, height: 844});
    assert.ok(await overflow(page) <= 0);
    const summary = page.locator('.summary').first();
    const box = await summary.boundingBox();
    assert.ok(box && box.y >= 0 && box.y < 844 * 0.75, `the summary begins at ${box?.y} px`);
    const size = await summary.evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    assert.ok(size >= 14, `the summary has letters of ${size} px`);
    await page.context().close();
  });
}

test('every chart says what it shows, and has its numbers as a table', limit, async () => {
  const page = await open_page(pages[0][1]);
  await open_all(page);
  for (const plot of await page.locator('.plot').all()) {
    assert.ok((await plot.getAttribute('aria-label'))?.length > 10);
    assert.equal(await plot.getAttribute('role'), 'img');
  }
  await page.context().close();
});
