// What the reader has chosen in the views. A page that is drawn anew hands the same choices to its
// new views.

export class Choices {
  #kept = new Map();

  /** The choices of one view: an object that it reads and writes, at first `initial`. */
  of(view, initial) {
    if (!this.#kept.has(view)) this.#kept.set(view, { ...initial });
    return this.#kept.get(view);
  }
}
