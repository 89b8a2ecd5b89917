// SPDX-License-Identifier: MIT
// One tooltip for the whole page: text only, kept inside the window, hidden by Escape and by scrolling.
import {el} from './dom';

export type TipLine = [name: string, text: string];

const tip = el('div', {class: 'tip', role: 'status', 'aria-live': 'polite', hidden: true});

export function show_tip(x: number, y: number, heading: string, lines: TipLine[]): void {
  if (!tip.isConnected) document.body.append(tip);
  const rows = lines.map(([name, text]) => el('div', {}, el('span', {}, name), ' ', el('b', {}, text)));
  tip.replaceChildren(...(heading ? [el('div', {class: 'tip-head'}, heading)] : []), ...rows);
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

export function hide_tip(): void {
  tip.hidden = true;
}

addEventListener('scroll', hide_tip, {passive: true});
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hide_tip();
});
