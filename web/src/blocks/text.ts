// SPDX-License-Identifier: MIT
// Paragraphs, split at empty lines; or lines of code, folded.
import {el, plain} from '../dom';
import type {TextBlock} from '../types';
import type {BlockView} from './block';

function draw_code(block: TextBlock): BlockView {
  const code = el('pre', {tabindex: '0'}, el('code', {}, plain(block.text)));
  const fold = el('details', {class: 'code'}, el('summary', {}, plain(block.title ?? 'Code')), code);
  return {element: el('div', {class: 'block wide text'}, fold)};
}

export function draw_text(block: TextBlock): BlockView {
  if (block.code) return draw_code(block);
  const paragraphs = plain(block.text).split(/\n\s*\n/).map((text) => el('p', {}, text));
  const title = block.title ? el('h3', {}, plain(block.title)) : null;
  return {element: el('div', {class: 'block wide text'}, title, ...paragraphs)};
}
