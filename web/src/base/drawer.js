// The panel of what is chosen, along the lower edge of the window: nothing moves when it opens.
import { h, replace } from './dom.js';
import { onRelease } from './scope.js';

const room = 24; // pixels that stay free between what was clicked and the drawer

/** @param {{label: string, close: () => void}} what close is called by its button and by Escape */
export function drawer({ label, close }) {
  const box = h('aside.details', { 'aria-label': label, hidden: true });
  const root = document.documentElement;
  let pointer = null;

  const listen = (name, listener) => {
    document.addEventListener(name, listener, true);
    onRelease(() => document.removeEventListener(name, listener, true));
  };
  listen('pointerdown', (event) => { pointer = event.clientY; });
  listen('keydown', (event) => {
    pointer = null;
    if (event.key === 'Escape' && !box.hidden) close();
  });

  onRelease(() => root.classList.remove('with-details'));

  function show(title, ...parts) {
    const opens = box.hidden;
    box.hidden = false;
    replace(box,
      h('div.details-head', {}, h('h2', {}, title),
        h('button', { type: 'button', onclick: close, 'aria-label': 'Close' }, '\u00d7')),
      h('div.details-parts', {}, parts));
    box.scrollTop = 0;
    root.classList.add('with-details');
    if (!opens || pointer == null) return;
    const covered = pointer + room - (window.innerHeight - box.offsetHeight);
    if (covered > 0) window.scrollBy({ top: covered });
  }

  function hide() {
    box.hidden = true;
    root.classList.remove('with-details');
  }
  return { box, show, hide };
}
