// SPDX-License-Identifier: MIT
// A chart as an SVG file of its own: what is drawn, with the title above and the legend below.
import {plain, svg} from './dom';
import {palette} from './palette';
import {font} from './vega_view';

export interface LegendEntry {
  name: string;
  colour: string;
  dash: boolean;
}

const row_height = 18;

export function svg_file(drawn: string, title: string, subtitle: string, entries: LegendEntry[]): string {
  const chart = new DOMParser().parseFromString(drawn, 'image/svg+xml').documentElement;
  const width = Number(chart.getAttribute('width'));
  const height = Number(chart.getAttribute('height'));
  const top = (title ? 26 : 0) + (subtitle ? 18 : 0);
  const columns = Math.max(1, Math.min(entries.length, Math.floor(width / legend_width(entries))));
  const total = top + height + Math.ceil(entries.length / columns) * row_height + (entries.length ? 12 : 0);
  const {text, muted, background} = palette();
  const root = svg('svg', {width, height: total, viewBox: `0 0 ${width} ${total}`, 'font-family': font, 'font-size': 12});
  root.append(svg('rect', {width, height: total, fill: background}));
  if (title) root.append(svg('text', {x: 12, y: 20, 'font-size': 14, 'font-weight': 600, fill: text}, plain(title)));
  if (subtitle) root.append(svg('text', {x: 12, y: top - 2, fill: muted}, plain(subtitle)));
  const body = svg('g', {transform: `translate(0,${top})`});
  body.append(...Array.from(chart.childNodes, (node) => document.importNode(node, true)));
  root.append(body);
  entries.forEach((entry, i) => {
    const x = 12 + (i % columns) * ((width - 24) / columns);
    root.append(legend_entry(entry, x, top + height + 12 + Math.floor(i / columns) * row_height, text));
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(root)}\n`;
}

function legend_width(entries: LegendEntry[]): number {
  return 48 + 6.5 * Math.max(0, ...entries.map((entry) => entry.name.length));
}

function legend_entry(entry: LegendEntry, x: number, y: number, text: string): SVGElement {
  const line = svg('line', {
    x1: x, x2: x + 24, y1: y, y2: y, stroke: entry.colour, 'stroke-width': 2, 'stroke-dasharray': entry.dash ? '6 4' : null,
  });
  return svg('g', {}, line, svg('text', {x: x + 30, y: y + 4, fill: text}, plain(entry.name)));
}
