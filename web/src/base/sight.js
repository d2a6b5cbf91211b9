// What is in sight, or nearly: nothing else is drawn. What is seen is drawn in the next frame, what
// lies just outside when the page has nothing else to do.

const near = new WeakSet(), seen = new WeakSet(), listeners = new WeakMap();
const pending = new Map(); // element -> what draws it
let frame = 0, idle = 0;

const later = window.requestIdleCallback ?? ((run) => setTimeout(run, 60));

function watcher(inside, margin, entered) {
  return new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) inside.delete(target);
      else if (!inside.has(target)) {
        inside.add(target);
        entered(target);
      }
    }
  }, { rootMargin: margin });
}

const nearby = watcher(near, '250px', (element) => listeners.get(element)());
const exact = watcher(seen, '0px', () => schedule());

function schedule() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    for (const element of pending.keys()) if (seen.has(element)) drawNow(element);
    if (pending.size > 0) idle ||= later(drawOne, { timeout: 500 });
  });
}

function drawNow(element) {
  const draw = pending.get(element);
  pending.delete(element);
  draw();
}

/** One at a time, so that the page can answer in between. */
function drawOne() {
  idle = 0;
  const [element] = pending.keys();
  if (element) drawNow(element);
  if (pending.size > 0) schedule();
}

/** Calls whenever the element comes into sight. */
export function whenInSight(element, listener) {
  listeners.set(element, listener);
  nearby.observe(element);
  exact.observe(element);
}

export function isInSight(element) {
  return near.has(element);
}

/** Draws an element once for all that ask before it is done; not at all while it is far away. */
export function drawSoon(element, draw) {
  if (!near.has(element)) return;
  pending.set(element, draw);
  schedule();
}
