// Scales of the plots that are drawn here: linear and logarithmic, with round ticks.

/**
 * Places 0..1: at(v) is (f(v) - low) / span, f the logarithm where the scale is one.
 * @returns {{at: (v: number) => number, back: (p: number) => number, ticks: number[],
 *   low: number, span: number}}
 */
export function scaleOf(low, high, log) {
  if (!(high > low)) {
    const by = Math.abs(low) * 0.1 || 1;
    return scaleOf(low - by, low + by, false);
  }
  if (log && low > 0) {
    const a = Math.log(low), b = Math.log(high);
    return {
      at: (v) => (Math.log(v) - a) / (b - a), back: (p) => Math.exp(a + p * (b - a)),
      ticks: logTicks(low, high), low: a, span: b - a,
    };
  }
  return {
    at: (v) => (v - low) / (high - low), back: (p) => low + p * (high - low),
    ticks: linearTicks(low, high), low, span: high - low,
  };
}

function linearTicks(low, high, wanted = 6) {
  const rough = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= rough);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); k++) out.push(k * step);
  return out;
}

function logTicks(low, high) {
  const decades = Math.log10(high / low);
  if (decades < 1) return linearTicks(low, high, 5);
  const factors = decades < 2.5 ? [1, 2, 5] : decades < 7 ? [1] : null;
  const out = [];
  const first = Math.floor(Math.log10(low));
  for (let e = first; 10 ** e <= high; e += factors ? 1 : Math.ceil(decades / 6))
    for (const f of factors ?? [1]) {
      const v = f * 10 ** e;
      if (v >= low * 0.999999 && v <= high * 1.000001) out.push(v);
    }
  return out;
}
