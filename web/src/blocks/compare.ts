// SPDX-License-Identifier: MIT
// Two pictures of one size on top of each other, with a handle between them. The handle is a range input laid over
// the pictures, so dragging, clicking, touching and the arrow keys all work by themselves.
import {el, plain} from '../dom';
import type {CompareBlock} from '../types';
import type {BlockView} from './block';
import {picture} from './pictures';

export function draw_compare(block: CompareBlock): BlockView {
  const before = plain(block.before?.caption) || 'before';
  const after = plain(block.after?.caption) || 'after';
  const handle = el('input', {type: 'range', min: 0, max: 100, value: 50, step: 1, 'aria-label': `${before} on the left, ${after} on the right`});
  const front = el('div', {class: 'compare-front'}, picture(block.before, before));
  const box = el('div', {class: 'compare-box'}, picture(block.after, after), front, el('div', {class: 'compare-line'}), handle);
  const place = () => {
    box.style.setProperty('--at', `${handle.value}%`);
    handle.setAttribute('aria-valuetext', `${handle.value} % ${before}`);
  };
  handle.addEventListener('input', place);
  place();
  const title = plain(block.title);
  const captions = el('div', {class: 'compare-captions'}, el('span', {}, before), el('span', {}, after));
  return {element: el('div', {class: 'block compare'}, title ? el('h3', {}, title) : null, el('div', {class: 'compare-fit'}, box, captions))};
}
