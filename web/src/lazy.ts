// SPDX-License-Identifier: MIT
// Work that waits for idle moments, one piece at a time: first that of elements near the screen, then what may come late.

type Work = () => void;

const waiting = new Map<Element, Work>();
const near = new Set<Element>();
const late = new Set<Element>();
let scheduled = false;
// What is near the screen is known when the observer has first spoken; nothing late goes before it.
let looked = false;

const observer = new IntersectionObserver((entries) => {
  looked = true;
  for (const entry of entries) if (entry.isIntersecting) near.add(entry.target);
  schedule();
}, {rootMargin: '500px 0px'});

// Safari has no requestIdleCallback.
const idle = (work: Work): void => {
  if ('requestIdleCallback' in window) window.requestIdleCallback(work, {timeout: 150});
  else setTimeout(work, 16);
};

function schedule(): void {
  if (scheduled || near.size + (looked ? late.size : 0) === 0) return;
  scheduled = true;
  idle(() => {
    scheduled = false;
    for (const element of [...near, ...late]) {
      near.delete(element);
      late.delete(element);
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

export function when_idle(element: Element, work: Work): void {
  waiting.set(element, work);
  late.add(element);
  schedule();
}

export function forget(element: Element): void {
  waiting.delete(element);
  near.delete(element);
  late.delete(element);
  observer.unobserve(element);
}
