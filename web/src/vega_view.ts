// SPDX-License-Identifier: MIT
// From a Vega-Lite spec to a running Vega view, without eval (so the page can forbid it) and without loading anything.
import {expressionFunction, parse, View, Error as LogErrors} from 'vega';
import {expressionInterpreter} from 'vega-interpreter';
import {compile} from 'vega-lite';
import type {TopLevelSpec} from 'vega-lite';
import {palette} from './palette';

export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Drawing {
  spec: object;
  data: Record<string, object[]>;
  // Inner size: all panels and the space between them.
  width: number;
  height: number;
  margins: Margins;
  renderer?: 'svg' | 'canvas';
  // Names of layers whose rows are outlines.
  paths?: string[];
}

export const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

const labels = new Map<string, (value: number) => string>();
let label_count = 0;

// Axis labels are made by our own functions; an expression holds only the number under which one is registered.
export function label_expression(text: (value: number) => string): string {
  const key = String(label_count++);
  labels.set(key, text);
  return `udv_label(${key}, datum.value)`;
}

export function forget_labels(spec: object): void {
  for (const found of JSON.stringify(spec).matchAll(/udv_label\((\d+),/g)) labels.delete(found[1]);
}

expressionFunction('udv_label', (key: number, value: number) => labels.get(String(key))?.(value) ?? '');

const no_loader = {
  load: () => Promise.reject(new Error('nothing is loaded')),
  sanitize: () => Promise.reject(new Error('nothing is loaded')),
  http: () => Promise.reject(new Error('nothing is loaded')),
  file: () => Promise.reject(new Error('nothing is loaded')),
};

function config(): object {
  const {text, muted, grid, axis, background} = palette();
  return {
    aria: false,
    background,
    font,
    view: {stroke: null},
    concat: {spacing: 0},
    axis: {
      labelColor: muted, titleColor: muted, gridColor: grid, domainColor: axis, tickColor: axis,
      labelFontSize: 11, titleFontSize: 12, titleFontWeight: 400, labelPadding: 5, tickSize: 4, titlePadding: 8,
    },
    axisY: {domain: false, ticks: false},
    title: {color: muted, fontSize: 12, fontWeight: 400, anchor: 'start', frame: 'group', offset: 9},
    legend: {labelColor: muted, titleColor: muted, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 400},
    text: {color: text},
  };
}

// Vega-Lite sizes a concatenation by its contents; fixing the frame keeps all charts of a page aligned.
function fix_frame(spec: Record<string, unknown>, drawing: Drawing): void {
  spec.autosize = {type: 'none'};
  spec.width = drawing.width;
  spec.height = drawing.height;
  spec.padding = drawing.margins;
}

interface Mark {
  name?: string;
  type: string;
  marks?: Mark[];
  encode: {update: Record<string, unknown>};
}

// Marks of layers named in `paths` are drawn by the outline in the field `d` of their rows. Vega-Lite knows no such mark, and
// its lines take a row for every point: with forty thousand of them, a second.
function draw_as_paths(marks: Mark[], paths: string[]): void {
  for (const mark of marks) {
    if (mark.name && paths.includes(mark.name.replace(/_marks$/, ''))) {
      const {stroke, strokeDash, strokeWidth} = mark.encode.update;
      mark.type = 'path';
      mark.encode.update = {stroke, strokeDash, strokeWidth, strokeJoin: {value: 'round'}, path: {field: 'd'}};
    }
    draw_as_paths(mark.marks ?? [], paths);
  }
}

export function make_view(drawing: Drawing, host: HTMLElement | null): View {
  const compiled = compile(drawing.spec as TopLevelSpec, {config: config() as never}).spec as unknown as Record<string, unknown>;
  fix_frame(compiled, drawing);
  draw_as_paths((compiled.marks ?? []) as Mark[], drawing.paths ?? []);
  const runtime = parse(compiled as never, undefined, {ast: true} as never);
  const view = new View(runtime, {
    expr: expressionInterpreter, loader: no_loader, logLevel: LogErrors, hover: false, renderer: drawing.renderer ?? 'svg',
  } as never);
  for (const [name, rows] of Object.entries(drawing.data)) view.data(name, rows);
  if (host) view.initialize(host);
  view.run();
  return view;
}
