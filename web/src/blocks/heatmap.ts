// SPDX-License-Identifier: MIT
// A table of numbers as colours: ranks by layer and part of the network.
import {Chart} from '../chart';
import type {ChartSource} from '../chart';
import type {CsvCell} from '../csv';
import {el, plain} from '../dom';
import {is_number, number_text, tick_text} from '../numbers';
import {ink_on, palette, ramp_colour} from '../palette';
import {hide_tip, show_tip} from '../tooltip';
import type {HeatmapBlock} from '../types';
import {label_expression} from '../vega_view';
import type {Drawing, Margins} from '../vega_view';
import type {BlockView} from './block';

const most_texts = 160;

class Heatmap implements ChartSource {
  constructor(public block: HeatmapBlock) {}

  title(): string {
    return plain(this.block.title);
  }

  description(): string {
    const {x, y, x_title, y_title, value_title} = this.block;
    return `Heat map ${this.title()}: ${plain(value_title) || 'value'} for ${y.length} rows (${plain(y_title)}) and ${x.length} columns ` +
      `(${plain(x_title)}). The button Numbers shows the values as a table.`;
  }

  subtitle(): string {
    const {low, high} = this.range();
    return `${plain(this.block.value_title) || 'value'} from ${number_text(low)} to ${number_text(high)}`;
  }

  numbers(): CsvCell[][] {
    const {x, y, values, y_title} = this.block;
    return [[plain(y_title), ...x.map(plain)], ...y.map((name, i): CsvCell[] => [plain(name), ...x.map((_, j) => values[i]?.[j] ?? null)])];
  }

  range(): {low: number; high: number} {
    const known = this.block.values.flat().filter(is_number);
    return {low: known.reduce((a, b) => Math.min(a, b), Infinity), high: known.reduce((a, b) => Math.max(a, b), -Infinity)};
  }

  colour(value: number): string {
    const {low, high} = this.range();
    return ramp_colour(palette().ramp, high > low ? (value - low) / (high - low) : 0.5);
  }

  margins(width: number): Margins {
    const longest = Math.max(0, ...this.block.y.map((name) => plain(name).length));
    return {left: Math.min(22 + 6.4 * longest, width * 0.4), right: 12, top: this.block.y_title ? 28 : 10, bottom: 46};
  }

  private cell_height(): number {
    return Math.min(34, Math.max(12, 300 / Math.max(1, this.block.y.length)));
  }

  height(width: number): number {
    const {top, bottom} = this.margins(width);
    return this.block.y.length * this.cell_height() + top + bottom;
  }

  // The cell at a place of the plot, or null outside.
  cell(x: number, y: number, width: number): [row: number, column: number] | null {
    const {left, right, top} = this.margins(width);
    const column = Math.floor(((x - left) / (width - left - right)) * this.block.x.length);
    const row = Math.floor((y - top) / this.cell_height());
    return row >= 0 && row < this.block.y.length && column >= 0 && column < this.block.x.length ? [row, column] : null;
  }

  draw(width: number): Drawing {
    const frame = this.margins(width);
    const inner = Math.max(60, width - frame.left - frame.right);
    const height = this.block.y.length * this.cell_height();
    const cells = this.block.values.flatMap((row, i) => row.flatMap((value, j) => {
      if (!is_number(value)) return [];
      const c = this.colour(value);
      return [{i, j, c, k: ink_on(c), t: tick_text(Number(value.toPrecision(3)))}];
    }));
    const data = {cells, texts: this.cells_hold_text(inner) ? cells : []};
    return {spec: this.spec(inner, height, frame), data, width: inner, height, margins: frame};
  }

  private cells_hold_text(inner: number): boolean {
    const longest = Math.max(0, ...this.block.values.flat().filter(is_number).map((value) => tick_text(Number(value.toPrecision(3))).length));
    return this.block.x.length * this.block.y.length <= most_texts && inner / this.block.x.length > 8 + 6.5 * longest;
  }

  private spec(inner: number, height: number, frame: Margins): object {
    const names = (list: string[], limit: number) => ({
      labelExpr: label_expression((i) => plain(list[i])), labelLimit: limit, titleLimit: inner, labelOverlap: true, labelAngle: 0, domain: false, ticks: false,
    });
    const {missing} = palette();
    const x = {
      field: 'j', type: 'ordinal', scale: {domain: this.block.x.map((_, j) => j), paddingInner: 0.04}, title: plain(this.block.x_title),
      axis: names(this.block.x, Math.max(40, inner / Math.max(1, this.block.x.length))),
    };
    const y = {
      field: 'i', type: 'ordinal', scale: {domain: this.block.y.map((_, i) => i), paddingInner: 0.06}, title: null,
      axis: names(this.block.y, frame.left - 14),
    };
    return {
      title: {text: plain(this.block.y_title), dx: 8 - frame.left, limit: inner}, width: inner, height, view: {fill: missing},
      layer: [
        {data: {name: 'cells'}, mark: {type: 'rect', cornerRadius: 2}, encoding: {x, y, color: {field: 'c', type: 'nominal', scale: null}}},
        {data: {name: 'texts'}, mark: {type: 'text', fontSize: 11},
          encoding: {x, y, text: {field: 't'}, color: {field: 'k', type: 'nominal', scale: null}}},
      ],
    };
  }
}

function checked(block: HeatmapBlock): HeatmapBlock {
  return {...block, x: block.x ?? [], y: block.y ?? [], values: block.values ?? []};
}

export function draw_heatmap(block: HeatmapBlock, name: string): BlockView {
  const source = new Heatmap(checked(block));
  const chart = new Chart(source, name);
  chart.plot.addEventListener('pointermove', (event) => {
    const box = chart.plot.getBoundingClientRect();
    const found = source.cell(event.clientX - box.left, event.clientY - box.top, box.width);
    if (!found) return hide_tip();
    const [row, column] = found;
    const {x, y, x_title, values, value_title} = source.block;
    return show_tip(event.clientX, event.clientY, plain(y[row]),
      [[plain(x_title) || 'column', plain(x[column])], [plain(value_title) || 'value', number_text(values[row]?.[column])]]);
  });
  chart.plot.addEventListener('pointerleave', hide_tip);
  const {scale, refresh} = colour_scale(source);
  chart.extras.append(scale);
  chart.on_redraw = refresh;
  return {
    element: chart.element,
    update(next: HeatmapBlock) {
      source.block = checked(next);
      chart.redraw();
      return true;
    },
    remove: () => chart.remove(),
  };
}

function colour_scale(source: Heatmap): {scale: HTMLElement; refresh: () => void} {
  const scale = el('div', {class: 'colour-scale'});
  const refresh = () => {
    const {low, high} = source.range();
    const bar = el('span', {class: 'colour-bar', 'aria-hidden': 'true'});
    bar.style.background = `linear-gradient(to right, ${palette().ramp.join(', ')})`;
    scale.replaceChildren(el('span', {}, plain(source.block.value_title)), el('b', {}, number_text(low)), bar, el('b', {}, number_text(high)));
    scale.hidden = !(low <= high);
  };
  refresh();
  return {scale, refresh};
}
