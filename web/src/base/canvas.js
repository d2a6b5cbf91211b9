// A canvas that fills its box and is drawn again when size or theme change; over it a second one
// with what changes with the pointer and the choice, so that the picture stays as it is.
import { h } from './dom.js';
import { drawSoon, whenInSight } from './sight.js';
import { fonts, isPrinting, onTheme } from './theme.js';

class CanvasBox {
  #draw;
  #over;
  #current = false;

  constructor(label, height, draw, over) {
    this.#draw = draw;
    this.#over = over;
    this.width = 0;
    this.height = height;
    this.canvas = h('canvas.picture', { role: 'img', 'aria-label': label, tabindex: '0' });
    this.above = over ? h('canvas.over', { 'aria-hidden': 'true' }) : null;
    this.tip = h('div.float-tip', { hidden: true });
    this.box = h('div.plot', { style: `height:${height}px` }, this.canvas, this.above, this.tip);
  }

  /** Paints onto a canvas of the box's size. */
  #paint(canvas, paint) {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(this.width * ratio), tall = Math.round(this.height * ratio);
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== tall) canvas.height = tall;
    const c = canvas.getContext('2d');
    c.save();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.font = `12px ${fonts()}`;
    c.textBaseline = 'middle';
    paint(c, this.width, this.height);
    c.restore();
  }

  /** On paper the second canvas isn't shown: it would cover the first. */
  #both = (c, width, height) => {
    this.#draw(c, width, height);
    this.#over?.(c, width, height);
  };

  #now = () => {
    const width = this.box.clientWidth;
    if (!width) return;
    if (width !== this.width) this.#current = false;
    this.width = width;
    if (!this.#current) this.#paint(this.canvas, isPrinting() ? this.#both : this.#draw);
    this.#current = true;
    if (this.above) this.#paint(this.above, this.#over);
  };

  /** Only what lies over the picture changed. */
  redrawOver = () => drawSoon(this.box, this.#now);

  /** Everything changed. */
  redraw = () => {
    this.#current = false;
    this.redrawOver();
  };

  /** Place of an event on the canvas. */
  at(event) {
    const rect = this.canvas.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  }

  showTip(x, y, ...nodes) {
    const { tip } = this;
    tip.replaceChildren(...nodes);
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 14, this.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.min(y + 16, this.height - 20)}px`;
  }

  hideTip = () => { this.tip.hidden = true; };

  listen() {
    this.canvas.addEventListener('pointerleave', this.hideTip);
    onTheme(() => {
      this.#current = false;
      if (isPrinting()) this.#now();
      else this.redrawOver();
    });
    new ResizeObserver(() => {
      if (this.box.clientWidth !== this.width) this.redraw();
    }).observe(this.box);
    whenInSight(this.box, this.redrawOver);
    return this;
  }
}

/**
 * @param {{label: string, height: number, draw: Function, over?: Function}} what draw and over are
 *   given the context, the width and the height
 */
export function canvasBox({ label, height, draw, over }) {
  return new CanvasBox(label, height, draw, over).listen();
}
