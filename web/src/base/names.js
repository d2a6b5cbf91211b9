// Names of layers where there is little room: their ends tell them apart, cut between parts.

/** What a name's parts lie between: the first of these that it has behind its first character. */
const separatorOf = (name) => ['/', '.', '_'].find((s) => name.indexOf(s, 1) > 0) ?? '';

/** "/layer1/layer1.0/conv1/Conv" -> "layer1.0/conv1/Conv": without parts that the next repeats. */
function compact(name) {
  const parts = name.split('/').filter(Boolean);
  if (parts.length < 2) return name;
  return parts.filter((part, i) => {
    const next = parts[i + 1];
    return next !== part && !next?.startsWith(`${part}.`);
  }).join('/');
}

/**
 * As much of a name's end as fits: whole parts, or the end of a name that has none.
 * @param {(text: string) => boolean} fits
 * @returns {string} empty where not even the last part fits
 */
export function ending(name, fits) {
  if (fits(name)) return name;
  const short = compact(name), separator = separatorOf(short);
  if (fits(short)) return short;
  if (!separator) {
    for (let n = short.length - 1; n > 2; n--)
      if (fits(`\u2026${short.slice(-n)}`)) return `\u2026${short.slice(-n)}`;
    return '';
  }
  for (let at = short.indexOf(separator, 1); at > 0; at = short.indexOf(separator, at + 1))
    if (fits(`\u2026${short.slice(at)}`)) return `\u2026${short.slice(at)}`;
  const last = short.slice(short.lastIndexOf(separator) + 1);
  return fits(last) ? last : '';
}

/** At most so many characters of a name, whatever must go. */
export function shortName(name, most) {
  return ending(compact(name), (text) => text.length <= most) || `\u2026${name.slice(1 - most)}`;
}
