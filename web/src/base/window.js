// The part of a long picture that is seen: wheel, drag, two fingers and keys change it, a bar along
// the top shows it.
import { h } from './dom.js';
import { colour } from './theme.js';

export const mapHeight = 10;

export class Window {
  /**
   * @param {number} end of what can be seen, from 0 on
   * @param {number} least what is seen at the closest
   * @param {number} left pixels of the plot before it begins
   */
  constructor(end, least, left) {
    Object.assign(this, { end, least, left, from: 0, to: end, width: left + 1, changed: () => {} });
  }

  /** Pixels a unit. */
  get scale() {
    return (this.width - this.left) / (this.to - this.from);
  }

  x(value) {
    return this.left + (value - this.from) * this.scale;
  }

  at(x) {
    return this.from + (x - this.left) / this.scale;
  }

  show(from, to) {
    const span = Math.min(this.end, Math.max(this.least, to - from));
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.changed();
  }

  all() {
    this.show(0, this.end);
  }

  pan(by) {
    this.show(this.from + by, this.to + by);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = (this.to - this.from) * factor;
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - span * share, at - span * share + span);
  }

  drawMap(c) {
    if (this.to - this.from >= this.end) return; // everything is in sight
    const full = this.width - this.left, per = full / this.end;
    c.fillStyle = colour('sunken');
    c.fillRect(this.left, 0, full, mapHeight);
    c.fillStyle = colour('accent');
    c.fillRect(this.left + this.from * per, 0, Math.max(3, (this.to - this.from) * per), mapHeight);
  }

  tools() {
    return [
      h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => this.zoom(0.4) }, '+'),
      h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => this.zoom(2.5) },
        '\u2212'),
      h('button', { type: 'button', onclick: () => this.all() }, 'Everything')];
  }
}

/**
 * What moves a window of a plot.
 * @param {{hover: (x: number, y: number) => void, click: (x: number, y: number) => void,
 *   double?: (x: number) => void}} told of pointers that don't move it, in pixels of the plot
 */
export function movable(plot, view, told) {
  const { canvas } = plot;
  canvas.addEventListener('wheel', (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && !event.shiftKey && !sideways) return;
    event.preventDefault();
    if (zooms) view.zoom(Math.exp(event.deltaY * 0.0025), view.at(plot.at(event)[0]));
    else view.pan((event.deltaX || event.deltaY) / view.scale);
  }, { passive: false });
  canvas.addEventListener('dblclick', (event) => told.double?.(plot.at(event)[0]));
  canvas.addEventListener('keydown', (event) => {
    const span = view.to - view.from;
    const act = { '+': () => view.zoom(0.5), '=': () => view.zoom(0.5), '-': () => view.zoom(2),
      0: () => view.all(), ArrowLeft: () => view.pan(-span / 5),
      ArrowRight: () => view.pan(span / 5) }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  pointers(plot, view, told);
}

function pointers(plot, view, told) {
  const { canvas } = plot, held = new Map();
  let moved = 0, onMap = false;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, event);
    moved = 0;
    onMap = plot.at(event)[1] < mapHeight + 4;
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = held.get(event.pointerId);
    if (!before) {
      told.hover(...plot.at(event));
      return;
    }
    const step = event.clientX - before.clientX;
    moved += Math.abs(step);
    plot.hideTip();
    if (onMap) view.pan((step * view.end) / (view.width - view.left));
    else if (held.size === 1) view.pan(-step / view.scale);
    else pinch(event, before);
    held.set(event.pointerId, event);
  });
  function pinch(event, before) {
    const other = [...held.values()].find((p) => p.pointerId !== event.pointerId);
    const was = Math.abs(before.clientX - other.clientX) || 1;
    const is = Math.abs(event.clientX - other.clientX) || 1;
    const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: event.clientY };
    view.zoom(was / is, view.at(plot.at(middle)[0]));
  }
  const release = (event) => {
    if (!held.delete(event.pointerId) || moved > 4 || event.type !== 'pointerup') return;
    const [x, y] = plot.at(event);
    if (x < view.left) return;
    if (onMap) {
      const middle = ((x - view.left) / (view.width - view.left)) * view.end;
      view.pan(middle - (view.from + view.to) / 2);
    } else {
      told.click(x, y);
    }
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
}
