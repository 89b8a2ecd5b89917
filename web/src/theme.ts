// SPDX-License-Identifier: MIT
// Light and dark: follows the system until the reader chooses, and then remembers the choice.
import {button} from './dom';

export type ThemeName = 'light' | 'dark';

const key = 'udv-theme';
const system_dark = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];
let printing = false;

// Storage may be switched off (private windows, pages in a frame): then the choice lasts as long as the page.
function stored(): ThemeName | null {
  try {
    const value = localStorage.getItem(key);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null;
  }
}

let chosen = stored();

export function theme(): ThemeName {
  if (printing) return 'light';
  return chosen ?? (system_dark.matches ? 'dark' : 'light');
}

export function on_theme(listener: () => void): void {
  listeners.push(listener);
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

// Paper is white: charts are drawn in light colours while printing.
export function set_printing(on: boolean): void {
  printing = on;
  document.documentElement.dataset.theme = theme();
}

export function theme_switch(): HTMLButtonElement {
  const node = button('', {class: 'quiet theme-switch'}, () => {
    chosen = theme() === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // see stored()
    }
    apply();
  });
  const label = () => {
    const other = theme() === 'dark' ? 'Light' : 'Dark';
    node.textContent = other;
    node.setAttribute('aria-label', `${other} colours`);
  };
  on_theme(label);
  label();
  return node;
}

system_dark.addEventListener('change', () => {
  if (!chosen) apply();
});
document.documentElement.dataset.theme = theme();
