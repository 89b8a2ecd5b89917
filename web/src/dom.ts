// SPDX-License-Identifier: MIT
// Elements made from text only: nothing in this program ever parses a string as HTML.

export type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  set_attributes(node, attributes);
  append(node, children);
  return node;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set_attributes(node, attributes);
  append(node, children);
  return node;
}

export function button(text: string, attributes: Attributes, on_click: () => void): HTMLButtonElement {
  const node = el('button', {type: 'button', ...attributes}, text);
  node.addEventListener('click', on_click);
  return node;
}

function set_attributes(node: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(node: Element, children: Child[]): void {
  for (const child of children) if (child || child === '') node.append(child);
}

// Control characters and lone surrogates are not allowed in XML, so a saved SVG holding one could not be opened.
const pairs_and_forbidden = /[\ud800-\udbff][\udc00-\udfff]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/g;

export function plain(text: unknown): string {
  if (text === undefined || text === null) return '';
  return String(text).replace(pairs_and_forbidden, (found) => (found.length === 2 ? found : '\ufffd'));
}

// A name that is safe on every file system, whatever the text was.
export function file_name(...parts: unknown[]): string {
  const words = parts.map(plain).join('-').normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return words.replace(/^-+/, '').slice(0, 60).replace(/-+$/, '') || 'chart';
}

export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], {type}));
  const link = el('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export const reduced_motion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
