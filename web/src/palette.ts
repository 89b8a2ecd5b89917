// SPDX-License-Identifier: MIT
// Colours of the charts. The first eight follow Okabe and Ito (told apart by colour-blind readers), shifted in
// lightness to keep contrast on each background; more than eight are taken in order from viridis.
import {theme} from './theme';

export interface Palette {
  text: string;
  muted: string;
  grid: string;
  axis: string;
  background: string;
  rule: string;
  missing: string;
  series: string[];
  ramp: string[];
}

const viridis = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];

const light: Palette = {
  text: '#1c2430', muted: '#566170', grid: '#e6e9ee', axis: '#a9b2bd', background: '#ffffff', rule: '#b3261e',
  missing: '#eceff3',
  series: ['#0068a8', '#d55e00', '#00875f', '#b14a8b', '#b97a00', '#3f97d6', '#5b6470', '#8a5a44'],
  ramp: viridis,
};

const dark: Palette = {
  text: '#e4e8ee', muted: '#a3adba', grid: '#2c343f', axis: '#566170', background: '#171c23', rule: '#ff8a80',
  missing: '#232a33',
  series: ['#58a9ea', '#ff9354', '#3fc79a', '#e596c8', '#efb948', '#a5d5f7', '#aeb7c2', '#cfa08c'],
  ramp: viridis,
};

export function palette(): Palette {
  return theme() === 'dark' ? dark : light;
}

function channel(colour: string, at: number): number {
  return parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);
}

// at in [0, 1], between neighbouring colours of the ramp.
export function ramp_colour(ramp: string[], at: number): string {
  const place = Math.min(Math.max(at, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(place), ramp.length - 2);
  const mixed = [0, 1, 2].map((i) => {
    const value = channel(ramp[low], i) + (place - low) * (channel(ramp[low + 1], i) - channel(ramp[low], i));
    return Math.round(value).toString(16).padStart(2, '0');
  });
  return `#${mixed.join('')}`;
}

// One colour for each of `total` groups; the ends of viridis that vanish on the background are left out.
export function group_colours(total: number): string[] {
  const {series, ramp} = palette();
  if (total <= series.length) return series.slice(0, total);
  const [from, to] = theme() === 'dark' ? [0.25, 1] : [0, 0.88];
  return Array.from({length: total}, (_, i) => ramp_colour(ramp, from + ((to - from) * i) / (total - 1)));
}

// Black or white, whichever is read better on the colour.
export function ink_on(colour: string): string {
  const [r, g, b] = [0, 1, 2].map((i) => channel(colour, i) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.55 ? '#10151c' : '#ffffff';
}
