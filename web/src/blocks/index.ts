// SPDX-License-Identifier: MIT
// The table of all kinds of blocks; a new kind is one file and one line here.
import {el, plain} from '../dom';
import type {Block} from '../types';
import {draw_bars} from './bars';
import type {BlockView, DrawBlock} from './block';
import {draw_compare} from './compare';
import {draw_facts} from './facts';
import {draw_heatmap} from './heatmap';
import {draw_lines} from './lines';
import {draw_pictures} from './pictures';
import {draw_table} from './table';
import {draw_text} from './text';

const kinds = new Map<string, DrawBlock>([
  ['bars', draw_bars],
  ['compare', draw_compare],
  ['facts', draw_facts],
  ['heatmap', draw_heatmap],
  ['lines', draw_lines],
  ['pictures', draw_pictures],
  ['table', draw_table],
  ['text', draw_text],
]);

// A block that cannot be drawn says so in its place; the rest of the page stands.
export function draw_block(block: Block, name: string): BlockView {
  try {
    const draw = kinds.get(plain(block?.kind));
    if (draw) return draw(block as never, name);
    return refusal(`This page does not know blocks of the kind "${plain(block?.kind)}".`);
  } catch (error) {
    return refusal(`This block could not be drawn: ${plain(error)}`);
  }
}

function refusal(text: string): BlockView {
  return {element: el('div', {class: 'block wide refusal'}, el('p', {}, text))};
}
