// Many straight lines added up per pixel: what a canvas takes half a second to stroke takes some
// milliseconds here, and how many lines cross a pixel is seen.
import { mix } from '../base/theme.js';

const shades = 128;
const tones = Uint8Array.from({ length: 1024 }, (_, i) =>
  Math.round((1 - Math.exp(-i / 300)) * (shades - 1)));

export class Density {
  #canvas = new OffscreenCanvas(1, 1);
  #image = null;

  /** Empties it; its memory is used again as long as its size stays. */
  begin(width, height) {
    if (this.#image?.width === width && this.#image.height === height) {
      this.sums.fill(0);
      return;
    }
    this.width = width;
    this.height = height;
    this.sums = new Float32Array(width * height);
    this.#image = new ImageData(width, height);
    this.#canvas.width = width;
    this.#canvas.height = height;
  }

  /** A line of a weight, in pixels; each step's weight is shared by the two nearest pixels. */
  line(x0, y0, x1, y1, weight) {
    const { width, height, sums } = this;
    const steep = Math.abs(y1 - y0) > Math.abs(x1 - x0);
    const length = Math.max(1, Math.round(steep ? Math.abs(y1 - y0) : Math.abs(x1 - x0)));
    const dx = (x1 - x0) / length, dy = (y1 - y0) / length, next = steep ? 1 : width;
    for (let i = 0, x = x0, y = y0; i <= length; i++, x += dx, y += dy) {
      const px = steep ? Math.floor(x) : Math.round(x), py = steep ? Math.round(y) : Math.floor(y);
      if (px < 0 || py < 0 || px >= width - 1 || py >= height - 1) continue;
      const share = steep ? x - px : y - py, at = py * width + px;
      sums[at] += weight * (1 - share);
      sums[at + next] += weight * share;
    }
  }

  /** The sums as a picture between two colours of the style sheet, until the next begin(). */
  picture(low, high, opacity = 1) {
    const words = new Uint32Array(shades);
    for (let k = 0; k < shades; k++) {
      const share = k / (shades - 1), hex = mix(low, high, share);
      const alpha = Math.round(255 * opacity * Math.min(1, 3 * share ** 0.7));
      words[k] = (alpha << 24 | parseInt(hex.slice(5, 7) + hex.slice(3, 5) + hex.slice(1, 3), 16))
        >>> 0;
    }
    const { sums } = this;
    const pixels = new Uint32Array(this.#image.data.buffer);
    for (let i = 0; i < pixels.length; i++)
      pixels[i] = sums[i] > 0.004 ? words[tones[Math.min(1023, sums[i] * 256 | 0)]] : 0;
    this.#canvas.getContext('2d').putImageData(this.#image, 0, 0);
    return this.#canvas;
  }
}
