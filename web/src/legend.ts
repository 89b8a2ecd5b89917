// SPDX-License-Identifier: MIT
// A legend of buttons: each hides and shows one series. A box of its own scrolls when there are many.
import {button, el, plain, svg} from './dom';
import type {LegendEntry} from './svg_file';

const many = 12;

export class Legend {
  readonly element = el('div', {class: 'legend'});
  private readonly list = el('div', {class: 'legend-list', role: 'group', 'aria-label': 'Series; press to hide or show'});
  private readonly search = el('input', {type: 'search', placeholder: 'Find a series', 'aria-label': 'Find a series'});
  private buttons: HTMLButtonElement[] = [];
  private names = '';

  constructor(private readonly hidden: Set<string>, private readonly changed: () => void) {
    this.search.addEventListener('input', () => this.filter());
  }

  set(entries: LegendEntry[]): void {
    const names = JSON.stringify(entries.map((entry) => entry.name));
    if (names === this.names) return this.recolour(entries);
    this.names = names;
    this.buttons = entries.map((entry) => this.make_button(entry));
    this.list.replaceChildren(...this.buttons);
    this.list.classList.toggle('scroller', entries.length > many);
    const all = entries.map((entry) => entry.name);
    const tools = el('div', {class: 'legend-tools'},
      entries.length > many && this.search,
      button('All', {class: 'quiet', title: 'Show every series'}, () => this.set_hidden([])),
      button('None', {class: 'quiet', title: 'Hide every series'}, () => this.set_hidden(all)));
    // Few entries and the two buttons share their lines; many have the buttons above their box.
    this.element.classList.toggle('many', entries.length > many);
    this.element.replaceChildren(this.list, ...(entries.length > 3 ? [tools] : []));
    this.element.hidden = entries.length === 0;
    return this.filter();
  }

  // The buttons stay, and with them the reader's focus and the scroll position of the box.
  private recolour(entries: LegendEntry[]): void {
    entries.forEach((entry, i) => this.buttons[i].firstElementChild?.replaceWith(swatch(entry)));
  }

  private make_button(entry: LegendEntry): HTMLButtonElement {
    const node = button('', {class: 'legend-entry', 'aria-pressed': String(!this.hidden.has(entry.name)), title: plain(entry.name)}, () => {
      if (!this.hidden.delete(entry.name)) this.hidden.add(entry.name);
      this.refresh();
    });
    node.dataset.name = entry.name;
    node.append(swatch(entry), el('span', {}, plain(entry.name)));
    return node;
  }

  private set_hidden(names: string[]): void {
    this.hidden.clear();
    for (const name of names) this.hidden.add(name);
    this.refresh();
  }

  private refresh(): void {
    for (const node of this.buttons) node.setAttribute('aria-pressed', String(!this.hidden.has(node.dataset.name ?? '')));
    this.changed();
  }

  private filter(): void {
    const wanted = this.search.value.toLowerCase();
    for (const node of this.buttons) node.hidden = !(node.dataset.name ?? '').toLowerCase().includes(wanted);
  }
}

function swatch(entry: LegendEntry): SVGElement {
  return svg('svg', {width: 26, height: 10, 'aria-hidden': 'true'},
    svg('line', {x1: 1, x2: 25, y1: 5, y2: 5, stroke: entry.colour, 'stroke-width': 2.5, 'stroke-dasharray': entry.dash ? '6 4' : null}));
}
