// SPDX-License-Identifier: MIT
// Pages that the program makes of runs of every kind (tests/make_runs.py), and one that it serves while a job runs: the answer is in view, nothing
// is refused. UDV_RUNS: the folder of the runs, UDV: the program. UDV_SCREENS: a folder for pictures of the pages, which `make docs` shows.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {test} from 'node:test';
import {open_page, outside_requests, overflow} from './browser.mjs';

const runs = process.env.UDV_RUNS && path.resolve(process.env.UDV_RUNS);
const screens = process.env.UDV_SCREENS && path.resolve(process.env.UDV_SCREENS);
const limit = {timeout: 120_000, skip: runs ? false : 'UDV_RUNS is not set'};
const taken = [];

// What is shown, how it was made, and words that must be in view without scrolling.
const kinds = [
  {name: 'demo', title: 'The demo', command: 'udv demo', words: /udu/, height: 1000,
    text: 'The usual factorization keeps small singular values; with a diagonal part between bounded factors they vanish.'},
  {name: 'completion', title: 'A completed table', command: 'udv complete ratings.csv --holdout 0.1', words: /rank 3/i, height: 1000,
    text: 'The verdict and the error on entries that were held out come first; below them the spectrum and the walk in the rank.'},
  {name: 'ptychography', title: 'An image from 49 images', command: 'udv ptycho images.npz --setup microscope.toml', words: /amplitude|phase/i, height: 1100,
    text: 'Simulated cells under a microscope with an LED array: 49 images of 48 x 48 pixels, amplitude and phase of 96 x 96.'},
  {name: 'training', title: 'A trained network', command: 'udv train houses.csv --target price', words: /RMSE/, height: 1000,
    text: 'The error in the units of the target beside that of the mean; then the loss while it was trained, and the singular values.'},
  {name: 'sweep', title: 'A sweep', command: 'udv sweep sweep.toml', words: /UDV/, height: 1000,
    text: 'Variants, learning rates and seeds in one table, the best of each marked.'},
];

const settled = (page) => page.waitForFunction(() => [...document.querySelectorAll('.plot')].filter((plot) => plot.getBoundingClientRect().top < innerHeight)
  .every((plot) => plot.querySelector('svg, canvas')) && [...document.images].every((image) => image.complete));

// The picture of a page, and its line in the list that scripts/make-docs reads.
async function picture(page, {name, title, command, text}) {
  if (!screens) return;
  mkdirSync(screens, {recursive: true});
  const file = path.join(screens, `${name}.png`);
  await page.screenshot({path: file});
  assert.ok(statSync(file).size > 10_000, `${file} shows next to nothing`);
  taken.push({name, title, command, text});
  writeFileSync(path.join(screens, 'screens.json'), JSON.stringify(taken, null, 1));
}

const words_in_view = (page) => page.evaluate(() => [...document.querySelectorAll('h1, h2, h3, p, li, td, th, dt, dd, figcaption, summary')]
  .filter((node) => node.getBoundingClientRect().top < innerHeight && node.getBoundingClientRect().height > 0).map((node) => node.innerText).join('\n'));

for (const kind of kinds) {
  test(`the page of a run: ${kind.title.toLowerCase()}`, limit, async () => {
    for (const width of [390, 1280]) {
      const page = await open_page(path.join(runs, kind.name, 'report.html'), {width, height: width === 390 ? 844 : kind.height});
      await settled(page);
      assert.match(await words_in_view(page), kind.words, `${width} px`);
      assert.equal(await page.locator('.refusal').count(), 0);
      assert.ok(await overflow(page) <= 0, `${width} px wide`);
      assert.deepEqual(page.trouble, []);
      assert.deepEqual(outside_requests(page), []);
      if (width === 1280) await picture(page, kind);
      await page.context().close();
    }
  });
}

// The first line that a program prints.
const first_line = (child) => new Promise((resolve, reject) => {
  readline.createInterface({input: child.stdout}).once('line', resolve);
  child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
});

test('udv watch shows a job while it runs', limit, async (t) => {
  const program = path.resolve(process.env.UDV ?? '');
  const begin = (...words) => {
    const child = spawn(program, words, {cwd: runs, stdio: ['ignore', 'pipe', 'inherit']});
    t.after(() => child.kill('SIGINT'));
    return child;
  };
  begin('complete', 'ratings.csv', '--polish', 'off', '--tolerance', '1e-300', '--max-iterations', '100000000', '--time-limit', '60', '--out', 'watched', '--force', '--quiet').stdout.resume();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const address = (await first_line(begin('watch', 'watched'))).trim().split(' ')[0];
  const page = await open_page(address, {height: 1000});
  await page.locator('.plot svg, .plot canvas').first().waitFor({timeout: 60_000});
  await settled(page);
  assert.match(await page.locator('body').innerText(), /iteration/);
  assert.deepEqual(page.trouble, []);
  await picture(page, {name: 'watch', title: 'A job while it runs', command: 'udv watch watched', text: 'Served on this machine alone, at an address with a random token; the page follows the run.'});
  await page.context().close();
});
