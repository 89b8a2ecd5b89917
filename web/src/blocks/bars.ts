// SPDX-License-Identifier: MIT
// Bars over time (column norms, d): one moment is drawn, chosen by a slider, played by a button. The scale is that of
// all times together, so a bar that shrinks is seen to shrink.
import {axis_label, make_axis, place, scale_spec} from '../axis';
import type {Axis} from '../axis';
import {Chart} from '../chart';
import type {ChartSource} from '../chart';
import type {CsvCell} from '../csv';
import {button, el, plain, reduced_motion} from '../dom';
import {is_number, number_text} from '../numbers';
import {palette} from '../palette';
import {inner_height, margins, panel_gap, panel_title, total_height} from '../panels';
import {hide_tip, show_tip} from '../tooltip';
import type {BarsBlock} from '../types';
import {label_expression} from '../vega_view';
import type {Drawing} from '../vega_view';
import type {BlockView} from './block';

interface Bar {
  j: number;
  v: number;
  zero: number;
}

const play_seconds = 8;

class Bars implements ChartSource {
  at: number;
  private axes: Axis[] = [];

  constructor(public block: BarsBlock) {
    this.at = Math.max(0, block.times.length - 1);
  }

  title(): string {
    return plain(this.block.title);
  }

  time_text(): string {
    return `${plain(this.block.time_title) || 'time'} ${number_text(this.block.times[this.at])}`;
  }

  subtitle(): string {
    return this.time_text();
  }

  description(): string {
    const {panels, times, x_title} = this.block;
    const names = panels.map((panel) => plain(panel.title)).join(', ');
    return `Bar chart ${this.title()}: ${names} for each ${plain(x_title) || 'column'}, at ${times.length} times; ` +
      'the slider below chooses the time. The button Numbers shows all values as a table.';
  }

  columns(): number {
    return Math.max(0, ...this.block.panels.flatMap((panel) => panel.values.map((row) => row.length)));
  }

  private heights(width: number): number[] {
    const one = this.block.panels.length > 1 ? 120 : 220;
    return this.block.panels.map(() => (width < 460 ? one * 0.85 : one));
  }

  height(width: number): number {
    return total_height(this.heights(width));
  }

  numbers(): CsvCell[][] {
    const {panels, times, time_title, x_title} = this.block;
    const head = [plain(time_title) || 'time', plain(x_title) || 'column', ...panels.map((panel) => plain(panel.title))];
    const rows = times.flatMap((time, t) => Array.from({length: this.columns()}, (_, j): CsvCell[] =>
      [time, j + 1, ...panels.map((panel) => panel.values[t]?.[j] ?? null)]));
    return [head, ...rows];
  }

  rows(panel: number): Bar[] {
    const axis = this.axes[panel];
    const zero = axis.kind === 'log' ? axis.domain[0] : 0;
    const values = this.block.panels[panel].values[this.at] ?? [];
    return values.flatMap((value, j) => (is_number(value) ? [{j: j + 1, v: place(axis, value), zero}] : []));
  }

  value(panel: number, j: number): number | null {
    return this.block.panels[panel]?.values[this.at]?.[j - 1] ?? null;
  }

  draw(width: number): Drawing {
    const inner = Math.max(80, width - margins.left - margins.right);
    const heights = this.heights(width);
    this.axes = this.block.panels.map((panel, i) => {
      const values = panel.values.flat().filter(is_number);
      const kind = panel.scale ?? 'linear';
      return make_axis(kind === 'log' ? values : [...values, 0], kind, Math.max(3, heights[i] / 34), 0.04);
    });
    const data = Object.fromEntries(this.block.panels.map((_, i) => [`bars${i}`, this.rows(i) as object[]]));
    const panels = heights.map((height, i) => this.panel_spec(i, inner, height, i === heights.length - 1));
    return {spec: {vconcat: panels, spacing: panel_gap, bounds: 'flush'}, data, width: inner, height: inner_height(heights), margins};
  }

  private panel_spec(panel: number, width: number, height: number, last: boolean): object {
    const axis = this.axes[panel];
    const count = this.columns();
    const stride = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => (count / step) * 26 <= width) ?? 1000;
    const columns = Array.from({length: count}, (_, i) => i + 1);
    const ticks = columns.filter((j) => j % stride === 0 || (j === 1 && stride >= 5));
    const x = {
      field: 'j', type: 'ordinal', scale: {domain: columns, paddingInner: 0.18, paddingOuter: 0.1},
      title: last ? plain(this.block.x_title) : null,
      axis: {values: ticks, titleLimit: width, labelAngle: 0, ticks: false, labels: last, labelOverlap: true},
    };
    const y = {
      field: 'v', type: 'quantitative', scale: scale_spec(axis), title: null,
      axis: {values: axis.ticks, grid: true, labelExpr: label_expression((value) => axis_label(axis, value)), labelOverlap: true},
    };
    const color = palette().series[panel % palette().series.length];
    return {
      width, height, title: panel_title(plain(this.block.panels[panel].title), width), data: {name: `bars${panel}`},
      mark: {type: 'bar', color}, encoding: {x, y, y2: {field: 'zero'}},
    };
  }
}

function checked(block: BarsBlock): BarsBlock {
  return {...block, times: block.times ?? [], panels: (block.panels ?? []).map((panel) => ({...panel, values: panel.values ?? []}))};
}

class Player {
  readonly element: HTMLElement;
  private readonly slider = el('input', {type: 'range', min: 0, step: 1});
  private readonly output = el('output', {class: 'time'});
  private readonly play_button: HTMLButtonElement;
  private timer = 0;

  constructor(private readonly source: Bars, private readonly moved: () => void) {
    this.play_button = button('Play', {class: 'quiet play'}, () => (this.timer ? this.stop() : this.play()));
    this.slider.addEventListener('input', () => {
      this.stop();
      this.go(Number(this.slider.value));
    });
    this.element = el('div', {class: 'player'}, this.play_button, this.slider, this.output);
    this.refresh();
  }

  refresh(): void {
    const {block, at} = this.source;
    this.slider.max = String(Math.max(0, block.times.length - 1));
    this.slider.value = String(at);
    this.slider.setAttribute('aria-label', plain(block.time_title) || 'time');
    this.slider.setAttribute('aria-valuetext', this.source.time_text());
    this.output.textContent = this.source.time_text();
    this.element.hidden = block.times.length < 2;
  }

  go(index: number): void {
    this.source.at = Math.min(Math.max(0, index), this.source.block.times.length - 1);
    this.refresh();
    this.moved();
  }

  stop(): void {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.play_button.textContent = 'Play';
  }

  private play(): void {
    const last = this.source.block.times.length - 1;
    if (this.source.at >= last) this.go(0);
    const first = this.source.at;
    // Who asked for little motion gets at most two pictures a second.
    const step_ms = Math.max((play_seconds * 1000) / (last + 1), reduced_motion() ? 500 : 30);
    this.play_button.textContent = 'Pause';
    let start = 0;
    const frame = (now: number) => {
      start ||= now;
      const index = Math.min(last, first + Math.floor((now - start) / step_ms));
      if (index !== this.source.at) this.go(index);
      if (index >= last || !this.element.isConnected) this.stop();
      else this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }
}

export function draw_bars(block: BarsBlock, name: string): BlockView {
  const source = new Bars(checked(block));
  const chart = new Chart(source, name);
  const player = new Player(source, () => {
    if (chart.view) source.block.panels.forEach((_, i) => chart.set_data(`bars${i}`, source.rows(i)));
  });
  chart.extras.append(player.element);
  follow_pointer(chart, source);
  chart.plot.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step || event.target !== chart.plot) return;
    event.preventDefault();
    player.stop();
    player.go(source.at + step);
  });
  return {
    element: chart.element,
    update(next: BarsBlock) {
      // Who looks at the newest time keeps looking at the newest; who chose another keeps that one.
      const newest = source.at >= source.block.times.length - 1;
      source.block = checked(next);
      const last = Math.max(0, source.block.times.length - 1);
      source.at = newest ? last : Math.min(source.at, last);
      player.refresh();
      chart.redraw();
      return true;
    },
    remove() {
      player.stop();
      chart.remove();
    },
  };
}

// The column under the pointer, at any height: thin or empty bars would be hard to hit.
function follow_pointer(chart: Chart, source: Bars): void {
  chart.plot.addEventListener('pointermove', (event) => {
    const box = chart.plot.getBoundingClientRect();
    const inner = box.width - margins.left - margins.right;
    const j = Math.floor(((event.clientX - box.left - margins.left) / inner) * source.columns()) + 1;
    if (j < 1 || j > source.columns() || source.block.times.length === 0) return hide_tip();
    const values = source.block.panels.map((panel, i): [string, string] => [plain(panel.title), number_text(source.value(i, j))]);
    const heading = `${plain(source.block.x_title) || 'column'} ${j}, ${source.time_text()}`;
    return show_tip(event.clientX, event.clientY, heading, values);
  });
  chart.plot.addEventListener('pointerleave', hide_tip);
}
