// SPDX-License-Identifier: MIT
// One section of the report: a card with title, status, claim, checks and blocks. Its blocks are made when it is first open.
import {draw_block} from './blocks';
import type {BlockView} from './blocks/block';
import {el, plain} from './dom';
import {forget, when_idle} from './lazy';
import {status_badge, status_class, status_mark} from './status';
import type {Block, Check, Section} from './types';

interface Drawn {
  block: Block;
  kind: string;
  view: BlockView;
}

export const section_anchor = (section: Section): string => `s-${plain(section.id)}`;

export class SectionView {
  readonly element: HTMLDetailsElement;
  private readonly head = el('summary');
  private readonly intro = el('div', {class: 'intro'});
  private readonly grid = el('div', {class: 'blocks'});
  private drawn: Drawn[] = [];
  private stale = true;

  // A section that is not drawn at once is drawn in an idle moment, or when it is opened.
  constructor(private section: Section, at_once: boolean) {
    this.element = el('details', {class: 'card', id: section_anchor(section), open: section.open !== false},
      this.head, el('div', {class: 'card-body'}, this.intro, this.grid));
    this.element.addEventListener('toggle', () => this.draw_if_open());
    this.fill_head();
    if (at_once) this.draw_if_open();
    else when_idle(this.element, () => this.draw_if_open());
  }

  // Safe to call with an unchanged section: then nothing is touched.
  update(section: Section): void {
    if (JSON.stringify(section) === JSON.stringify(this.section)) return;
    this.section = section;
    this.stale = true;
    this.fill_head();
    this.draw_if_open();
  }

  open(): void {
    this.element.open = true;
    this.draw_if_open();
  }

  draw_if_open(): void {
    if (!this.stale || !this.element.open) return;
    this.stale = false;
    forget(this.element);
    this.fill_intro();
    this.update_blocks(this.section.blocks ?? []);
  }

  remove(): void {
    forget(this.element);
    for (const {view} of this.drawn) view.remove?.();
    this.element.remove();
  }

  private fill_head(): void {
    const {title, where, status} = this.section;
    this.element.dataset.status = plain(status);
    this.head.replaceChildren(
      el('span', {class: 'card-title'}, el('h2', {}, plain(title)), where ? el('span', {class: 'where'}, plain(where)) : null),
      ...(status ? [status_badge(status)] : []));
  }

  private fill_intro(): void {
    const {claim, rule, note, checks} = this.section;
    const parts = [
      claim && el('blockquote', {}, el('p', {}, plain(claim))),
      note && el('p', {class: 'note'}, plain(note)),
      checks?.length && checks_table(checks),
      rule && el('p', {class: 'rule'}, el('span', {class: 'rule-word'}, 'How this was decided: '), plain(rule)),
    ];
    this.intro.replaceChildren(...parts.filter((part): part is HTMLElement => Boolean(part)));
  }

  // Blocks are matched by their place; one of another kind, or one that cannot take the change, is made anew.
  private update_blocks(blocks: Block[]): void {
    for (const gone of this.drawn.splice(blocks.length)) remove_view(gone.view);
    blocks.forEach((block, i) => {
      const old = this.drawn[i];
      if (old && JSON.stringify(old.block) === JSON.stringify(block)) return;
      const kind = plain(block?.kind);
      if (old && old.kind === kind && old.view.update?.(block as never)) {
        old.block = block;
        return;
      }
      const view = draw_block(block, plain(this.section.id));
      if (old) {
        old.view.element.replaceWith(view.element);
        remove_view(old.view);
      } else {
        this.grid.append(view.element);
      }
      this.drawn[i] = {block, kind, view};
    });
    this.widen_lonely();
  }

  // Blocks stand in pairs; one left over before a wide block, or at the end, takes the whole row.
  private widen_lonely(): void {
    let in_row = 0;
    this.drawn.forEach(({view: {element}}, i) => {
      element.classList.remove('alone');
      in_row = element.classList.contains('wide') ? 0 : in_row + 1;
      const next = this.drawn[i + 1]?.view.element;
      if (in_row % 2 === 1 && (!next || next.classList.contains('wide'))) element.classList.add('alone');
    });
  }
}

function remove_view(view: BlockView): void {
  if (view.remove) view.remove();
  else view.element.remove();
}

function checks_table(checks: Check[]): HTMLElement {
  const with_paper = checks.some((check) => check.paper);
  const head = ['', 'ours', 'wanted', ...(with_paper ? ['paper'] : []), 'met'];
  const rows = checks.map((check) => {
    const word = check.ok === true ? 'yes' : check.ok === false ? 'no' : '\u2013';
    const mark = check.ok === true ? 'seen' : check.ok === false ? 'not seen' : 'not run';
    return el('tr', {},
      el('th', {scope: 'row'}, plain(check.name)), el('td', {class: 'number'}, plain(check.ours)),
      el('td', {class: 'number'}, plain(check.wanted)), with_paper && el('td', {class: 'number muted'}, plain(check.paper)),
      el('td', {class: `met ${status_class(mark)}`}, status_mark(mark), word));
  });
  const table = el('table', {class: 'checks'},
    el('thead', {}, el('tr', {}, ...head.map((text, i) => el('th', {scope: 'col', class: i && text !== 'met' ? 'number' : null}, text || 'check')))),
    el('tbody', {}, ...rows));
  return el('div', {class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'checks'}, table);
}
