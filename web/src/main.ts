// SPDX-License-Identifier: MIT
// report.html: draws the report that the page carries inside.
import {Page} from './page';
import {prepare_printing} from './print';
import type {Report} from './types';

const page = new Page(document.getElementById('udv-page') as HTMLElement);
prepare_printing(page);
try {
  page.update(JSON.parse(document.getElementById('udv-report')?.textContent ?? '') as Report);
} catch (error) {
  page.say(`The report inside this page cannot be read: ${String(error)}`);
}
