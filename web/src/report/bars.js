// Stacked bars, one a layer: for cycles and for energy.
import { canvasBox } from '../base/canvas.js';
import { choice, h, tooltip } from '../base/dom.js';
import { percent } from '../base/format.js';
import { shortNames } from '../base/names.js';
import { scaleOf } from '../base/scale.js';
import { colour } from '../base/theme.js';
import { mapHeight, movable, Window } from '../base/window.js';
import { painted } from './model.js';
import { strip } from './strip.js';

const firstBars = 160, height = 380, left = 70, top = mapHeight + 14, bottom = 110;
const slant = -0.87; // of the names, in radians
const mostName = 21; // characters

class Bars {
  constructor(model, what, used, kept) {
    Object.assign(this, { model, what, used, kept, layers: model.costed });
    this.short = shortNames(this.layers.map((l) => l.name), mostName);
    this.view = new Window(this.layers.length, Math.min(8, this.layers.length), left);
    this.view.show(...kept.window ?? [0, Math.min(firstBars, this.layers.length)]);
    this.order(kept.order);
  }

  order(by) {
    this.kept.order = by;
    const { total } = this.what;
    this.layers = by === 'order' ? this.model.costed
      : [...this.model.costed].sort((a, b) => total(b) - total(a));
    this.places = new Map(this.layers.map((l, i) => [l, i]));
  }

  /** The layers in sight; of those that share a pixel the largest. */
  visible() {
    const { view, layers, what } = this, out = [];
    const last = Math.min(layers.length, Math.ceil(view.to));
    let pixel = -1;
    for (let i = Math.max(0, Math.floor(view.from)); i < last; i++) {
      const at = Math.floor(view.x(i));
      if (view.scale >= 1 || at !== pixel) out.push(i);
      else if (what.total(layers[i]) > what.total(layers[out[out.length - 1]]))
        out[out.length - 1] = i;
      pixel = at;
    }
    return out;
  }

  draw(c, width) {
    const { view, what, layers } = this;
    view.width = width;
    if (view.end > Math.min(firstBars, 40)) view.drawMap(c);
    const { share } = this.kept, seen = this.visible();
    const high = share ? 100
      : seen.reduce((m, i) => Math.max(m, what.total(layers[i])), 0) || 1;
    this.scale = scaleOf(0, share ? 100 : high * 1.02, false);
    this.drawTicks(c, width);
    c.save();
    c.beginPath();
    c.rect(left, 0, width - left, height);
    c.clip();
    const wide = view.scale, gap = wide > 12 ? wide * 0.2 : wide > 3 ? 0.8 : 0;
    for (const part of painted(this.used)) {
      c.fillStyle = part.paint;
      for (const i of seen) {
        const [from, to] = this.ends(part, i);
        if (to > from) c.fillRect(view.x(i) + gap / 2, this.y(to), Math.max(1, wide - gap),
          this.y(from) - this.y(to));
      }
    }
    c.restore();
    this.drawNames(c, seen, width);
  }

  y(value) {
    return height - bottom - this.scale.at(value) * (height - top - bottom);
  }

  /** Where a part of a layer's bar begins and ends. */
  ends(part, i) {
    const layer = this.layers[i];
    let from = 0;
    for (const p of this.used) {
      if (p.key === part.key) break;
      from += p.of(layer);
    }
    const by = this.kept.share ? 100 / (this.what.total(layer) || 1) : 1;
    return [from * by, (from + part.of(layer)) * by];
  }

  drawTicks(c, width) {
    c.textAlign = 'right';
    for (const t of this.scale.ticks) {
      c.fillStyle = colour('line');
      c.fillRect(left, Math.round(this.y(t)), width - left, 1);
      c.fillStyle = colour('muted');
      c.fillText(this.kept.share ? `${t} %` : this.what.axis(t), left - 8, this.y(t));
    }
    c.textAlign = 'left';
  }

  drawNames(c, seen, width) {
    c.fillStyle = colour('muted');
    c.textAlign = 'right';
    let last = -Infinity;
    for (const i of seen) {
      const x = this.view.x(i + 0.5);
      if (x < Math.max(last + 17, left + 4) || x > width - 2) continue;
      last = x;
      c.save();
      c.translate(x + 4, height - bottom + 8);
      c.rotate(slant);
      c.fillText(this.short.get(this.layers[i].name), 0, 0);
      c.restore();
    }
    c.textAlign = 'left';
  }

  under(x, y) {
    const i = Math.floor(this.view.at(x));
    return x >= left && y > mapHeight && i >= 0 ? this.layers[i] ?? null : null;
  }

  /** A filled band behind the pointer, or the chosen layer's frame. */
  band(c, layer, width, fill) {
    const i = this.places.get(layer);
    if (i == null) return;
    const from = Math.max(left, this.view.x(i)), to = Math.min(width, this.view.x(i + 1));
    if (to <= from) return;
    c.fillStyle = fill && colour(fill);
    c.strokeStyle = colour('select');
    c.lineWidth = 2;
    const box = [from - (fill ? 0 : 1), top - 4, Math.max(3, to - from + (fill ? 0 : 1)),
      height - bottom - top + 5];
    if (fill) c.fillRect(...box);
    else c.strokeRect(...box);
  }

  tip(layer) {
    const { what } = this, whole = what.total(layer);
    const rows = painted(this.used).filter((p) => p.of(layer) > 0).map((p) =>
      [p.label, `${what.text(p.of(layer))}, ${percent(p.of(layer), whole)}`, p.paint]);
    return tooltip(layer.name, [[`${layer.op_type}, ${what.name}`, what.text(whole)], ...rows],
      `${percent(whole, what.total(this.model.totals))} of the network`);
  }
}

export function layerBars({ model, selection, choices }, what) {
  const used = what.parts.filter((p) => model.costed.some((l) => p.of(l) > 0));
  const kept = choices.of(`bars of ${what.name}`, { order: 'order', share: false, window: null });
  const bars = new Bars(model, what, used, kept);
  let hovered = null;
  const plot = canvasBox({
    label: `${what.label}; the table of layers has the numbers. Plus and minus zoom, arrows move`,
    height, draw: (c, width) => bars.draw(c, width),
    over(c, width) {
      if (hovered) bars.band(c, hovered, width, 'select-soft');
      if (selection.layer) bars.band(c, selection.layer, width, null);
    },
  });
  plot.box.classList.add('timeline');
  bars.view.changed = () => {
    kept.window = [bars.view.from, bars.view.to];
    plot.redraw();
  };

  const hover = (layer, at) => {
    if (layer) plot.showTip(...at, bars.tip(layer));
    else plot.hideTip();
    if (layer === hovered) return;
    hovered = layer;
    plot.redrawOver();
  };
  movable(plot, bars.view, {
    hover: (x, y) => hover(bars.under(x, y), [x, y]),
    click(x, y) {
      const layer = bars.under(x, y);
      if (layer) selection.choose(layer);
    },
  });
  plot.canvas.addEventListener('pointerleave', () => hover(null));
  selection.onChange(plot.redrawOver);
  const zooms = bars.view.end > 40 ? bars.view.tools() : [];
  const tools = [
    choice('Order', [['order', 'As they run'], ['largest', 'Largest first']], kept.order, (v) => {
      bars.order(v);
      plot.redraw();
    }),
    choice('Scale', [[false, 'Amount'], [true, 'Share']], kept.share, (v) => {
      kept.share = v;
      plot.redraw();
    }), ...zooms,
  ];
  const legend = what.strip
    ? strip(`All of the ${what.name}`, used.map((p) => ({ ...p, value: p.of(model.totals) })),
      what.text)
    : h('ul.legend.compact', {}, used.map((p) => h('li', {},
      h('i', { style: `background:var(--${p.colour})` }), h('span', {}, p.label))));
  return { tools, children: [legend, plot.box] };
}
