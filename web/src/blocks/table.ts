// SPDX-License-Identifier: MIT
// A table with best values in bold and the paper's values beside; sorted by a click on a heading.
import {to_csv} from '../csv';
import type {CsvCell} from '../csv';
import {button, el, file_name, plain, save} from '../dom';
import {leading_number} from '../numbers';
import type {TableBlock, TableCell} from '../types';
import type {BlockView} from './block';

const text_of = (cell: TableCell | undefined): string => plain(typeof cell === 'object' && cell ? cell.text : cell);
const paper_of = (cell: TableCell | undefined): string => plain(typeof cell === 'object' && cell ? cell.paper : '');

function draw_cell(cell: TableCell | undefined): Node[] {
  const best = typeof cell === 'object' && cell?.best;
  const text = text_of(cell);
  const paper = paper_of(cell);
  return [
    best ? el('b', {class: 'best', title: 'best value'}, text) : el('span', {}, text),
    ...(paper ? [el('span', {class: 'paper'}, el('span', {class: 'paper-word'}, 'paper '), paper)] : []),
  ];
}

// Most cells are numbers; the others ("diverged") stand in line with them.
function is_numeric(rows: TableCell[][], column: number): boolean {
  const filled = rows.map((row) => text_of(row[column])).filter((text) => text && text !== '-' && text !== '\u2013');
  const numbers = filled.filter((text) => !Number.isNaN(leading_number(text)));
  return filled.length > 0 && 2 * numbers.length >= filled.length;
}

function compare_cells(a: string, b: string): number {
  const [x, y] = [leading_number(a), leading_number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y || a.localeCompare(b);
  // Cells without a number come last in a column of numbers.
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return a.localeCompare(b);
}

function csv_rows(block: TableBlock): CsvCell[][] {
  const with_paper = block.columns.map((_, i) => block.rows.some((row) => paper_of(row[i])));
  const head = block.columns.flatMap((name, i) => (with_paper[i] ? [plain(name), `${plain(name)} (paper)`] : [plain(name)]));
  const rows = block.rows.map((row) =>
    block.columns.flatMap((_, i) => (with_paper[i] ? [text_of(row[i]), paper_of(row[i])] : [text_of(row[i])])));
  return [head, ...rows];
}

export function draw_table(block: TableBlock, name: string): BlockView {
  const columns = block.columns ?? [];
  const rows = block.rows ?? [];
  const numeric = columns.map((_, i) => is_numeric(rows, i));
  const body = el('tbody');
  let sorted = {column: -1, down: false};

  const headings = columns.map((title, i) => {
    const node = el('th', {scope: 'col', class: numeric[i] ? 'number' : null});
    node.append(button(plain(title) || '\u00a0', {class: 'sort', title: 'Sort by this column'}, () => sort_by(i)));
    return node;
  });

  const fill = (list: TableCell[][]) => {
    body.replaceChildren(...list.map((row) => el('tr', {}, ...columns.map((_, i) =>
      i === 0 ? el('th', {scope: 'row'}, ...draw_cell(row[i])) : el('td', {class: numeric[i] ? 'number' : null}, ...draw_cell(row[i]))))));
  };

  // First click up, second down, third as it was.
  const sort_by = (column: number) => {
    if (sorted.column !== column) sorted = {column, down: false};
    else if (!sorted.down) sorted.down = true;
    else sorted = {column: -1, down: false};
    headings.forEach((node, i) => {
      if (i === sorted.column) node.setAttribute('aria-sort', sorted.down ? 'descending' : 'ascending');
      else node.removeAttribute('aria-sort');
    });
    if (sorted.column < 0) return fill(rows);
    const sign = sorted.down ? -1 : 1;
    return fill([...rows].sort((a, b) => sign * compare_cells(text_of(a[column]), text_of(b[column]))));
  };

  fill(rows);
  const title = plain(block.title);
  const csv = button('CSV', {class: 'quiet', title: 'Save this table as a CSV file'},
    () => save(`${file_name(name, title || 'table')}.csv`, 'text/csv', to_csv(csv_rows({...block, columns, rows}))));
  const table = el('table', {class: 'data'}, el('thead', {}, el('tr', {}, ...headings)), body);
  const scroller = el('div', {class: 'scroller tall', tabindex: 0, role: 'region', 'aria-label': title || 'table'}, table);
  const head = el('div', {class: 'block-head'}, el('h3', {}, title), el('div', {class: 'tools'}, csv));
  return {element: el('div', {class: 'block wide table-block'}, head, scroller)};
}
