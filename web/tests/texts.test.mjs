// SPDX-License-Identifier: MIT
// The small functions behind numbers, file names, CSV and axes, without a browser.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import * as esbuild from 'esbuild';

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'src');

async function load(file) {
  const built = await esbuild.build({entryPoints: [path.join(source, file)], bundle: true, write: false, format: 'esm', platform: 'neutral'});
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString('base64')}`);
}

test('ticks show powers of ten with superscripts', async () => {
  const {log_tick_text, number_text, tick_text} = await load('numbers.ts');
  assert.equal(log_tick_text(1e-16, 1e-18, 1), '10\u207b\u00b9\u2076');
  assert.equal(log_tick_text(100, 1, 1000), '100');
  assert.equal(tick_text(-0.25), '\u22120.25');
  assert.equal(tick_text(20000), '20,000');
  assert.equal(number_text(3.14159265e-16), '3.1416e-16');
  assert.equal(number_text(0), '0');
  assert.equal(number_text(null), 'none');
});

test('a log axis keeps a place for zero below the smallest positive value', async () => {
  const {axis_label, make_axis, place} = await load('axis.ts');
  const axis = make_axis([1, 1e-15, 0, 0], 'log', 6, 0.04);
  assert.ok(place(axis, 0) < 1e-15 && place(axis, 0) > 0);
  assert.equal(place(axis, 1e-15), 1e-15);
  assert.equal(axis_label(axis, axis.ticks[0]), '0');
});

test('every axis has finite ends and at least two ticks', async () => {
  const {make_axis} = await load('axis.ts');
  for (const kind of ['linear', 'log', 'symlog']) {
    for (const values of [[], [0], [1], [-1], [5, 5], [1e-300, 1e300], [-3, 7], [0, 2401], [1e-320], [1.01, 1.02]]) {
      const axis = make_axis(values, kind, 5, 0.04);
      const what = `${kind} ${values}: ${JSON.stringify(axis)}`;
      assert.ok(axis.domain.every(Number.isFinite) && axis.domain[0] < axis.domain[1], what);
      assert.ok(axis.ticks.length >= 2 && axis.ticks.length < 20 && axis.ticks.every(Number.isFinite), what);
    }
  }
});

test('an axis of ranks has ticks at whole numbers only', async () => {
  const {make_axis} = await load('axis.ts');
  for (const values of [[3], [0, 1], [0, 1, 2, 3], [1, 4], [0, 37], [0, 2500]]) {
    const {ticks} = make_axis(values, 'linear', 6, 0.02, true);
    assert.ok(ticks.length >= 2 && ticks.every(Number.isInteger), `${values}: ${ticks}`);
  }
});

test('cells that would run as formulas are made harmless, numbers stay numbers', async () => {
  const {to_csv} = await load('csv.ts');
  assert.equal(to_csv([['=1+1', '@x', '-x', '-1.5e-3', -2, null]]), "'=1+1,'@x,'-x,-1.5e-3,-2,\n");
  assert.equal(to_csv([['a,b', 'say "x"', 'two\nlines']]), '"a,b","say ""x""","two\nlines"\n');
});

test('file names are safe and texts hold only what XML allows', async () => {
  const {file_name, plain} = await load('dom.ts');
  assert.equal(file_name('../../etc', '<script>'), 'etc-script');
  assert.equal(file_name('\u202e'), 'chart');
  assert.ok(file_name('W'.repeat(300)).length <= 60);
  assert.equal(plain('a\u0000\ud800b\ud83d\ude00'), 'a\ufffd\ufffdb\ud83d\ude00');
});
