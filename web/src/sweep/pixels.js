// Very many points: straight into pixels, those that are filtered out first, the front last.

/** "#rrggbb" and an opacity as ImageData has them. */
const word = (hex, alpha) =>
  (alpha << 24 | parseInt(hex.slice(5, 7) + hex.slice(3, 5) + hex.slice(1, 3), 16)) >>> 0;

export class Pixels {
  #canvas = new OffscreenCanvas(1, 1);
  #image = null;

  /**
   * @param {{width: number, height: number}} plot in the page's pixels
   * @param {{xs: Float32Array, ys: Float32Array}} at places of the points, in the page's pixels
   * @param {{passes: Uint8Array, of: Uint8Array, paints: string[], front: number[],
   *   tinted: boolean, frontPaint: string}} what paints[0] is for points that don't pass,
   *   1 + of[i] for the others; of the front, where tinted, within a frame of its own paint
   */
  draw(c, plot, at, { passes, of, paints, front, tinted, frontPaint }) {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(plot.width * ratio), tall = Math.round(plot.height * ratio);
    const image = this.#empty(wide, tall), pixels = new Uint32Array(image.data.buffer);
    const words = Uint32Array.from(paints, (hex, k) => word(hex, k === 0 ? 0x60 : 0xd8));
    const { xs, ys } = at, n = passes.length, size = Math.round((n > 20000 ? 2 : 3) * ratio);
    const square = (i, side, paint) => {
      const first = Math.round(ys[i] * ratio - side / 2) * wide
        + Math.round(xs[i] * ratio - side / 2);
      for (let row = first; row < first + side * wide; row += wide)
        for (let k = row; k < row + side; k++) pixels[k] = paint;
    };
    for (let i = 0; i < n; i++) if (passes[i] === 0) square(i, size, words[0]);
    for (let i = 0; i < n; i++) if (passes[i] === 1) square(i, size, words[1 + of[i]]);
    const side = Math.round((front.length > 300 ? tinted ? 5 : 3 : 7) * ratio);
    for (const i of front) {
      square(i, side, word(frontPaint, passes[i] ? 0xff : 0x60));
      if (tinted && passes[i]) square(i, Math.round(side * 0.6), words[1 + of[i]]);
    }
    this.#canvas.getContext('2d').putImageData(image, 0, 0);
    c.drawImage(this.#canvas, 0, 0, plot.width, plot.height);
  }

  #empty(wide, tall) {
    if (this.#image?.width === wide && this.#image.height === tall) {
      new Uint32Array(this.#image.data.buffer).fill(0);
      return this.#image;
    }
    this.#canvas.width = wide;
    this.#canvas.height = tall;
    this.#image = new ImageData(wide, tall);
    return this.#image;
  }
}
