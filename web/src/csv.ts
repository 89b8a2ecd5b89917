// SPDX-License-Identifier: MIT
// Comma-separated values (RFC 4180, line feeds) of a table of texts and numbers.
import {plain} from './dom';

export type CsvCell = string | number | null;

// Spreadsheets run a cell that begins with one of these as a formula; text from files must never do so.
const formula_start = /^[=+\-@\t\r]/;
const numeric = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function csv_cell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  let text = plain(cell);
  if (formula_start.test(text) && !numeric.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function to_csv(rows: CsvCell[][]): string {
  return rows.map((row) => row.map(csv_cell).join(',') + '\n').join('');
}
