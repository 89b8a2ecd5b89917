// SPDX-License-Identifier: MIT
// The table of contents: beside the sections on wide screens, folded above them on narrow ones.
import {el, plain} from './dom';
import {section_anchor} from './section';
import {status_mark} from './status';
import type {Section} from './types';

const wide = matchMedia('(min-width: 1080px)');

export class Contents {
  readonly element: HTMLElement;
  private readonly list = el('ol');
  private readonly fold: HTMLDetailsElement;
  private links = new Map<string, HTMLAnchorElement>();
  private source = '';

  constructor(private readonly go: (anchor: string) => void) {
    this.fold = el('details', {open: wide.matches}, el('summary', {}, 'Contents'), this.list);
    this.element = el('nav', {class: 'contents', 'aria-label': 'Contents'}, this.fold);
    wide.addEventListener('change', () => (this.fold.open = wide.matches));
  }

  update(sections: Section[]): void {
    const source = JSON.stringify(sections.map((section) => [section.id, section.title, section.status]));
    if (source === this.source) return;
    this.source = source;
    this.links.clear();
    this.list.replaceChildren(...sections.map((section) => this.entry(section)));
    this.element.hidden = sections.length < 2;
  }

  private entry(section: Section): HTMLElement {
    const anchor = section_anchor(section);
    const title = plain(section.title);
    const link = el('a', {href: `#${encodeURIComponent(anchor)}`, title},
      status_mark(section.status), el('span', {class: 'contents-title'}, title),
      section.status ? el('span', {class: 'unseen'}, `, ${section.status}`) : null);
    link.addEventListener('click', () => {
      if (!wide.matches) this.fold.open = false;
      this.go(anchor);
    });
    this.links.set(anchor, link);
    return el('li', {'data-status': plain(section.status)}, link);
  }

  filter(status: string | null): void {
    for (const item of Array.from(this.list.children) as HTMLElement[]) item.hidden = status !== null && item.dataset.status !== status;
  }

  mark_current(anchor: string): void {
    for (const [key, link] of this.links) {
      if (key !== anchor) link.removeAttribute('aria-current');
      else if (!link.hasAttribute('aria-current')) {
        link.setAttribute('aria-current', 'true');
        keep_in_view(link, this.list);
      }
    }
  }
}

// Scrolls the list only: scrollIntoView would move the page as well.
function keep_in_view(link: HTMLElement, list: HTMLElement): void {
  const [a, b] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (a.top < b.top) list.scrollTop -= b.top - a.top + 40;
  else if (a.bottom > b.bottom) list.scrollTop += a.bottom - b.bottom + 40;
}
