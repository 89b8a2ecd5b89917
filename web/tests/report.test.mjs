// SPDX-License-Identifier: MIT
// The realistic report in a browser: what is drawn equals the JSON, and every control does what it says.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {block, downloaded, open_browser, open_page, opening_milliseconds, outside_requests, overflow, parse_csv} from './browser.mjs';
import {close, drawn_bars, drawn_marks, drawn_paths} from './drawn.mjs';
import {realistic, write_page} from './samples.mjs';

const report = realistic();
const file = write_page('realistic', report);
const limit = {timeout: 60_000};
const [objective, spectrum, bars] = report.sections[0].blocks;

for (const width of [1280, 390]) {
  test(`opens quietly within two seconds at ${width} px, without requests and without overflow`, limit, async () => {
    assert.ok(await opening_milliseconds(file, {width}) < 2000);
    const page = await open_page(file, {width});
    for (const card of await page.locator('details.card').all()) {
      await card.evaluate((element) => (element.open = true));
      await card.scrollIntoViewIfNeeded();
    }
    for (let i = 0; i < report.sections.length; ++i) {
      for (let j = 0; j < report.sections[i].blocks.length; ++j) await block(page, i, j);
    }
    assert.ok(await overflow(page) <= 0);
    assert.deepEqual(page.trouble, []);
    assert.deepEqual(outside_requests(page), []);
    assert.equal(await page.locator('.refusal').count(), 0);
    await page.context().close();
  });
}

test('lines are drawn where the JSON says', limit, async () => {
  const page = await open_page(file);
  const drawn = await drawn_paths(await block(page, 0, 0), 0, 'lines');
  assert.equal(drawn.length, objective.series.length);
  drawn.forEach((path, s) => {
    const points = objective.series[s].points;
    assert.equal(path.length, points.length);
    path.forEach(([x, y], k) => {
      if (points[k][0] > 0) assert.ok(close(x, points[k][0], 5e-3), `${x} ${points[k][0]}`);
      assert.ok(close(y, points[k][1], 5e-3), `${y} ${points[k][1]}`);
    });
  });
  await page.context().close();
});

test('zeros on a log axis are hollow marks, and the tooltip tells the true value', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 1);
  const zeros = spectrum.series.flatMap((series) => series.points).filter(([, y]) => y <= 0).length;
  assert.equal(await drawn_marks(figure, 0, 'zeros'), zeros);
  assert.ok((await figure.locator('.plot svg').textContent()).includes('10\u207b\u00b9\u2075'));
  const mark = await figure.locator('.zeros0_marks path').first().boundingBox();
  await page.mouse.move(mark.x + mark.width / 2, mark.y + mark.height / 2);
  assert.match(await page.locator('.tip').innerText(), /singular value\s+0$/);
  await page.context().close();
});

test('steps and panels: accuracy above, live rank below', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 1, 0);
  const series = report.sections[1].blocks[0].series;
  const [above, below] = [await drawn_paths(figure, 0, 'steps'), await drawn_paths(figure, 1, 'steps')];
  assert.equal(above.length, 2);
  assert.equal(below.length, 1);
  // A step is two corners for each point but the first.
  const corners = below[0].filter((_, k) => k % 2 === 0);
  corners.forEach(([x, y], k) => assert.ok(close(y, series[2].points[k][1], 5e-3, 0.05) && close(x, k, 5e-3, 0.01)));
  assert.equal(await drawn_marks(figure, 0, 'bands'), 1, 'the band');
  await page.context().close();
});

test('the slider, its keys and the play button move the bars to the values of the JSON', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 2);
  const slider = figure.locator('input[type=range]');
  const agree = async (t) => {
    for (const p of [0, 1]) {
      const drawn = await drawn_bars(figure, p);
      const wanted = bars.panels[p].values[t];
      assert.equal(drawn.length, wanted.length);
      drawn.forEach((value, j) => assert.ok(close(value, wanted[j], 5e-3, 2e-2), `time ${t} panel ${p} bar ${j}: ${value} ${wanted[j]}`));
    }
    assert.equal(await figure.locator('output').innerText(), `iteration ${bars.times[t]}`);
  };
  await agree(bars.times.length - 1);
  for (const t of [0, 17]) {
    await slider.fill(String(t));
    await agree(t);
  }
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await agree(18);
  await figure.locator('.plot').focus();
  await page.keyboard.press('ArrowLeft');
  await agree(17);
  await figure.getByRole('button', {name: 'Play'}).click();
  await page.waitForFunction(() => Number(document.querySelector('.player input').value) > 20);
  await figure.getByRole('button', {name: 'Pause'}).click();
  await agree(Number(await slider.inputValue()));
  await page.context().close();
});

test('the legend hides and shows a series, by mouse and by keyboard', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 0);
  const entry = figure.getByRole('button', {name: 'bm, step 0.1', exact: true});
  await entry.click();
  assert.equal(await entry.getAttribute('aria-pressed'), 'false');
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, objective.series.length - 1);
  await entry.focus();
  await page.keyboard.press('Enter');
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, objective.series.length);
  assert.equal(await page.evaluate(() => document.activeElement.textContent.slice(0, 40)), 'bm, step 0.1');
  await figure.getByRole('button', {name: 'None'}).click();
  assert.equal((await drawn_paths(figure, 0, 'lines')).length, 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

test('arrow keys read out points of a chart', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 0);
  await figure.locator('.plot').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('.tip').innerText(), /udu, step 1\niteration 1\nobjective/);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('.tip').innerText(), /bm, step 1\niteration 1/);
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('.tip').isHidden());
  await page.context().close();
});

test('a chart is saved as SVG with title, axes and legend', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 0, 0);
  await figure.getByRole('button', {name: 'udu, step 1', exact: true}).click();
  const saved = await downloaded(page, () => figure.getByRole('button', {name: 'SVG'}).click());
  assert.equal(saved.name, 'fig1-stepsize-objective.svg');
  const seen = await page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    return {name: root.nodeName, text: [...root.querySelectorAll('text')].map((node) => node.textContent)};
  }, saved.text);
  assert.equal(seen.name, 'svg');
  for (const text of ['Objective', 'iteration', 'objective', '10\u207b\u00b3', 'bm, step 1']) assert.ok(seen.text.includes(text), text);
  assert.ok(!seen.text.includes('udu, step 1'), 'a hidden series is not in the legend');
  await page.context().close();
});

test('the CSV of a chart and of a table equal the JSON', limit, async () => {
  const page = await open_page(file);
  const chart = await block(page, 0, 0);
  const csv = await downloaded(page, () => chart.getByRole('button', {name: 'CSV'}).click());
  assert.equal(csv.name, 'fig1-stepsize-objective.csv');
  const wanted = objective.series.flatMap(({name, points}) => points.map(([x, y]) => [name, String(x), String(y)]));
  assert.deepEqual(parse_csv(csv.text), [['series', 'iteration', 'objective'], ...wanted]);
  const table = await block(page, 2, 1);
  const rows = parse_csv((await downloaded(page, () => table.getByRole('button', {name: 'CSV'}).click())).text);
  assert.deepEqual(rows[0].slice(0, 3), ['variant', 'sgd 1e-2', 'sgd 1e-2 (paper)']);
  assert.deepEqual(rows[1].slice(0, 3), ['udv', '1.2e-3', '1.3e-3']);
  const slides = parse_csv((await downloaded(page, async () => (await block(page, 0, 2)).getByRole('button', {name: 'CSV'}).click())).text);
  assert.equal(slides.length, 1 + bars.times.length * 20);
  await page.context().close();
});

test('numbers of a chart are shown as a table on demand', limit, async () => {
  const page = await open_page(file);
  const figure = await block(page, 1, 1);
  await figure.getByRole('button', {name: 'Numbers'}).click();
  assert.equal(await figure.locator('.numbers tbody tr').count(), 6);
  assert.equal(await figure.locator('.numbers tbody tr').first().locator('td').nth(1).innerText(), '4');
  await page.context().close();
});

test('a table marks best values, shows the paper\'s, and sorts', limit, async () => {
  const page = await open_page(file);
  const table = await block(page, 2, 1);
  assert.deepEqual(await table.locator('.best').allInnerTexts(), ['1.2e-3', '1.7e-3', '3.1e-3']);
  assert.ok((await table.locator('.paper').first().innerText()).includes('1.3e-3'));
  const first = () => table.locator('tbody th').allInnerTexts();
  await table.getByRole('button', {name: 'sgd 1e-2'}).click();
  assert.deepEqual(await first(), ['udv', 'dense', 'udv, no constraint', 'bm']);
  await table.getByRole('button', {name: 'sgd 1e-2'}).click();
  assert.deepEqual(await first(), ['bm', 'udv, no constraint', 'dense', 'udv']);
  await page.context().close();
});

test('the theme follows the system, can be switched, and is remembered', limit, async () => {
  const context = await (await open_browser()).newContext({viewport: {width: 1280, height: 900}, colorScheme: 'dark'});
  const page = await open_page(file, {context});
  const colour = (one) => one.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const line = async (one) => (await block(one, 0, 0)).locator('.lines0_marks path').first().getAttribute('stroke');
  const [dark_page, dark_line] = [await colour(page), await line(page)];
  await page.getByRole('button', {name: 'Light colours'}).click();
  const [light_page, light_line] = [await colour(page), await line(page)];
  assert.notEqual(light_page, dark_page);
  assert.notEqual(light_line, dark_line);
  const again = await open_page(file, {context});
  assert.equal(await colour(again), light_page);
  assert.equal(await line(again), light_line);
  await context.close();
});

test('chips filter sections and contents', limit, async () => {
  const page = await open_page(file);
  const chip = page.getByRole('button', {name: '1 not seen'});
  await chip.click();
  assert.deepEqual(await page.locator('details.card:visible h2').allInnerTexts(), ['Pruning after training']);
  assert.equal(await page.locator('.contents li:visible').count(), 1);
  await chip.press('Enter');
  assert.equal(await page.locator('details.card:visible').count(), report.sections.length);
  await page.context().close();
});

test('a folded section is drawn when opened, also from the contents', limit, async () => {
  const page = await open_page(file);
  const card = page.locator('details.card').nth(4);
  assert.equal(await card.locator('.block').count(), 0);
  await page.locator('.contents a').nth(4).click();
  await card.locator('.plot svg').waitFor();
  const [path] = await drawn_paths(card.locator('.chart'), 0, 'lines');
  assert.equal(path.length, report.sections[4].blocks[0].series[0].points.filter(([, y]) => y !== null).length);
  await page.context().close();
});

test('the handle between two pictures moves by mouse and by keys', limit, async () => {
  const page = await open_page(file);
  const compare = await block(page, 3, 0);
  const at = () => compare.locator('.compare-box').evaluate((element) => element.style.getPropertyValue('--at'));
  const box = await compare.locator('.compare-box').boundingBox();
  await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
  assert.ok(Math.abs(parseFloat(await at()) - 25) <= 2, await at());
  const before = parseFloat(await at());
  await page.keyboard.press('ArrowRight');
  assert.equal(parseFloat(await at()), before + 1);
  assert.equal(await compare.locator('img').evaluateAll((list) => list.every((image) => image.complete && image.naturalWidth === 64)), true);
  await page.context().close();
});

test('everything is drawn before printing, and the page is as before afterwards', limit, async () => {
  const page = await open_page(file, {scheme: 'dark'});
  const seen = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    const during = {charts: document.querySelectorAll('.plot svg').length, theme: document.documentElement.dataset.theme};
    dispatchEvent(new Event('afterprint'));
    return {...during, after: document.documentElement.dataset.theme, open: document.querySelectorAll('details.card[open]').length};
  });
  const charts = report.sections.flatMap((section) => section.blocks).filter(({kind}) => ['lines', 'bars', 'heatmap'].includes(kind)).length;
  assert.deepEqual(seen, {charts, theme: 'light', after: 'dark', open: 4});
  await page.context().close();
});

test('every control has a name, and the page has one main heading', limit, async () => {
  const page = await open_page(file);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, [role=region], [role=group]')]
    .filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() || node.title)).map((node) => node.outerHTML));
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator('h1').count(), 1);
  await page.context().close();
});
