// SPDX-License-Identifier: MIT
// The status of a section: a mark, a word and a colour; the mark and the word tell it without the colour.
import {el, plain, svg} from './dom';

const shapes: Record<string, string> = {
  'seen': 'M3.5 8.5 L6.8 11.5 L12.5 4.8',
  'not seen': 'M4.5 4.5 L11.5 11.5 M11.5 4.5 L4.5 11.5',
  'not run': 'M4 8 L12 8',
  'running': 'M6 4.5 L11 8 L6 11.5 Z',
};

export function status_class(status: string | undefined): string {
  return status && status in shapes ? `status-${status.replace(' ', '-')}` : 'status-none';
}

export function status_mark(status: string | undefined): SVGElement {
  const shape = shapes[status ?? ''];
  const path = shape
    ? svg('path', {d: shape, fill: 'none', stroke: 'currentColor', 'stroke-width': 2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round'})
    : svg('circle', {cx: 8, cy: 8, r: 2.5, fill: 'currentColor'});
  return svg('svg', {class: `mark ${status_class(status)}`, viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true'}, path);
}

export function status_badge(status: string): HTMLElement {
  return el('span', {class: `badge ${status_class(status)}`}, status_mark(status), plain(status));
}
