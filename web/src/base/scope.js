// What is made for one state of a page that changes, and undone before the next one is shown.
let current = null;

/** Collects what onRelease() is told from now on; returns what undoes all of it. */
export function beginScope() {
  const mine = [];
  current = mine;
  return () => {
    for (const undo of mine.splice(0)) undo();
  };
}

export function onRelease(undo) {
  current?.push(undo);
}
