// SPDX-License-Identifier: MIT
// Paper shows everything: all sections open, all charts drawn in light colours, and the page as it was afterwards.
import {draw_all_charts_now, redraw_charts} from './chart';
import type {Page} from './page';
import {set_printing} from './theme';

export function prepare_printing(page: Page): void {
  let restore = () => {};
  addEventListener('beforeprint', () => {
    restore = page.open_all();
    set_printing(true);
    draw_all_charts_now();
  });
  addEventListener('afterprint', () => {
    set_printing(false);
    restore();
    redraw_charts();
  });
}
