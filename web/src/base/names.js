// Names of layers where there is little room: what tells them apart stays.

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

/** "features.10" -> "f.10", "self_attn" -> "sa": first letters of words; digits and points stay. */
function initials(part) {
  return part.match(/\p{L}+|[\d.]+/gu)?.map((word) => (/^\p{L}/u.test(word) ? [...word][0] : word))
    .join('') || [...part][0];
}

const length = (text) => [...text].length;
const partsOf = (name) => (separatorOf(name) ? name.split(separatorOf(name)) : [name])
  .filter(Boolean);

/** How many leading parts all names have, each keeping one of its own. */
function commonParts(names) {
  if (names.length < 2) return 0;
  const [first, ...others] = names.map(partsOf);
  let common = first.length - 1;
  for (const parts of others) {
    let same = 0;
    while (same < Math.min(common, parts.length - 1) && parts[same] === first[same]) same += 1;
    common = same;
  }
  return common;
}

/** What a name too long can become, the most telling first; `most` characters have room. */
function formsOf(name, common, most) {
  const separator = separatorOf(name);
  const parts = partsOf(name).slice(common).filter((part, i, all) => {
    const next = all[i + 1];
    return next !== part && !next?.startsWith(`${part}.`);
  });
  const joined = (list) => `\u2026${list.join(separator)}`;
  const end = (text) => (length(text) <= most ? text
    : `\u2026${[...text].slice(1 - most).join('')}`);
  const fewer = [...parts];
  for (let i = 0; i + 1 < parts.length && length(joined(fewer)) > most; i++)
    fewer[i] = initials(fewer[i]);
  // The last part is often an operator, of which some letters are enough.
  const start = (text) => {
    const cut = [...text].slice(0, most - 1).join('');
    return cut.length - text.lastIndexOf(separator) > 4 ? `${cut}\u2026` : text;
  };
  const head = Math.floor((most - 1) / 3), letters = [...name];
  const middle = letters.slice(0, head).join('') + '\u2026'
    + letters.slice(head + 1 - most).join('');
  return [joined(parts), start(joined(parts)), joined(fewer), start(joined(fewer)),
    end(joined(fewer)), end(joined(parts)), middle];
}

/**
 * Names for an axis, at most so many characters each: of a long one what tells it from the others.
 * Leading parts that all long names share make way first, then letters of its parts, then its
 * end, start or middle; what no cut tells apart gets a number. Tables in text do about the same
 * (sim/report/short_names.h).
 * @param {string[]} names
 * @returns {Map<string, string>}
 */
export function shortNames(names, most) {
  const out = new Map(), taken = new Set();
  for (const name of names) if (length(name) <= most) out.set(name, name);
  for (const name of out.keys()) taken.add(name);
  const longer = [...new Set(names)].filter((name) => !out.has(name));
  const common = commonParts(longer);
  let pending = longer.map((name) => [name, formsOf(name, common, most)]);
  for (let form = 0; form < 7 && pending.length > 0; form++) {
    const seen = new Map();
    for (const [, forms] of pending) seen.set(forms[form], (seen.get(forms[form]) ?? 0) + 1);
    const settled = pending.filter(([, forms]) => length(forms[form]) <= most
      && seen.get(forms[form]) === 1 && !taken.has(forms[form]));
    for (const [name, forms] of settled) {
      out.set(name, forms[form]);
      taken.add(forms[form]);
    }
    pending = pending.filter(([name]) => !out.has(name));
  }
  pending.forEach(([name], i) => {
    const mark = `#${i + 1}`;
    out.set(name, `\u2026${[...name].slice(mark.length + 1 - most).join('')}${mark}`);
  });
  return out;
}
