// What lies under the pointer on a plot: it is named, marked and, with a click, chosen.

/**
 * @param {{under: (x: number, y: number) => any, tip: (thing: any) => Node,
 *   layer: (thing: any) => any}} of what is under a place, what is told of it, and what a click
 *   on it chooses, if anything
 * @returns {{thing: any}} what is there now; the plot's `over` marks it
 */
export function pointed(plot, { under, tip, layer }, selection) {
  const now = { thing: null };
  const { canvas } = plot;
  const hover = (found, at) => {
    if (found) plot.showTip(...at, tip(found));
    else plot.hideTip();
    canvas.style.cursor = found && layer(found) ? 'pointer' : 'default';
    if (found === now.thing) return;
    now.thing = found;
    plot.redrawOver();
  };
  canvas.addEventListener('pointermove', (event) => {
    const at = plot.at(event);
    hover(under(...at), at);
  });
  canvas.addEventListener('pointerleave', () => hover(null));
  canvas.addEventListener('click', (event) => {
    const found = under(...plot.at(event));
    if (found && layer(found)) selection.choose(layer(found));
  });
  selection.onChange(plot.redrawOver);
  return now;
}
