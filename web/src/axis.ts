// SPDX-License-Identifier: MIT
// Where an axis begins and ends, which ticks it has, and where a value is drawn on it.
// Domains and ticks are fixed here rather than left to the chart library, so that a log axis can have a place for zero.
import {log_tick_text, tick_text} from './numbers';
import type {ScaleKind} from './types';

export interface Axis {
  kind: ScaleKind;
  domain: [number, number];
  ticks: number[];
  // On a log axis: where values <= 0 are drawn; null when there are none.
  edge: number | null;
  // Of a symlog scale: below this size it is linear.
  constant: number;
}

export function place(axis: Axis, value: number): number {
  return axis.kind === 'log' && value <= 0 ? axis.domain[0] : value;
}

export function at_edge(axis: Axis, value: number): boolean {
  return axis.kind === 'log' && value <= 0;
}

export function axis_label(axis: Axis, value: number): string {
  if (axis.kind !== 'log') return tick_text(value);
  if (axis.edge !== null && value <= axis.edge * (1 + 1e-9)) return '0';
  return log_tick_text(value, axis.domain[0], axis.domain[1]);
}

// pad: empty space at both ends, as a part of the length (0 for time-like axes that touch the frame).
export function make_axis(values: Iterable<number>, kind: ScaleKind, most_ticks: number, pad: number, whole = false): Axis {
  const count = Math.max(2, Math.floor(most_ticks));
  if (kind === 'log') return log_axis(values, count, pad);
  const [low, high] = extent(values);
  return kind === 'symlog' ? symlog_axis(values, low, high, count) : linear_axis(low, high, count, pad, whole);
}

function extent(values: Iterable<number>, above = -Infinity): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!(value > above)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [NaN, NaN];
}

function linear_axis(low: number, high: number, count: number, pad: number, whole = false): Axis {
  if (Number.isNaN(low)) [low, high] = [0, 1];
  if (low === high && whole) [low, high] = [low - 1, high + 1];
  if (low === high) [low, high] = [low - (Math.abs(low) * 0.1 || 0.5), high + (Math.abs(high) * 0.1 || 0.5)];
  const room = Math.min((high - low) * pad, Number.MAX_VALUE - Math.max(high, -low));
  // A count or a norm never goes below zero, so neither does its axis.
  const bottom = low >= 0 && low - room < 0 ? 0 : low - room;
  const domain: [number, number] = [bottom, high + room];
  return {kind: 'linear', domain, ticks: linear_ticks(domain, count, whole), edge: null, constant: 1};
}

function linear_ticks([low, high]: [number, number], count: number, whole = false): number[] {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power).filter((step) => !whole || Number.isInteger(step));
  const step = whole && rough <= 1 ? 1 : steps.find((candidate) => candidate >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const many = Math.floor(high / step + 1e-9) - first + 1;
  // Ends too close, too small or too large for a step between them.
  if (!(many >= 2 && many < 100)) return [low, high];
  return Array.from({length: many}, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function log_axis(values: Iterable<number>, count: number, pad: number): Axis {
  const list = [...values];
  const has_edge = list.some((value) => value <= 0);
  let [low, high] = extent(list, 0);
  if (Number.isNaN(low)) [low, high] = [0.1, 1];
  if (low === high) [low, high] = [low / 2 || Number.MIN_VALUE, high * 2];
  const decades = Math.log10(high) - Math.log10(low);
  // Values at the edge stand clearly below the smallest positive one.
  const below = has_edge ? Math.max(0.09 * decades, 0.2) : pad * decades;
  const domain: [number, number] = [low * 10 ** -below, high * 10 ** (pad * decades)];
  domain[0] = Math.max(domain[0], Number.MIN_VALUE);
  domain[1] = Math.min(domain[1], Number.MAX_VALUE);
  const shown: [number, number] = has_edge ? [low * 10 ** (-below / 3), domain[1]] : domain;
  const ticks = log_ticks(shown, count);
  return {kind: 'log', domain, ticks: has_edge ? [domain[0], ...ticks] : ticks, edge: has_edge ? domain[0] : null, constant: 1};
}

function log_ticks([low, high]: [number, number], count: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first >= 1) {
    const stride = [1, 2, 3, 4, 5, 10, 20, 50, 100].find((step) => (last - first) / step <= count) ?? 100;
    const ticks = [];
    for (let k = Math.ceil(first / stride) * stride; k <= last; k += stride) ticks.push(Number(`1e${k}`));
    if (ticks.length > 1) return ticks;
  }
  const ticks = [];
  for (let k = first - 1; k <= last + 1; ++k) {
    for (const factor of [1, 2, 5]) {
      const tick = Number(`${factor}e${k}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : linear_ticks([low, high], Math.min(count, 4));
}

function symlog_axis(values: Iterable<number>, low: number, high: number, count: number): Axis {
  if (Number.isNaN(low)) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 1, high + 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  let smallest = size;
  for (const value of values) if (value !== 0 && Math.abs(value) < smallest) smallest = Math.abs(value);
  const constant = Math.max(smallest, size * 1e-12);
  const powers = [];
  for (let k = Math.ceil(Math.log10(constant) - 1e-9); k <= Math.log10(size) + 1e-9; ++k) powers.push(Number(`1e${k}`));
  const stride = Math.max(1, Math.ceil(powers.length / Math.max(1, count - 1)));
  const kept = powers.filter((_, i) => (powers.length - 1 - i) % stride === 0);
  const ticks = [...kept.map((tick) => -tick).reverse(), 0, ...kept].filter((tick) => tick >= low && tick <= high);
  return {kind: 'symlog', domain: [low, high], ticks: ticks.length > 1 ? ticks : linear_ticks([low, high], count), edge: null, constant};
}

// Where a value lies on an axis of this length, as the scale of the chart library puts it.
export function position(axis: Axis, value: number, length: number): number {
  const along = (v: number) => {
    if (axis.kind === 'log') return Math.log(v);
    return axis.kind === 'symlog' ? Math.sign(v) * Math.log1p(Math.abs(v / axis.constant)) : v;
  };
  const [low, high] = axis.domain.map(along);
  return ((along(value) - low) / (high - low)) * length;
}

// Members of a Vega-Lite scale.
export function scale_spec(axis: Axis): object {
  const extra = {log: {}, linear: {zero: false}, symlog: {zero: false, constant: axis.constant}}[axis.kind];
  return {type: axis.kind, domain: axis.domain, nice: false, ...extra};
}
