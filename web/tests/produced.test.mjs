// SPDX-License-Identifier: MIT
// The general checks on a page made by the program: UDV_REPORT=path/to/report.html npm test
// (UDV_RUN_FOLDER: the run's folder; then the objective of run.json is looked for among the drawn lines).
import assert from 'node:assert/strict';
import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {block, open_page, opening_milliseconds, outside_requests, overflow, report_of} from './browser.mjs';
import {drawn_paths} from './drawn.mjs';

const file = process.env.UDV_REPORT && path.resolve(process.env.UDV_REPORT);
const limit = {timeout: 300_000, skip: file ? false : 'UDV_REPORT is not set'};
const most_blocks = 200;

// The panel of each series, as the page decides it: unnamed first, then names in order.
function panels_of(series) {
  const names = series.map((one) => one.panel ?? '');
  const order = names.length && names.every(Boolean) ? [...new Set(names)] : [...new Set(['', ...names])];
  return order.map((name) => series.filter((one) => (one.panel ?? '') === name));
}

async function lines_agree(figure, lines, what) {
  if (await figure.locator('.plot canvas').count()) return;
  for (const [p, own] of panels_of(lines.series ?? []).entries()) {
    const filled = own.filter((one) => one.points.some(([, y]) => y !== null));
    const straight = filled.filter((one) => !one.step);
    const drawn = await drawn_paths(figure, p, 'lines');
    assert.equal(drawn.length, straight.length, `${what}, panel ${p}: straight lines`);
    assert.equal((await drawn_paths(figure, p, 'steps')).length, filled.length - straight.length, `${what}, panel ${p}: steps`);
    drawn.forEach((points, s) => assert.equal(points.length, straight[s].points.filter(([, y]) => y !== null).length, `${what}: ${straight[s].name}`));
  }
}

for (const width of [1280, 390]) {
  test(`a produced page opens within two seconds and agrees with its JSON at ${width} px`, limit, async () => {
    const time = await opening_milliseconds(file, {width});
    assert.ok(time < 2000, `${time} ms`);
    const page = await open_page(file, {width});
    const report = await report_of(page);
    assert.equal(report.format, 1);
    assert.ok(statSync(file).size < 25e6);
    await page.evaluate(() => document.querySelectorAll('details.card').forEach((card) => (card.open = true)));
    const blocks = report.sections.flatMap((section, i) => (section.blocks ?? []).map((one, j) => ({one, i, j}))).slice(0, most_blocks);
    for (const {one, i, j} of blocks) {
      const element = await block(page, i, j);
      if (one.kind === 'lines') await lines_agree(element, one, `${report.sections[i].id}: ${one.title}`);
    }
    assert.equal(await page.locator('.refusal').count(), 0);
    assert.ok(await overflow(page) <= 0);
    assert.deepEqual(page.trouble, []);
    assert.deepEqual(outside_requests(page), []);
    await page.context().close();
  });
}

test('a produced page shows the objective of run.json', limit, async (t) => {
  const run = process.env.UDV_RUN_FOLDER && path.join(process.env.UDV_RUN_FOLDER, 'run.json');
  if (!run || !existsSync(run)) return t.skip('UDV_RUN_FOLDER is not set');
  const numbers = new Set(readFileSync(run, 'utf8').match(/-?\d+(\.\d+)?(e[+-]?\d+)?/gi)?.map(Number));
  const page = await open_page(file);
  const report = await report_of(page);
  const series = report.sections.flatMap((section) => section.blocks ?? []).filter(({kind}) => kind === 'lines').flatMap((lines) => lines.series);
  const last = series.map((one) => one.points.at(-1)?.[1]).filter((y) => typeof y === 'number');
  assert.ok(last.length === 0 || last.some((y) => numbers.has(y)), 'no drawn line ends at a number of run.json');
  return page.context().close();
});
