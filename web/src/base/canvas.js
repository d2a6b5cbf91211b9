// A canvas that fills its box and is drawn again when size or theme change; over it a second one
// with what changes with the pointer and the choice, so that the picture stays as it is.
import { h } from './dom.js';
import { drawSoon, whenInSight } from './sight.js';
import { fonts, isPrinting, onTheme } from './theme.js';

/**
 * @param {{label: string, height: number, draw: Function, over?: Function}} what draw and over are
 *   given the context, the width and the height
 */
export function canvasBox({ label, height, draw, over }) {
  const canvas = h('canvas.picture', { role: 'img', 'aria-label': label, tabindex: '0' });
  const above = h('canvas.over', { 'aria-hidden': 'true' });
  const tip = h('div.float-tip', { hidden: true });
  const box = h('div.plot', {}, canvas, over && above, tip);
  const self = { box, canvas, tip, width: 0, height };
  let current = false;

  /** Paints onto a canvas of the box's size. */
  function on(of, paint) {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(self.width * ratio), tall = Math.round(self.height * ratio);
    if (of.width !== wide) of.width = wide;
    if (of.height !== tall) of.height = tall;
    const c = of.getContext('2d');
    c.save();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, self.width, self.height);
    c.font = `12px ${fonts()}`;
    c.textBaseline = 'middle';
    paint(c, self.width, self.height);
    c.restore();
  }

  /** On paper the second canvas isn't shown: it would cover the first. */
  function both(c, width, height) {
    draw(c, width, height);
    over?.(c, width, height);
  }

  function now() {
    const width = box.clientWidth;
    if (!width) return;
    if (width !== self.width) current = false;
    self.width = width;
    if (!current) on(canvas, isPrinting() ? both : draw);
    current = true;
    if (over) on(above, over);
  }

  const soon = () => drawSoon(box, now);
  /** Everything changed. */
  self.redraw = () => {
    current = false;
    soon();
  };
  /** Only what lies over the picture changed. */
  self.redrawOver = soon;
  /** Place of an event on the canvas. */
  self.at = (event) => {
    const rect = canvas.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  self.showTip = (x, y, ...nodes) => {
    tip.replaceChildren(...nodes);
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 14, self.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.min(y + 16, self.height - 20)}px`;
  };
  self.hideTip = () => { tip.hidden = true; };
  canvas.addEventListener('pointerleave', self.hideTip);
  box.style.height = `${height}px`;
  onTheme(() => {
    current = false;
    if (isPrinting()) now();
    else soon();
  });
  new ResizeObserver(() => {
    if (box.clientWidth !== self.width) self.redraw();
  }).observe(box);
  whenInSight(box, soon);
  return self;
}
