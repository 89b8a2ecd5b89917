// SPDX-License-Identifier: MIT
// The whole page: header, summary, chips that filter, contents, sections. Can be given a newer report at any time.
import {Contents} from './contents';
import {button, el, plain, reduced_motion} from './dom';
import {ProgressView} from './progress';
import {section_anchor, SectionView} from './section';
import {status_class, status_mark} from './status';
import {theme_switch} from './theme';
import type {Report, Section} from './types';

// With more sections than this, the browser leaves out the layout of those far from the screen.
const many = 30;
// The first of many are drawn at once, the others in idle moments.
const first_drawn = 3;

export class Page {
  readonly notice = el('p', {class: 'notice', role: 'status', hidden: true});
  private readonly title = el('h1');
  private readonly made = el('p', {class: 'made'});
  private readonly summary = el('div', {class: 'summary'});
  private readonly chips = el('div', {class: 'chips', role: 'group', 'aria-label': 'Show only sections of one status'});
  private readonly nothing = el('p', {class: 'muted', hidden: true}, 'No section has this status.');
  private readonly sections = el('div', {class: 'sections'});
  private readonly contents = new Contents((anchor) => this.go(anchor));
  private readonly progress = new ProgressView();
  private readonly views = new Map<string, SectionView>();
  private readonly near_top: IntersectionObserver;
  private readonly in_focus = new Set<string>();
  private filter: string | null = null;
  private report: Report | null = null;

  constructor(host: HTMLElement) {
    const skip = el('a', {class: 'skip', href: '#udv-sections'}, 'Skip to the sections');
    const bar = el('div', {class: 'title-row'}, this.title, theme_switch());
    const header = el('header', {}, bar, this.made, this.notice, this.progress.element, this.summary, this.chips);
    this.sections.id = 'udv-sections';
    this.sections.tabIndex = -1;
    host.append(skip, header, el('div', {class: 'columns'}, this.contents.element, el('main', {}, this.nothing, this.sections)));
    this.near_top = new IntersectionObserver((entries) => this.mark_current(entries), {rootMargin: '-10% 0px -75% 0px'});
    addEventListener('hashchange', () => this.go_to_hash());
  }

  update(report: Report): void {
    const first = this.report === null;
    this.report = report;
    document.title = plain(report.title) || 'udv';
    this.title.textContent = plain(report.title) || 'udv';
    this.made.textContent = [report.udv && `udv ${plain(report.udv)}`, plain(report.made)].filter(Boolean).join(', ');
    this.progress.update(report.progress);
    this.summary.replaceChildren(...(report.summary?.length ? [el('p', {}, report.summary.map(plain).join(' '))] : []));
    const sections = with_unique_ids(report.sections ?? []);
    this.update_sections(sections);
    this.contents.update(sections);
    this.update_chips(sections);
    if (first) this.go_to_hash();
  }

  say(text: string): void {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  open_all(): () => void {
    const closed = [...this.views.values()].filter((view) => !view.element.open);
    for (const view of this.views.values()) view.open();
    return () => closed.forEach((view) => (view.element.open = false));
  }

  private update_sections(sections: Section[]): void {
    const wanted = new Set(sections.map(section_anchor));
    for (const [anchor, view] of this.views) {
      if (wanted.has(anchor)) continue;
      view.remove();
      this.views.delete(anchor);
    }
    this.sections.classList.toggle('many', sections.length > many);
    let before: Element | null = this.sections.firstElementChild;
    for (const [i, section] of sections.entries()) {
      const anchor = section_anchor(section);
      let view = this.views.get(anchor);
      if (view) view.update(section);
      else {
        view = new SectionView(section, sections.length <= many || i < first_drawn);
        this.views.set(anchor, view);
        this.near_top.observe(view.element);
      }
      // Moving an element that already stands right would lose the reader's scroll position.
      if (view.element === before) before = before.nextElementSibling;
      else this.sections.insertBefore(view.element, before);
    }
  }

  private update_chips(sections: Section[]): void {
    const counted: Record<string, number> = {};
    for (const {status} of sections) if (status) counted[status] = (counted[status] ?? 0) + 1;
    const counts = Object.entries(this.report?.counts ?? counted);
    // Pressing a chip must not lose the focus when a new report arrives, so unchanged chips stay.
    const source = JSON.stringify(counts);
    if (this.chips.dataset.source !== source) {
      this.chips.dataset.source = source;
      this.chips.replaceChildren(...counts.map(([status, count]) => this.chip(status, count)));
    }
    this.chips.hidden = counts.length === 0;
    this.apply_filter();
  }

  private chip(status: string, count: number): HTMLElement {
    const node = button('', {class: `chip ${status_class(status)}`, 'aria-pressed': 'false'}, () => {
      this.filter = this.filter === status ? null : status;
      this.apply_filter();
    });
    node.dataset.status = status;
    node.append(status_mark(status), el('b', {}, plain(count)), ` ${plain(status)}`);
    return node;
  }

  private apply_filter(): void {
    let visible = 0;
    for (const view of this.views.values()) {
      const shown = this.filter === null || view.element.dataset.status === this.filter;
      view.element.hidden = !shown;
      if (shown) ++visible;
    }
    for (const chip of Array.from(this.chips.children) as HTMLElement[]) {
      chip.setAttribute('aria-pressed', String(chip.dataset.status === this.filter));
    }
    this.nothing.hidden = visible > 0 || this.filter === null;
    this.contents.filter(this.filter);
  }

  private go_to_hash(): void {
    let anchor = location.hash.slice(1);
    try {
      anchor = decodeURIComponent(anchor);
    } catch {
      // A hash typed by hand may hold a lone %; then it names no section.
    }
    if (this.views.has(anchor)) this.go(anchor);
  }

  private go(anchor: string): void {
    const view = this.views.get(anchor);
    if (!view) return;
    if (view.element.hidden) {
      this.filter = null;
      this.apply_filter();
    }
    view.open();
    requestAnimationFrame(() => view.element.scrollIntoView({behavior: reduced_motion() ? 'auto' : 'smooth', block: 'start'}));
  }

  private mark_current(entries: IntersectionObserverEntry[]): void {
    for (const {target, isIntersecting} of entries) {
      if (isIntersecting) this.in_focus.add(target.id);
      else this.in_focus.delete(target.id);
    }
    this.contents.mark_current([...this.in_focus].pop() ?? '');
  }
}

function with_unique_ids(sections: Section[]): Section[] {
  const used = new Set<string>();
  return sections.map((section, i) => {
    let id = plain(section.id) || `section-${i + 1}`;
    while (used.has(id)) id += '-again';
    used.add(id);
    return {...section, id};
  });
}
