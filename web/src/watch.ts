// SPDX-License-Identifier: MIT
// watch.html: listens to events beside it and draws each report that arrives, in place.
import {Page} from './page';
import {prepare_printing} from './print';
import type {Report} from './types';

const retry_ms = 2000;
const page = new Page(document.getElementById('udv-page') as HTMLElement);
prepare_printing(page);
const waiting = 'Waiting for the first update of the job\u2026';
let heard = false;
let ended = false;

function take(text: string): void {
  try {
    const report = JSON.parse(text) as Report;
    page.update(report);
    heard = true;
    ended = report.progress?.state === 'ended' || report.progress?.state === 'interrupted';
    page.say('');
  } catch (error) {
    page.say(`A message from the job cannot be read: ${String(error)}`);
  }
}

function listen(): void {
  const events = new EventSource('events');
  events.addEventListener('report', (event) => take((event as MessageEvent<string>).data));
  events.addEventListener('end', () => {
    ended = true;
    page.say('The job has ended. This page shows its last state.');
  });
  events.onopen = () => {
    if (!ended) page.say(heard ? '' : waiting);
  };
  events.onerror = () => {
    // After the end the server may go away: nothing is lost, and nobody needs to be told.
    if (ended) return events.close();
    page.say('The connection to udv watch is lost. Trying again\u2026');
    // The browser tries again by itself, except after an answer that is not an event stream.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, retry_ms);
    return undefined;
  };
}

page.say(waiting);
listen();
