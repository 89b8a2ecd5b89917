// SPDX-License-Identifier: MIT
// Panels one below the other with a common x axis: sizes, and where a panel lies in the drawn picture.
import type {View} from 'vega';
import type {Margins} from './vega_view';

export const margins: Margins = {left: 54, right: 16, top: 28, bottom: 46};
export const panel_gap = 34;

export interface PanelPlace {
  left: number;
  top: number;
  x(value: number): number;
  y(value: number): number;
}

export function inner_height(heights: number[]): number {
  return heights.reduce((sum, height) => sum + height, 0) + panel_gap * (heights.length - 1);
}

export function total_height(heights: number[]): number {
  return inner_height(heights) + margins.top + margins.bottom;
}

export function panel_place(view: View, heights: number[], index: number): PanelPlace {
  const top = margins.top + heights.slice(0, index).reduce((sum, height) => sum + height + panel_gap, 0);
  const x = view.scale(`concat_${index}_x`) as (value: number) => number;
  const y = view.scale(`concat_${index}_y`) as (value: number) => number;
  return {left: margins.left, top, x: (value) => margins.left + x(value), y: (value) => top + y(value)};
}

// The title of a panel's values stands above its axis, where it can be read without turning the head.
export function panel_title(text: string, width: number): object {
  return {text, dx: 8 - margins.left, limit: width + margins.left - 8};
}
