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

// A bar whose length is known, in the lower left corner.
function scale_bar(item: Picture): HTMLElement | null {
  const share = Number(item?.bar?.share);
  if (!(share > 0 && share <= 1)) return null;
  return el('span', {class: 'scale-bar', style: `width: ${(100 * share).toFixed(3)}%`}, el('span', {}, plain(item.bar?.text)));
}

function gray_bar(item: Picture): HTMLElement | null {
  if (!item?.range) return null;
  const low = plain(item.range.low), high = plain(item.range.high);
  return el('div', {class: 'gray-bar', role: 'img', 'aria-label': `black is ${low}, white is ${high}`}, el('span', {}, low), el('i', {}), el('span', {}, high));
}

const kZooms = [1, 2, 4];

// Enlarges all pictures of a strip alike.
function zoom_button(strip: HTMLElement): HTMLElement {
  let at = 0;
  const button = el('button', {type: 'button', class: 'zoom'}, 'Enlarge');
  button.addEventListener('click', () => {
    at = (at + 1) % kZooms.length;
    strip.style.setProperty('--zoom', String(kZooms[at]));
    button.textContent = at + 1 < kZooms.length ? 'Enlarge' : 'Back to the usual size';
  });
  return button;
}

export function draw_pictures(block: PicturesBlock): BlockView {
  const items = (block.items ?? []).map((item, i) => {
    const caption = plain(item.caption);
    const frame = el('div', {class: 'frame'}, picture(item, caption || `picture ${i + 1}`), scale_bar(item));
    return el('figure', {}, frame, gray_bar(item), el('figcaption', {}, caption));
  });
  const title = plain(block.title);
  const strip = el('div', {class: 'strip scroller', tabindex: 0, role: 'group', 'aria-label': title || 'pictures'}, ...items);
  const zoom = block.zoom ? zoom_button(strip) : null;
  return {element: el('div', {class: 'block wide pictures'}, title ? el('h3', {}, title) : null, zoom, strip)};
}
