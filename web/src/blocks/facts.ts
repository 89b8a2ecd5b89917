// SPDX-License-Identifier: MIT
// Names and texts in two columns: settings, machine, seeds.
import {el, plain} from '../dom';
import type {FactsBlock} from '../types';
import type {BlockView} from './block';

export function draw_facts(block: FactsBlock): BlockView {
  const items = (block.items ?? []).map(([name, text]) => el('div', {}, el('dt', {}, plain(name)), el('dd', {}, plain(text))));
  const title = block.title ? el('h3', {}, plain(block.title)) : null;
  return {element: el('div', {class: 'block wide facts'}, title, el('dl', {}, ...items))};
}
