// Whether the window is as narrow as a phone's: where the style sheet has one column.
import { onRelease } from './scope.js';

const media = window.matchMedia('screen and (max-width: 720px)');

/** Characters that the style sheet leaves a name in a table there. */
export const narrowName = 14;

export const isNarrow = () => media.matches;

export function onNarrow(listener) {
  media.addEventListener('change', listener);
  onRelease(() => media.removeEventListener('change', listener));
}
