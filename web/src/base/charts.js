// ECharts with only what the views use, and the life of a chart: made when it comes into sight,
// resized with its box, made again when the theme changes.
import { BarChart, LineChart } from 'echarts/charts';
import {
  AriaComponent, DataZoomComponent, GridComponent, MarkLineComponent, TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { h } from './dom.js';
import { onRelease } from './scope.js';
import { drawSoon, isInSight, whenInSight } from './sight.js';
import { colour, fonts, isPrinting, onTheme } from './theme.js';

echarts.use([BarChart, LineChart, AriaComponent, DataZoomComponent, GridComponent,
  MarkLineComponent, TooltipComponent, CanvasRenderer]);

const charts = new Set();
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) entry.target.chart.want('size');
});

onTheme(() => {
  for (const chart of charts) chart.redraw();
});

/** The settings that all charts have in common. */
export function common() {
  return {
    animation: false,
    textStyle: { fontFamily: fonts(), color: colour('ink') },
    aria: { enabled: true },
    tooltip: {
      confine: true,
      backgroundColor: colour('raised'),
      borderColor: colour('line'),
      textStyle: { color: colour('ink'), fontSize: 13 },
      extraCssText: 'box-shadow:0 4px 16px rgba(0,0,0,.18);max-width:min(420px,88vw)',
    },
  };
}

/** An axis in the page's colours. */
export function axis(extra = {}) {
  return {
    axisLine: { lineStyle: { color: colour('line-strong') } },
    axisTick: { lineStyle: { color: colour('line-strong') } },
    minorTick: { show: false },
    splitLine: { lineStyle: { color: colour('line') } },
    nameTextStyle: { color: colour('muted'), fontSize: 12 },
    ...extra,
    axisLabel: { color: colour('muted'), fontSize: 12, hideOverlap: true, ...extra.axisLabel },
  };
}

/** The slider and the wheel over an x axis. */
export function zoom(extra = {}) {
  const shared = { filterMode: 'filter', throttle: 40, ...extra };
  return [
    { type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false, ...shared },
    {
      type: 'slider',
      height: 20,
      bottom: 6,
      borderColor: 'transparent',
      backgroundColor: colour('sunken'),
      fillerColor: colour('select-soft'),
      dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { color: colour('line-strong') } },
      selectedDataBackground: {
        lineStyle: { opacity: 0 }, areaStyle: { color: colour('accent') },
      },
      handleStyle: { color: colour('raised'), borderColor: colour('line-strong') },
      moveHandleStyle: { color: colour('line-strong') },
      textStyle: { color: colour('muted'), fontSize: 11 },
      brushSelect: false,
      showDetail: false,
      ...shared,
    },
  ];
}

/**
 * A box with a chart. `option()` gives the chart's settings in the present theme; `label` says to
 * those who can't see it what it shows; `ready(chart)` hangs listeners on it; `marker(chart)` says
 * where the chosen thing is, in pixels: {left, top, width, height, round}, or nothing.
 */
export function chartBox({ label, height = 360, option, ready, marker }) {
  const mark = h('div.marker', { hidden: true });
  const inner = h('div.chart-inner', {});
  const box = h('div.chart', { role: 'img', 'aria-label': label, style: `height:${height}px` },
    inner, mark);
  const wanted = new Set();
  const self = {
    box,
    chart: null,
    /** What changed: 'option' or 'size'. Done in the next frame that has the chart in sight. */
    want(what) {
      wanted.add(what);
      drawSoon(box, self.flush);
    },
    flush() {
      if (!self.chart) return self.draw();
      const all = wanted.has('option'), size = wanted.has('size');
      wanted.clear();
      if (size && self.chart.getWidth() !== box.clientWidth) self.chart.resize();
      if (all) self.chart.setOption({ ...common(), ...option() }, { notMerge: true });
      return self.mark();
    },
    draw() {
      if (self.chart || !box.clientWidth) return;
      wanted.clear();
      self.chart = echarts.init(inner, null, { renderer: 'canvas' });
      self.chart.setOption({ ...common(), ...option() });
      self.chart.on('rendered', self.mark);
      ready?.(self.chart);
      self.mark();
    },
    update() {
      self.want('option');
    },
    mark() {
      const at = self.chart && marker?.(self.chart);
      mark.hidden = !at;
      if (!at) return;
      for (const key of ['left', 'top', 'width', 'height']) mark.style[key] = `${at[key]}px`;
      mark.classList.toggle('round', Boolean(at.round));
    },
    redraw() {
      const drawn = Boolean(self.chart);
      self.chart?.dispose();
      self.chart = null;
      if (isPrinting() || (drawn && isInSight(box))) self.draw();
    },
  };
  box.chart = self;
  charts.add(self);
  onRelease(() => {
    charts.delete(self);
    self.chart?.dispose();
    self.chart = null;
  });
  whenInSight(box, () => self.chart && wanted.size === 0 || drawSoon(box, self.flush));
  sizes.observe(box);
  return self;
}

/** A marker over a span of a chart's x axis. */
export function spanMarker(chart, from, to) {
  const [x0, x1] = [from, to].map((v) => chart.convertToPixel({ xAxisIndex: 0 }, v));
  const [low, high] = [0, 1].map((i) => chart.convertToPixel({ yAxisIndex: 0 },
    chart.getModel().getComponent('yAxis', 0).axis.scale.getExtent()[i]));
  const width = Math.max(3, x1 - x0), left = (x0 + x1) / 2 - width / 2;
  const middle = [left + width / 2, (low + high) / 2];
  if (!chart.containPixel('grid', middle)) return null;
  return { left, top: high, width, height: low - high };
}
