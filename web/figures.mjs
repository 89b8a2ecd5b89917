// SPDX-License-Identifier: MIT
// node figures.mjs REPORT.html OUTDIR: saves charts of a reproduction as SVG files, with the page's own button, for the docs.
import {mkdir} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const figures = [
  {section: 'fig1-stepsize', title: 'Objective', file: 'fig1-objective.svg'},
  {section: 'fig1-stepsize', title: 'Singular values (solid: UDU, dashed: BM)', file: 'fig1-spectra.svg'},
  {section: 'sm-ufv', title: 'Singular values, learning rate 0.01', file: 'hpart-spectra.svg'},
];

const [report, out] = process.argv.slice(2);
if (!report || !out) throw new Error('usage: node figures.mjs REPORT.html OUTDIR');
await mkdir(out, {recursive: true});
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox']});
const page = await (await browser.newContext({viewport: {width: 1280, height: 900}, colorScheme: 'light'})).newPage();
await page.goto(pathToFileURL(path.resolve(report)).href);
for (const {section, title, file} of figures) {
  const chart = page.locator(`[id="s-${section}"] figure.chart`).filter({hasText: title}).first();
  await chart.scrollIntoViewIfNeeded();
  await chart.locator('.plot svg, .plot canvas').first().waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), chart.getByRole('button', {name: 'SVG'}).click()]);
  await download.saveAs(path.join(out, file));
}
await browser.close();
