// SPDX-License-Identifier: MIT
// Work that waits until its element comes near the screen, then runs one piece at a time in idle moments.

type Work = () => void;

const waiting = new Map<Element, Work>();
const queue = new Set<Element>();
let scheduled = false;

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) queue.add(entry.target);
  schedule();
}, {rootMargin: '500px 0px'});

// Safari has no requestIdleCallback.
const when_idle = (work: Work): void => {
  if ('requestIdleCallback' in window) window.requestIdleCallback(work, {timeout: 150});
  else setTimeout(work, 16);
};

function schedule(): void {
  if (scheduled || queue.size === 0) return;
  scheduled = true;
  when_idle(() => {
    scheduled = false;
    for (const element of queue) {
      queue.delete(element);
      if (element.isConnected) {
        run(element);
        break;
      }
    }
    schedule();
  });
}

function run(element: Element): void {
  const work = waiting.get(element);
  waiting.delete(element);
  observer.unobserve(element);
  work?.();
}

export function when_near(element: Element, work: Work): void {
  waiting.set(element, work);
  observer.unobserve(element);
  observer.observe(element);
}

export function forget(element: Element): void {
  waiting.delete(element);
  queue.delete(element);
  observer.unobserve(element);
}

export function run_everything(): void {
  for (const element of [...waiting.keys()]) if (element.isConnected) run(element);
}
