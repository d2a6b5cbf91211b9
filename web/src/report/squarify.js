// Rectangles whose areas are values, as square as can be (Bruls, Huizing, van Wijk: Squarified
// Treemaps, 2000).

/** The worst ratio of sides in a row of areas along a side. */
function worst(least, most, sum, side) {
  const s2 = side * side, sum2 = sum * sum;
  return Math.max((s2 * most) / sum2, sum2 / (s2 * least));
}

/**
 * @param {{value: number}[]} items
 * @param {{x: number, y: number, width: number, height: number}} box
 * @returns {{item: object, rect: typeof box}[]} the largest first; they fill the box
 */
export function squarify(items, box) {
  const sorted = items.filter((item) => item.value > 0).sort((a, b) => b.value - a.value);
  const sum = sorted.reduce((s, item) => s + item.value, 0);
  const scale = (box.width * box.height) / sum;
  const out = [];
  let { x, y, width, height } = box, first = 0;
  while (first < sorted.length) {
    const side = Math.min(width, height);
    let last = first, row = 0, ratio = Infinity;
    for (; last < sorted.length; last++) {
      const area = sorted[last].value * scale;
      const next = worst(area, sorted[first].value * scale, row + area, side);
      if (last > first && next > ratio) break;
      row += area;
      ratio = next;
    }
    const thick = side > 0 ? row / side : 0;
    let along = 0;
    for (let i = first; i < last; i++) {
      const length = thick > 0 ? (sorted[i].value * scale) / thick : 0;
      out.push({ item: sorted[i], rect: width >= height
        ? { x, y: y + along, width: thick, height: length }
        : { x: x + along, y, width: length, height: thick } });
      along += length;
    }
    if (width >= height) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    first = last;
  }
  return out;
}
