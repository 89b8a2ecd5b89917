// SPDX-License-Identifier: MIT
// A strip of pictures with captions.
import {el, plain} from '../dom';
import type {Picture, PicturesBlock} from '../types';
import type {BlockView} from './block';

// Only pictures that the report carries inside are shown; anything else would be an outside address.
export function picture(item: Picture, label: string): HTMLElement {
  const src = plain(item?.src);
  if (!/^data:image\/(png|jpeg|gif|webp|bmp);base64,/.test(src)) return el('div', {class: 'no-picture'}, 'This picture cannot be shown.');
  return el('img', {src, alt: label, class: item.pixelated ? 'pixelated' : null, draggable: 'false'});
}

export function draw_pictures(block: PicturesBlock): BlockView {
  const items = (block.items ?? []).map((item, i) => {
    const caption = plain(item.caption);
    return el('figure', {}, picture(item, caption || `picture ${i + 1}`), el('figcaption', {}, caption));
  });
  const title = plain(block.title);
  const strip = el('div', {class: 'strip scroller', tabindex: 0, role: 'group', 'aria-label': title || 'pictures'}, ...items);
  return {element: el('div', {class: 'block wide pictures'}, title ? el('h3', {}, title) : null, strip)};
}
