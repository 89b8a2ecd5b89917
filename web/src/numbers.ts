// SPDX-License-Identifier: MIT
// Numbers as text: short in tooltips and tables, with real exponents (10 with superscripts) on axes.
import {plain} from './dom';

const minus = '\u2212';
const superscripts = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';

export function power_of_ten(exponent: number): string {
  const digits = String(Math.abs(exponent)).replace(/\d/g, (digit) => superscripts[Number(digit)]);
  return `10${exponent < 0 ? '\u207b' : ''}${digits}`;
}

// Up to five significant digits, in a form that can be copied into other programs.
export function number_text(value: number | null | undefined): string {
  if (value === null || value === undefined) return 'none';
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(4).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(value.toPrecision(5)));
}

export function tick_text(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const sign = value < 0 ? minus : '';
  if (size >= 1e-3 && size < 1e6) return sign + Number(size.toPrecision(6)).toLocaleString('en-US', {maximumFractionDigits: 6});
  const exponent = Math.floor(Math.log10(size) + 1e-9);
  const factor = Number((size / 10 ** exponent).toPrecision(3));
  return sign + (factor === 1 ? power_of_ten(exponent) : `${factor}\u00b7${power_of_ten(exponent)}`);
}

// On a log axis all labels have one form: plain numbers when they are few decades around one, powers of ten otherwise.
export function log_tick_text(value: number, lowest: number, highest: number): string {
  if (value > 0 && (lowest < 1e-3 || highest > 1e4)) {
    const exponent = Math.floor(Math.log10(value) + 1e-9);
    const factor = Number((value / 10 ** exponent).toPrecision(3));
    return factor === 1 ? power_of_ten(exponent) : `${factor}\u00b7${power_of_ten(exponent)}`;
  }
  return tick_text(value);
}

export function duration_text(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function is_number(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

// The number a table cell starts with ("1.2e-3", "97.1 %", U+2212 as minus), or NaN: used for sorting only.
export function leading_number(text: unknown): number {
  const found = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i.exec(plain(text).replace(/\u2212/g, '-'));
  return found ? Number(found[1]) : NaN;
}
