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
  marks?: Mark[];
  encode?: {update?: Record<string, unknown>};
}

// Marks with `invalid: null` are said to have numbers everywhere. Vega-Lite tests every point of them all the same, by an
// interpreter: half of the time that forty thousand points take.
function trust_numbers(marks: Mark[]): void {
  for (const mark of marks) {
    const update = mark.encode?.update ?? {};
    for (const [channel, rules] of Object.entries(update)) {
      if (Array.isArray(rules) && String(rules[0]?.test).startsWith('!isValid(')) update[channel] = rules[1];
    }
    trust_numbers(mark.marks ?? []);
  }
}

export function make_view(drawing: Drawing, host: HTMLElement | null): View {
  const compiled = compile(drawing.spec as TopLevelSpec, {config: config() as never}).spec as unknown as Record<string, unknown>;
  fix_frame(compiled, drawing);
  trust_numbers((compiled.marks ?? []) as Mark[]);
  const runtime = parse(compiled as never, undefined, {ast: true} as never);
  const view = new View(runtime, {
    expr: expressionInterpreter, loader: no_loader, logLevel: LogErrors, hover: false, renderer: drawing.renderer ?? 'svg',
  } as never);
  for (const [name, rows] of Object.entries(drawing.data)) view.data(name, rows);
  if (host) view.initialize(host);
  view.run();
  return view;
}
