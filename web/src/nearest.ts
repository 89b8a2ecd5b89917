// SPDX-License-Identifier: MIT
// Values of a line chart by pointer and by keys: the point nearest to the pointer, or the next one along a series.
// Done here and not by marks of the chart library: forty thousand invisible marks would make scrolling slow.
import {el} from './dom';
import {hide_tip, show_tip} from './tooltip';
import type {TipLine} from './tooltip';

export interface Spot {
  x: number;
  y: number;
  series: number;
  colour: string;
  heading: string;
  lines: () => TipLine[];
}

const reach = 48;

export class Nearest {
  private make: () => Spot[] = () => [];
  private made: Spot[] | null = null;
  private at = -1;
  private readonly ring = el('div', {class: 'ring', hidden: true});

  constructor(private readonly plot: HTMLElement) {
    plot.append(this.ring);
    plot.addEventListener('pointermove', (event) => this.follow(event));
    plot.addEventListener('pointerdown', (event) => this.follow(event));
    plot.addEventListener('pointerleave', () => this.hide());
    plot.addEventListener('blur', () => this.hide());
    plot.addEventListener('keydown', (event) => this.key(event));
  }

  // The spots are made when they are first asked for: most charts of a long page never are.
  set(make: () => Spot[]): void {
    this.make = make;
    this.made = null;
    this.hide();
    this.at = -1;
  }

  private get spots(): Spot[] {
    return (this.made ??= this.make());
  }

  private follow(event: PointerEvent): void {
    const box = this.plot.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1;
    let distance = reach * reach;
    this.spots.forEach((spot, i) => {
      const d = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (d < distance) [best, distance] = [i, d];
    });
    if (best < 0) this.hide();
    else this.show(best);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, () => number> = {
      ArrowRight: () => this.along(1),
      ArrowLeft: () => this.along(-1),
      ArrowDown: () => this.other_series(1),
      ArrowUp: () => this.other_series(-1),
    };
    const move = moves[event.key];
    if (!move || event.target !== this.plot || this.spots.length === 0) return;
    event.preventDefault();
    this.show(this.at < 0 ? 0 : move());
  }

  private along(step: number): number {
    const next = this.at + step;
    return this.spots[next]?.series === this.spots[this.at].series ? next : this.at;
  }

  // The point of the next series that is nearest in x.
  private other_series(step: number): number {
    const here = this.spots[this.at];
    const names = [...new Set(this.spots.map((spot) => spot.series))];
    const wanted = names[(names.indexOf(here.series) + step + names.length) % names.length];
    let best = this.at;
    let distance = Infinity;
    this.spots.forEach((spot, i) => {
      if (spot.series !== wanted || Math.abs(spot.x - here.x) >= distance) return;
      [best, distance] = [i, Math.abs(spot.x - here.x)];
    });
    return best;
  }

  private show(index: number): void {
    this.at = index;
    const spot = this.spots[index];
    this.ring.hidden = false;
    this.ring.style.left = `${spot.x}px`;
    this.ring.style.top = `${spot.y}px`;
    this.ring.style.borderColor = spot.colour;
    const box = this.plot.getBoundingClientRect();
    show_tip(box.left + spot.x, box.top + spot.y, spot.heading, spot.lines());
  }

  private hide(): void {
    this.ring.hidden = true;
    hide_tip();
  }
}
