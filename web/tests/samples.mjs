// SPDX-License-Identifier: MIT
// Reports made by code, used by the tests; `npm run samples` writes them as pages into tests/out/ to be looked at.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {png_uri} from './png.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

// A small generator with a fixed seed, so that every run tests the same page.
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const round = (value) => Number(value.toPrecision(6));
const log_times = (count, last) => [0, ...new Set(Array.from({length: count}, (_, i) => Math.round(last ** (i / (count - 1)))))];

function objective(rate, floor, noise) {
  const draw = random(7);
  return log_times(120, 10000).map((t) => [t, round(Math.max(floor, 40 * (1 + t * 0.02) ** -rate) * (1 + noise * draw()))]);
}

const steps = [1, 0.1, 0.01];

function completion() {
  const objectives = steps.flatMap((step, i) => [
    {name: `udu, step ${step}`, color: i, points: objective(3.2 - 0.6 * i, 1e-18 * 10 ** i, 0.3)},
    {name: `bm, step ${step}`, color: i, dash: true, points: objective(1.4 - 0.2 * i, 1e-9, 0.3)},
  ]);
  const spectra = steps.flatMap((step, i) => [
    {name: `udu, step ${step}`, color: i, points: Array.from({length: 20}, (_, k) => [k + 1, k < 3 ? round(3 - k * 0.8) : k < 6 ? 3e-16 * (i + 1) : 0])},
    {name: `bm, step ${step}`, color: i, dash: true, points: Array.from({length: 20}, (_, k) => [k + 1, k < 3 ? round(2.9 - k * 0.8) : round(1e-3 * 0.6 ** (k - 3 + i))])},
  ]);
  return {
    id: 'fig1-stepsize', title: 'Completion, step sizes', where: 'Figure 1, left', status: 'seen', open: true,
    claim: 'With the constraint on the norms of the columns, gradient descent ends at a matrix of the right rank for every step size; without it, small singular values remain.',
    rule: 'Seen when the fourth singular value of udu is at most 1e-10 of the first for every step size, and that of bm is not.',
    checks: [
      {name: '\u03c3\u2084/\u03c3\u2081 of udu, \u03b7 = 0.1', ours: '2e-16', wanted: '\u2264 1e-10', paper: '0', ok: true},
      {name: '\u03c3\u2084/\u03c3\u2081 of bm, \u03b7 = 0.1', ours: '3.4e-4', wanted: '> 1e-10', paper: '1e-3', ok: true},
      {name: 'objective of udu at the end', ours: '1.2e-17', wanted: '\u2264 1e-12', paper: '1e-16', ok: true},
    ],
    blocks: [
      {kind: 'lines', title: 'Objective', x: {title: 'iteration', scale: 'log'}, y: {title: 'objective', scale: 'log'}, series: objectives},
      {kind: 'lines', title: 'Singular values at the end', x: {title: 'index', scale: 'linear'}, y: {title: 'singular value', scale: 'log'}, series: spectra, points: true},
      bars_over_time(20, 60),
      {kind: 'facts', title: 'Settings', items: [['problem', 'completion, n = 60, rank 3'], ['observed', '900 of 3600 entries'], ['seed', '1'], ['columns of U', '60'], ['machine', '2 cores, Debian 12'], ['time', '3.4 s']]},
    ],
  };
}

function bars_over_time(columns, count) {
  const times = log_times(count, 10000);
  const last = Math.log(10001);
  const norms = times.map((t) => Array.from({length: columns}, (_, j) => round(j < 3 ? 0.4 + (0.6 - 0.15 * j) * (Math.log(t + 1) / last) : 0.4 * Math.exp(-t / (20 + 60 * (j % 7))))));
  const d = times.map((t) => Array.from({length: columns}, (_, j) => round((j < 3 ? 1.5 - 0.4 * j : (j % 2 ? -1 : 1) * 0.6 * Math.exp(-t / (30 + 90 * (j % 5)))))));
  return {kind: 'bars', title: 'Columns of U and D over time', times, time_title: 'iteration', x_title: 'column',
    panels: [{title: '\u2016u_j\u2016', scale: 'linear', values: norms}, {title: 'd_j', scale: 'linear', values: d}]};
}

function training() {
  const draw = random(3);
  const epochs = Array.from({length: 41}, (_, i) => i);
  const accuracy = (top, speed) => epochs.map((e) => [e, round(top - (top - 0.1) * Math.exp(-e / speed) + 0.004 * (draw() - 0.5))]);
  const rank = (start, end) => epochs.map((e) => [e, Math.max(end, Math.round(start * Math.exp(-e / 6)))]);
  return {
    id: 'fig5-training', title: 'Training without being told the rank', where: 'Figure 5', status: 'seen', open: true,
    claim: 'The accuracy climbs in steps while the live rank falls.',
    rule: 'Seen when the accuracy at the end is within one percent of the dense network and the live rank is below half of the start.',
    checks: [{name: 'accuracy, udv', ours: '97.4 %', wanted: '\u2265 96.6 %', paper: '97.8 %', ok: true}, {name: 'live rank at the end', ours: '11', wanted: '\u2264 64', ok: true}],
    blocks: [
      {kind: 'lines', title: 'Accuracy and live rank', x: {title: 'epoch', scale: 'linear'}, y: {title: 'test accuracy', scale: 'linear'}, panels: true, series: [
        {name: 'udv', color: 0, step: true, points: accuracy(0.974, 5), band: accuracy(0.974, 5).map(([e, a]) => [e, round(a - 0.012), round(a + 0.01)])},
        {name: 'dense', color: 1, dash: true, step: true, points: accuracy(0.976, 3)},
        {name: 'udv, live rank', color: 0, step: true, panel: 'live rank', points: rank(128, 11)},
      ]},
      {kind: 'heatmap', title: 'Rank by layer and part', x_title: 'layer', y_title: 'part', value_title: 'rank',
        x: Array.from({length: 12}, (_, i) => String(i)), y: ['query', 'key', 'value', 'output', 'up', 'down'],
        values: Array.from({length: 6}, (_, i) => Array.from({length: 12}, (_, j) => (i === 3 && j === 7 ? null : Math.round(4 + 30 * Math.abs(Math.sin(i + j / 3))))))},
    ],
  };
}

function pruning() {
  const curve = (from, steep) => Array.from({length: 24}, (_, i) => [round(1 - i / 24), round(1e-6 + from * Math.exp(steep * (i / 24)) * 1e-5)]);
  return {
    id: 'fig7-pruning', title: 'Pruning after training', where: 'Figure 7', status: 'not seen', open: true,
    claim: 'Most columns can be removed before the loss grows by 0.1 %.',
    rule: 'Seen when at least 80 % of the parameters can be removed below the 0.1 % line.',
    checks: [{name: 'parameters kept at 0.1 %', ours: '0.31', wanted: '\u2264 0.2', paper: '0.15', ok: false}],
    blocks: [
      {kind: 'lines', title: 'Growth of the loss by part of parameters kept', x: {title: 'part of the parameters kept', scale: 'linear'}, y: {title: 'relative growth of the loss', scale: 'log'},
        rules: [{y: 0.001, text: '0.1 %'}], points: true,
        series: [{name: 'udv', color: 0, points: curve(1, 7)}, {name: 'udv, no constraint', color: 1, points: curve(3, 8)}, {name: 'dense, by magnitude', color: 2, dash: true, points: curve(20, 9)}]},
      {kind: 'table', title: 'Test error by variant and optimiser', columns: ['variant', 'sgd 1e-2', 'adam 1e-3', 'adam 1e-4', 'parameters'], rows: [
        ['udv', {text: '1.2e-3', best: true, paper: '1.3e-3'}, {text: '2.1e-3', paper: '1.9e-3'}, '4.0e-3', '12 044'],
        ['udv, no constraint', '9.1e-3', {text: '1.7e-3', best: true, paper: '1.9e-3'}, {text: '3.1e-3', best: true}, '98 120'],
        ['bm', {text: '3.3e-2', paper: '2.9e-2'}, '8.8e-3', '\u2013', '98 000'],
        ['dense', '2.0e-3', '2.2e-3', '5.5e-3', '1 060 000'],
      ]},
    ],
  };
}

function scene(x, y) {
  return 0.5 + 0.5 * Math.sin(x / 5) * Math.cos(y / 7) * (Math.hypot(x - 32, y - 32) < 24 ? 1 : 0.2);
}

function pictures() {
  const draw = random(11);
  const noisy = (level) => png_uri(64, 64, (x, y) => scene(x, y) + level * (draw() - 0.5));
  return {
    id: 'fig9-images', title: 'Picture from few measurements', where: 'Figure 9', status: 'seen', open: true,
    claim: 'The picture is recovered from a fifth of its measurements.',
    blocks: [
      {kind: 'compare', title: 'Before and after', before: {caption: 'after 10 iterations', src: noisy(1.6), pixelated: true}, after: {caption: 'at the end', src: noisy(0.05), pixelated: true}},
      {kind: 'text', title: 'How to read this', text: 'Drag the handle, or use the arrow keys.\n\nThe left picture was taken after ten iterations, the right one at the end.'},
      {kind: 'pictures', title: 'Snapshots', items: [0, 10, 100, 1000, 3000, 10000].map((t, i) => ({caption: `iteration ${t}`, src: noisy(2 / (1 + i * i)), pixelated: true}))},
    ],
  };
}

function not_run() {
  return {
    id: 'tab3-large', title: 'Large language model, low-rank adapters', where: 'Table 3', status: 'not run', open: false,
    claim: 'The same holds for adapters of a large model.', note: 'not run: needs a machine with 80 GB of accelerator memory.',
    blocks: [{kind: 'lines', title: 'Loss of the small stand-in', x: {title: 'step', scale: 'symlog'}, y: {title: 'loss', scale: 'linear'},
      series: [{name: 'udv', color: 0, points: Array.from({length: 50}, (_, i) => [i * i, i % 17 === 5 ? null : round(3 * Math.exp(-i / 20) + 0.4)])}]}],
  };
}

export function realistic() {
  const sections = [completion(), training(), pruning(), pictures(), not_run()];
  return {
    format: 1, title: 'udv reproduce all --quick', udv: '0.1.0', made: '2026-01-31 12:00',
    summary: ['Three of four claims that were tried were seen; one was not, by a small margin.', 'One claim needs a larger machine and was not run.', 'All numbers were made in 42 seconds on two cores.'],
    counts: {'seen': 3, 'not seen': 1, 'not run': 1}, sections,
  };
}

export const hostile_texts = [
  '<script>window.hacked = 1</script>', '</script><script>window.hacked = 2</script>', '"><img src=x onerror="window.hacked = 3">', `'"\`\\ &amp; <b>bold</b>`,
  'W'.repeat(300), '\u202egnp.elif\u202c\u200f', "datum['x']", "{{7*7}} ${7*7} + alert(1)", '=HYPERLINK("http://example.com","x")', '@SUM(1+1)', 'nul\u0000\u0001\ud800 end',
  '__proto__', 'constructor', 'signal: width', '<!--', ']]>',
];

export function hostile() {
  const [script, closing, image, quotes, long, rtl, datum, braces] = hostile_texts;
  const series = hostile_texts.map((name, i) => ({name, color: i, points: [[1, i + 1], [2, i + 2], [3, i + 1.5]]}));
  return {
    format: 1, title: script, udv: closing, made: image, summary: hostile_texts.slice(0, 8), counts: {'seen': 1, '<b>odd</b>': 1},
    sections: [
      {id: '../../<script>', title: closing, where: long, status: 'seen', claim: quotes, rule: rtl, note: image,
        checks: [{name: script, ours: image, wanted: datum, paper: braces, ok: true}],
        blocks: [
          {kind: 'lines', title: script, x: {title: datum, scale: 'linear'}, y: {title: closing, scale: 'log'}, series, rules: [{y: 3, text: "datum['y']<script>"}]},
          {kind: 'lines', title: long, x: {title: long}, y: {title: long}, panels: true, series: [{name: long, points: [[0, 1], [1, 2]]}, {name: '__proto__', panel: datum, points: [[0, 1], [1, 2]]}]},
          {kind: 'table', title: image, columns: [script, long, '=1+1'], rows: [[long, {text: script, best: true, paper: image}, '=cmd|x'], ['-1.5', '-x', rtl]]},
          {kind: 'bars', title: datum, times: [0, 1], time_title: script, x_title: closing, panels: [{title: braces, values: [[1, 2], [2, 1]]}, {title: long, scale: 'log', values: [[1, 0], [0.1, 0]]}]},
          {kind: 'heatmap', title: quotes, x_title: script, y_title: datum, value_title: image, x: [script, datum], y: [long, rtl], values: [[1, 2], [3, null]]},
          {kind: 'facts', title: script, items: hostile_texts.map((text) => [text, text])},
          {kind: 'pictures', title: script, items: [{caption: script, src: 'http://example.com/x.png'}, {caption: image, src: 'javascript:alert(1)'}]},
          {kind: 'compare', title: script, before: {caption: script, src: 'x'}, after: {caption: image, src: '" onerror="alert(1)'}},
          {kind: 'text', title: closing, text: hostile_texts.join('\n\n')},
          {kind: '<b>unknown</b>', title: script},
          {kind: 'lines', title: 'nothing inside'}, {kind: 'bars'}, {kind: 'heatmap'}, {kind: 'table'}, {kind: 'facts'}, {kind: 'pictures'}, {kind: 'compare'}, {kind: 'text'}, null,
        ]},
      {id: '../../<script>', title: 'the same id again', status: '<b>odd</b>', open: false, blocks: []},
      {id: '__proto__', title: long},
    ],
  };
}

// 200 runs, 200 points each: one chart of all runs, and a section for each.
export function many_runs(runs = 200, points = 200) {
  const draw = random(5);
  const series = Array.from({length: runs}, (_, r) => {
    const [rate, floor] = [0.5 + 2 * draw(), 10 ** (-4 - 10 * draw())];
    return {name: `run-${String(r).padStart(3, '0')}`, color: r,
      points: Array.from({length: points}, (_, i) => {
        const t = Math.round(10 ** (5 * (i / (points - 1))));
        return [t, round(Math.max(floor, 10 * t ** -rate) * (1 + 0.1 * draw()))];
      })};
  });
  const axes = {x: {title: 'iteration', scale: 'log'}, y: {title: 'objective', scale: 'log'}};
  const sections = series.map((one, r) => ({
    id: one.name, title: one.name, where: `udv-runs/${one.name}`, status: r % 9 === 4 ? 'not seen' : 'seen', open: r < 100,
    blocks: [{kind: 'lines', title: 'Objective', ...axes, series: [{...one, color: 0}]},
      {kind: 'lines', title: 'Live rank', x: axes.x, y: {title: 'rank', scale: 'linear'}, series: [{name: 'rank', step: true, points: one.points.map(([t]) => [t, Math.max(3, Math.round(60 / (1 + t / 50)))])}]}],
  }));
  return {format: 1, title: 'udv report, 200 runs', udv: '0.1.0', made: '2026-01-31 12:00', summary: [`${runs} runs.`],
    sections: [{id: 'all', title: 'All runs together', blocks: [{kind: 'lines', title: 'Objective of all runs', ...axes, series},
      {kind: 'table', title: 'All runs', columns: ['run', 'objective at the end'], rows: series.map((one) => [one.name, String(one.points.at(-1)[1])])}]}, ...sections]};
}

export function page_of(report, template = readFileSync(path.join(here, '..', 'dist', 'report.html'), 'utf8')) {
  const json = JSON.stringify(report).replace(/</g, '\\u003c');
  return template.replace('__UDV_REPORT__', () => json);
}

export function write_page(name, report) {
  const folder = path.join(here, 'out');
  mkdirSync(folder, {recursive: true});
  const file = path.join(folder, `${name}.html`);
  writeFileSync(file, page_of(report));
  return file;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, report] of Object.entries({realistic: realistic(), hostile: hostile(), many: many_runs()})) console.log(write_page(name, report));
}
