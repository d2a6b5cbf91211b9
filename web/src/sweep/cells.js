// The cells of two axes: of each the point that is least (or most) in a column.

/**
 * @typedef {object} Cells
 * @property {number} wide cells along x, one a step
 * @property {number} tall
 * @property {Int32Array} point of each cell (y * wide + x) the point that stands for it, or -1
 * @property {Uint32Array} held how many points that pass lie in it
 * @property {number} low of the values that are shown
 * @property {number} high
 */

/** @returns {Cells} */
export function cellsOf(sweep, x, y, z, most) {
  const wide = x.steps.length, tall = y.steps.length;
  const px = sweep.stepsOf(x), py = sweep.stepsOf(y), { passes } = sweep, { values } = z;
  const point = new Int32Array(wide * tall).fill(-1), held = new Uint32Array(wide * tall);
  for (let i = 0; i < passes.length; i++) {
    if (!passes[i]) continue;
    const at = py[i] * wide + px[i], best = point[at];
    held[at] += 1;
    if (best < 0 || (most ? values[i] > values[best] : values[i] < values[best])) point[at] = i;
  }
  let low = Infinity, high = -Infinity;
  for (const i of point) {
    if (i < 0) continue;
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return { wide, tall, point, held, low, high };
}
