// SPDX-License-Identifier: MIT
// The frame around every chart: drawn when near the screen, saved as SVG and CSV, its numbers as a table on demand.
import type {View} from 'vega';
import {to_csv} from './csv';
import type {CsvCell} from './csv';
import {button, el, file_name, plain, save} from './dom';
import {forget, when_near} from './lazy';
import {number_text} from './numbers';
import {svg_file} from './svg_file';
import type {LegendEntry} from './svg_file';
import {on_theme} from './theme';
import {hide_tip} from './tooltip';
import {forget_labels, make_view} from './vega_view';
import type {Drawing} from './vega_view';

export interface ChartSource {
  title(): string;
  description(): string;
  draw(width: number): Drawing;
  // Total height at this width, known before anything is drawn, so that the page never jumps.
  height(width: number): number;
  numbers(): CsvCell[][];
  subtitle?(): string;
  legend?(): LegendEntry[];
  drawn?(view: View): void;
}

const most_rows_shown = 1000;
const charts = new Set<Chart>();

export class Chart {
  readonly element: HTMLElement;
  readonly plot: HTMLElement;
  readonly extras: HTMLElement;
  view: View | null = null;
  // For what stands outside the picture and changes with it, such as a legend.
  on_redraw: () => void = () => {};

  private readonly caption = el('figcaption');
  private readonly numbers = el('div', {class: 'scroller numbers', tabindex: 0, role: 'region', hidden: true});
  private readonly numbers_button: HTMLButtonElement;
  // Read aloud by the label of the plot, and by the numbers: not mark by mark.
  private readonly canvas = el('div', {class: 'plot-canvas', 'aria-hidden': 'true'});
  private drawing: Drawing | null = null;
  private drawn_width = 0;

  constructor(private readonly source: ChartSource, private readonly name: string) {
    this.plot = el('div', {class: 'plot', tabindex: 0, role: 'img', 'aria-roledescription': 'chart'}, this.canvas);
    this.extras = el('div', {class: 'chart-extras'});
    this.numbers_button = button('Numbers', {class: 'quiet', 'aria-expanded': 'false', title: 'Show the numbers as a table'},
      () => this.toggle_numbers());
    const tools = el('div', {class: 'tools'},
      button('SVG', {class: 'quiet', title: 'Save this chart as an SVG file'}, () => this.save_svg()),
      button('CSV', {class: 'quiet', title: 'Save the numbers as a CSV file'}, () => this.save_csv()),
      this.numbers_button);
    this.element = el('figure', {class: 'block chart'},
      el('div', {class: 'block-head'}, this.caption, tools), this.plot, this.extras, this.numbers);
    charts.add(this);
    // For tests and for the curious: the chart behind an element.
    (this.element as HTMLElement & {chart?: Chart}).chart = this;
    this.refresh_texts();
    this.wait();
    resize_observer.observe(this.plot);
  }

  // Call after the source has changed.
  redraw(): void {
    this.refresh_texts();
    this.on_redraw();
    if (!this.numbers.hidden) this.fill_numbers();
    if (this.view && on_screen(this.plot)) this.draw_now();
    else this.wait();
  }

  set_data(name: string, rows: object[]): void {
    if (this.drawing) this.drawing.data[name] = rows;
    this.view?.data(name, rows).run();
  }

  draw_now(): void {
    forget(this.plot);
    const width = this.plot.clientWidth;
    if (width === 0) return;
    this.drop_view();
    this.drawn_width = width;
    this.plot.style.minHeight = `${this.source.height(width)}px`;
    try {
      this.drawing = this.source.draw(width);
      this.view = make_view(this.drawing, this.canvas);
      this.source.drawn?.(this.view);
    } catch (error) {
      this.canvas.replaceChildren(el('p', {class: 'refusal'}, `This chart could not be drawn: ${plain(error)}`));
    }
  }

  resized(): void {
    if (this.view && Math.abs(this.plot.clientWidth - this.drawn_width) > 1 && this.plot.clientWidth > 0) this.redraw();
  }

  remove(): void {
    forget(this.plot);
    this.drop_view();
    resize_observer.unobserve(this.plot);
    charts.delete(this);
    this.element.remove();
  }

  private drop_view(): void {
    hide_tip();
    this.view?.finalize();
    this.view = null;
    if (this.drawing) forget_labels(this.drawing.spec);
    this.canvas.replaceChildren();
  }

  private wait(): void {
    this.plot.style.minHeight = `${this.source.height(this.plot.clientWidth || 600)}px`;
    when_near(this.plot, () => this.draw_now());
  }

  private refresh_texts(): void {
    this.caption.textContent = plain(this.source.title());
    this.caption.title = plain(this.source.title());
    this.plot.setAttribute('aria-label', plain(this.source.description()));
    this.numbers.setAttribute('aria-label', `Numbers of the chart ${plain(this.source.title())}`);
  }

  private async save_svg(): Promise<void> {
    if (!this.view) this.draw_now();
    if (!this.view) return;
    const drawn = await this.view.toSVG();
    const text = svg_file(drawn, this.source.title(), this.source.subtitle?.() ?? '', this.source.legend?.() ?? []);
    save(`${file_name(this.name, this.source.title())}.svg`, 'image/svg+xml', text);
  }

  private save_csv(): void {
    save(`${file_name(this.name, this.source.title())}.csv`, 'text/csv', to_csv(this.source.numbers()));
  }

  private toggle_numbers(): void {
    this.numbers.hidden = !this.numbers.hidden;
    this.numbers_button.setAttribute('aria-expanded', String(!this.numbers.hidden));
    if (!this.numbers.hidden) this.fill_numbers();
  }

  private fill_numbers(): void {
    const [head, ...rows] = this.source.numbers();
    const shown = rows.slice(0, most_rows_shown);
    const text = (cell: CsvCell) => (typeof cell === 'number' ? number_text(cell) : plain(cell));
    const table = el('table', {},
      el('thead', {}, el('tr', {}, ...head.map((cell) => el('th', {scope: 'col'}, text(cell))))),
      el('tbody', {}, ...shown.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, text(cell)))))));
    const note = rows.length > shown.length ? `The first ${shown.length} of ${rows.length} rows; the CSV file holds all.` : '';
    this.numbers.replaceChildren(table, ...(note ? [el('p', {class: 'muted'}, note)] : []));
  }
}

function on_screen(element: Element): boolean {
  const box = element.getBoundingClientRect();
  return box.bottom > -200 && box.top < innerHeight + 200;
}

const by_plot = (plot: Element) => [...charts].find((chart) => chart.plot === plot);
const resize_observer = new ResizeObserver((entries) => {
  // Drawing inside the observer's own callback would report the change it causes as a loop.
  requestAnimationFrame(() => entries.forEach((entry) => by_plot(entry.target)?.resized()));
});

export function redraw_charts(): void {
  for (const chart of charts) if (chart.element.isConnected) chart.redraw();
}

export function draw_all_charts_now(): void {
  for (const chart of charts) if (chart.element.isConnected) chart.draw_now();
}

on_theme(redraw_charts);
