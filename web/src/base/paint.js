// What several canvases draw: axes with ticks, text that reads on any ground, names cut to a width.
import { colour } from './theme.js';

/** Text with a rim in the colour of the page's surface. */
export function haloText(c, text, x, y) {
  c.strokeStyle = colour('surface');
  c.lineWidth = 3;
  c.lineJoin = 'round';
  c.strokeText(text, x, y);
  c.fillText(text, x, y);
}

/** As much of a text as fits a width; empty where not even four characters do. */
export function fitted(c, text, width) {
  const wide = c.measureText(text).width;
  if (wide <= width) return text;
  const most = Math.floor((text.length * width) / wide) - 1;
  if (most < 3) return '';
  return `${text.slice(0, most)}\u2026`;
}

/**
 * Grid lines, ticks and titles of two scales.
 * @param {{left: number, top: number, right: number, bottom: number}} frame pixels of the plot
 * @param {{scale: object, text: (v: number) => string, title: string}} x and y
 */
export function drawAxes(c, frame, x, y) {
  const { left, top, right, bottom } = frame;
  const px = (v) => left + x.scale.at(v) * (right - left);
  const py = (v) => bottom - y.scale.at(v) * (bottom - top);
  c.fillStyle = colour('line');
  for (const t of x.scale.ticks) c.fillRect(Math.round(px(t)), top, 1, bottom - top);
  for (const t of y.scale.ticks) c.fillRect(left, Math.round(py(t)), right - left, 1);
  c.fillStyle = colour('muted');
  c.textAlign = 'center';
  let end = -Infinity;
  for (const t of x.scale.ticks) {
    const text = x.text(t), half = c.measureText(text).width / 2;
    if (px(t) - half < end + 10) continue;
    end = px(t) + half;
    c.fillText(text, px(t), bottom + 14);
  }
  c.textAlign = 'right';
  let above = Infinity;
  for (const t of y.scale.ticks) {
    if (py(t) > above - 15) continue;
    above = py(t);
    c.fillText(y.text(t), left - 8, py(t));
  }
  c.fillStyle = colour('ink-soft');
  c.textAlign = 'center';
  c.fillText(x.title, (left + right) / 2, bottom + 35);
  c.save();
  c.translate(9, (top + bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(y.title, 0, 0);
  c.restore();
  c.textAlign = 'left';
}
