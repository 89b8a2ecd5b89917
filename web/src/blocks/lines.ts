// SPDX-License-Identifier: MIT
// Lines over a common x axis, in one or more panels: objective, spectra, accuracy with live rank, pruning curves.
import type {View} from 'vega';
import {at_edge, axis_label, make_axis, place, position, scale_spec} from '../axis';
import type {Axis} from '../axis';
import {Chart} from '../chart';
import type {ChartSource} from '../chart';
import type {CsvCell} from '../csv';
import {plain} from '../dom';
import {Legend} from '../legend';
import {Nearest} from '../nearest';
import type {Spot} from '../nearest';
import {is_number, number_text} from '../numbers';
import {group_colours, palette} from '../palette';
import {inner_height, margins, panel_gap, panel_place, panel_title, total_height} from '../panels';
import type {LegendEntry} from '../svg_file';
import type {LinesBlock, LineSeries} from '../types';
import {label_expression} from '../vega_view';
import type {Drawing} from '../vega_view';
import type {BlockView} from './block';

// Series are known to the chart library by number only: names from files never become field names or expressions.
interface Row {
  s: number;
  x: number;
  y: number;
}

// A whole line, as the outline that SVG knows.
interface Outline {
  s: number;
  d: string;
}

// Above this number of single marks the picture is painted as pixels: so many elements would make the page slow.
const most_svg_marks = 4000;

interface Shown {
  index: number;
  panel: number;
  series: LineSeries;
}

class Lines implements ChartSource {
  readonly hidden = new Set<string>();
  private x_axis!: Axis;
  private y_axes: Axis[] = [];

  constructor(public block: LinesBlock, private readonly nearest: () => Nearest) {}

  title(): string {
    return plain(this.block.title);
  }

  private panel_names(): string[] {
    const names = this.block.series.map((series) => plain(series.panel));
    return names.every((name) => name) && names.length > 0 ? [...new Set(names)] : [...new Set(['', ...names])];
  }

  private shown(): Shown[] {
    const panels = this.panel_names();
    return this.block.series
      .map((series, index) => ({series, index, panel: panels.indexOf(plain(series.panel))}))
      .filter(({series}) => !this.hidden.has(plain(series.name)));
  }

  private panel_heights(width: number): number[] {
    const main = width < 460 ? 220 : 270;
    return this.panel_names().map((_, i) => (i === 0 ? main : 90));
  }

  height(width: number): number {
    return total_height(this.panel_heights(width));
  }

  private y_title(panel: number): string {
    return plain(this.panel_names()[panel]) || plain(this.block.y?.title);
  }

  description(): string {
    const {series, x, y} = this.block;
    const names = series.slice(0, 12).map((one) => plain(one.name)).join(', ');
    const more = series.length > 12 ? ` and ${series.length - 12} more` : '';
    return `Line chart ${this.title()}: ${plain(y?.title)} against ${plain(x?.title)}, ${series.length} series: ${names}${more}. ` +
      'Arrow keys read out points; the button Numbers shows them as a table.';
  }

  colours(): string[] {
    const {series} = this.block;
    const groups = [...new Set(series.map((one, i) => one.color ?? i))].sort((a, b) => a - b);
    const colours = group_colours(groups.length);
    // Few groups keep the colour of their number, so that one method has one colour in all charts of a report.
    const fixed = groups.every((group) => Number.isInteger(group) && group >= 0 && group < palette().series.length);
    return series.map((one, i) => (fixed ? palette().series[one.color ?? i] : colours[groups.indexOf(one.color ?? i)]));
  }

  entries(): LegendEntry[] {
    const colours = this.colours();
    return this.block.series.map((series, i) => ({name: plain(series.name), colour: colours[i], dash: Boolean(series.dash)}));
  }

  legend(): LegendEntry[] {
    return this.entries().filter((entry) => !this.hidden.has(entry.name));
  }

  numbers(): CsvCell[][] {
    const {x, y, series} = this.block;
    const with_panels = series.some((one) => one.panel);
    const with_bands = series.some((one) => one.band);
    const head = ['series', ...(with_panels ? ['panel'] : []), plain(x?.title) || 'x', with_panels ? 'value' : plain(y?.title) || 'y',
      ...(with_bands ? ['low', 'high'] : [])];
    const rows = series.flatMap((one) => {
      const bands = new Map((one.band ?? []).map(([at, low, high]) => [at, [low, high]]));
      return one.points.map(([at, value]): CsvCell[] => [plain(one.name), ...(with_panels ? [plain(one.panel) || plain(y?.title)] : []),
        at, value, ...(with_bands ? bands.get(at) ?? [null, null] : [])]);
    });
    return [head, ...rows];
  }

  draw(width: number): Drawing {
    const inner = Math.max(80, width - margins.left - margins.right);
    const heights = this.panel_heights(width);
    const shown = this.shown();
    this.x_axis = this.make_x_axis(shown, inner);
    this.y_axes = heights.map((height, panel) => this.make_y_axis(shown, panel, height));
    const data: Record<string, object[]> = {};
    const panels = heights.map((height, panel) => {
      this.fill_panel(data, shown.filter((one) => one.panel === panel), panel, inner, height);
      return this.panel_spec(data, panel, inner, height, panel === heights.length - 1);
    });
    const spec = {vconcat: panels, spacing: panel_gap, bounds: 'flush'};
    const marks = Object.entries(data).reduce((sum, [name, rows]) => sum + (/^(dots|zeros|cloud)/.test(name) ? rows.length : 0), 0);
    const paths = heights.flatMap((_, panel) => [`lines${panel}`, `steps${panel}`]);
    return {spec, data, width: inner, height: inner_height(heights), margins, renderer: marks > most_svg_marks ? 'canvas' : 'svg', paths};
  }

  private make_x_axis(shown: Shown[], inner: number): Axis {
    const values = shown.flatMap(({series}) => series.points.map(([x]) => x).filter(is_number));
    return make_axis(values, this.block.x?.scale ?? 'linear', inner / 62, this.block.points ? 0.02 : 0, Boolean(this.block.x?.whole));
  }

  private make_y_axis(shown: Shown[], panel: number, height: number): Axis {
    const own = shown.filter((one) => one.panel === panel);
    const values = own.flatMap(({series}) => [
      ...series.points.map(([, y]) => y), ...(series.band ?? []).flatMap(([, low, high]) => [low, high])]).filter(is_number);
    const rules = panel === 0 ? (this.block.rules ?? []).map((rule) => rule.y).filter(is_number) : [];
    const kind = panel === 0 ? this.block.y?.scale ?? 'linear' : 'linear';
    return make_axis([...values, ...rules], kind, Math.max(3, height / 34), 0.04);
  }

  private fill_panel(data: Record<string, object[]>, own: Shown[], panel: number, width: number, height: number): void {
    const lines: Outline[] = [];
    const steps: Outline[] = [];
    const dots: Row[] = [];
    const zeros: Row[] = [];
    const cloud: Row[] = [];
    const y_axis = this.y_axes[panel];
    for (const {series, index} of own) {
      const {points} = series;
      if (series.line !== false) (series.step ? steps : lines).push({s: index, d: this.outline(series, panel, width, height)});
      points.forEach(([x, y], i) => {
        if (!is_number(x) || !is_number(y)) return;
        const row = {s: index, x: place(this.x_axis, x), y: place(y_axis, y)};
        if (series.line === false) {
          cloud.push(row);
          return;
        }
        // A point between two gaps has no line; without a mark it would not be seen.
        const alone = !is_number(points[i - 1]?.[1]) && !is_number(points[i + 1]?.[1]);
        if (at_edge(y_axis, y) || at_edge(this.x_axis, x)) zeros.push(row);
        else if (this.block.points || alone) dots.push(row);
      });
    }
    Object.assign(data, {[`lines${panel}`]: lines, [`steps${panel}`]: steps, [`dots${panel}`]: dots, [`zeros${panel}`]: zeros, [`cloud${panel}`]: cloud});
    data[`bands${panel}`] = own.flatMap(({series, index}) => (series.band ?? [])
      .filter(([, low, high]) => is_number(low) && is_number(high))
      .map(([x, low, high]) => ({s: index, x: place(this.x_axis, x), y: place(y_axis, low as number), z: place(y_axis, high as number)})));
    data[`rules${panel}`] = panel === 0 ? (this.block.rules ?? []).map((rule) => ({y: place(y_axis, rule.y), t: plain(rule.text)})) : [];
    // A layer without rows costs as much as any; that of the lines holds the axes where there is nothing to draw.
    for (const name of Object.keys(data)) if (data[name].length === 0 && !name.startsWith('lines')) delete data[name];
  }

  // Points without a value break the line. Steps go on at the old value to the next x.
  private outline(series: LineSeries, panel: number, width: number, height: number): string {
    const y_axis = this.y_axes[panel];
    let before = '';
    let drawn = '';
    for (const [x, y] of series.points) {
      if (!is_number(x)) continue;
      if (!is_number(y)) {
        before = '';
        continue;
      }
      const at = position(this.x_axis, place(this.x_axis, x), width).toFixed(3);
      const level = (height - position(y_axis, place(y_axis, y), height)).toFixed(3);
      if (before && series.step) drawn += `L${at},${before}`;
      drawn += `${before ? 'L' : 'M'}${at},${level}`;
      before = level;
    }
    return drawn;
  }

  private panel_spec(data: Record<string, object[]>, panel: number, width: number, height: number, last: boolean): object {
    const [x_axis, y_axis] = [this.x_axis, this.y_axes[panel]];
    const {rule, background} = palette();
    const x_labels = {labelExpr: label_expression((value) => axis_label(x_axis, value)), labelFlush: true, labelOverlap: true};
    const x = {
      field: 'x', type: 'quantitative', scale: scale_spec(x_axis), title: last ? plain(this.block.x?.title) : null,
      axis: {values: x_axis.ticks, grid: false, titleLimit: width, ...(last ? x_labels : {labels: false})},
    };
    const y = {
      field: 'y', type: 'quantitative', scale: scale_spec(y_axis), title: null,
      axis: {values: y_axis.ticks, grid: true, labelExpr: label_expression((value) => axis_label(y_axis, value)), labelOverlap: true},
    };
    const ids = this.block.series.map((_, i) => i);
    const color = {field: 's', type: 'nominal', legend: null, scale: {domain: ids, range: this.colours()}};
    const dash = {
      field: 's', type: 'nominal', legend: null,
      scale: {domain: ids, range: this.block.series.map((series) => (series.dash ? [6, 4] : [1, 0]))},
    };
    const thin = ids.length > 40 ? 1.2 : 2;
    const outline = {type: 'point', filled: false, strokeWidth: thin, invalid: null};
    const line = {x, y, color, strokeDash: dash};
    const layer = (name: string, mark: object, encoding: object, id = `${name}${panel}`) => ({name: id, data: {name: `${name}${panel}`}, mark, encoding});
    const steps_only = this.block.series.every((series) => series.step || !series.band);
    const layers = [
      layer('bands', {type: 'area', opacity: 0.18, interpolate: steps_only ? 'step-after' : 'linear'}, {x, y, y2: {field: 'z'}, color, order: {value: null}}),
      layer('rules', {type: 'rule', strokeDash: [2, 3], strokeWidth: 1.5, color: rule}, {y}),
      layer('lines', outline, line),
      layer('steps', outline, line),
      layer('dots', {type: 'point', filled: true, size: 26, opacity: 1}, {x, y, color}),
      layer('zeros', {type: 'point', filled: false, fill: background, size: 34, strokeWidth: 1.6, opacity: 1}, {x, y, stroke: color}),
      layer('rules', {type: 'text', align: 'right', baseline: 'bottom', dy: -3, color: rule, fontSize: 11},
        {x: {value: width}, y, text: {field: 't'}}, `rule-texts${panel}`),
      layer('cloud', {type: 'point', filled: true, size: 14, opacity: 0.4}, {x, y, color}),
    ].filter(({data: {name}}) => name in data);
    return {width, height, title: panel_title(this.y_title(panel), width), layer: layers};
  }

  drawn(view: View): void {
    this.nearest().set(() => this.spots(view));
  }

  private spots(view: View): Spot[] {
    const width = view.width() + margins.left + margins.right;
    const heights = this.panel_heights(width);
    const places = heights.map((_, panel) => panel_place(view, heights, panel));
    const colours = this.colours();
    const x_title = plain(this.block.x?.title) || 'x';
    const spots: Spot[] = [];
    for (const {series, index, panel} of this.shown()) {
      const y_title = this.y_title(panel) || 'value';
      for (const [x, y] of series.points) {
        if (!is_number(x) || !is_number(y)) continue;
        spots.push({
          x: places[panel].x(place(this.x_axis, x)), y: places[panel].y(place(this.y_axes[panel], y)),
          series: index, colour: colours[index], heading: plain(series.name),
          lines: () => [[x_title, number_text(x)], [y_title, number_text(y)]],
        });
      }
    }
    return spots;
  }
}

function checked(block: LinesBlock): LinesBlock {
  const series = (block.series ?? []).map((one) => ({...one, points: one.points ?? []}));
  return {...block, series};
}

export function draw_lines(block: LinesBlock, name: string): BlockView {
  let nearest: Nearest;
  const source = new Lines(checked(block), () => nearest);
  const chart = new Chart(source, name);
  nearest = new Nearest(chart.plot);
  const legend = new Legend(source.hidden, () => chart.redraw());
  const fill_legend = () => {
    const entries = source.entries();
    // One line needs no name beside it.
    legend.set(entries.length > 1 && entries.some((entry) => entry.name) ? entries : []);
  };
  fill_legend();
  chart.extras.append(legend.element);
  chart.on_redraw = fill_legend;
  return {
    element: chart.element,
    update(next: LinesBlock) {
      source.block = checked(next);
      chart.redraw();
      return true;
    },
    remove: () => chart.remove(),
  };
}
