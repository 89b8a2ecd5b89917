// SPDX-License-Identifier: MIT
// How far a job is: a bar, a sentence, the time used and the time left.
import {el, plain} from './dom';
import {duration_text, is_number} from './numbers';
import type {Progress} from './types';

const states: Record<string, string> = {
  running: 'Running', ended: 'Ended', interrupted: 'Interrupted', stalled: 'No update for a while',
};

export class ProgressView {
  readonly element = el('div', {class: 'progress', hidden: true});
  private readonly bar = el('progress', {max: 1, 'aria-label': 'progress of the job'});
  private readonly state = el('b');
  private readonly text = el('span');
  private readonly times = el('span', {class: 'muted'});

  constructor() {
    this.element.append(this.bar, el('div', {class: 'progress-texts'}, this.state, this.text, this.times));
  }

  update(progress: Progress | undefined): void {
    this.element.hidden = !progress;
    if (!progress) return;
    const state = progress.state ?? 'running';
    this.element.dataset.state = state;
    // Without a known end a running job has a moving bar, and a finished one has a full bar.
    if (is_number(progress.done)) this.bar.value = Math.min(1, Math.max(0, progress.done));
    else if (state === 'ended') this.bar.value = 1;
    else this.bar.removeAttribute('value');
    this.state.textContent = states[state] ?? plain(state);
    this.text.textContent = plain(progress.text);
    const used = is_number(progress.seconds) ? `${duration_text(progress.seconds)} used` : '';
    const left = is_number(progress.left) && state === 'running' ? `about ${duration_text(progress.left)} left` : '';
    this.times.textContent = [used, left].filter(Boolean).join(', ');
  }
}
