// Numbers as people read them.

const prefixes = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''],
  [1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n'], [1e-12, 'p']];

/** Three significant digits, without exponents. */
export function digits(value) {
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  const fixed = value.toFixed(Math.min(6, Math.max(0, 2 - size)));
  if (Number(fixed) === 0) return '0';
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}

/** 1234567 -> "1.23 M" + unit. */
export function si(value, unit = '') {
  if (value == null || Number.isNaN(value)) return '\u2013';
  if (value === 0) return unit ? `0 ${unit}` : '0';
  const size = Math.abs(value) * 1.0005; // 999,700 is 1 M, not 1000 k
  const [scale, prefix] = prefixes.find(([s]) => size >= s) ?? prefixes[prefixes.length - 1];
  const text = digits(value / scale);
  return unit || prefix ? `${text} ${prefix}${unit}` : text;
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
/** 1234567 -> "1,234,567". */
export function count(value) {
  return value == null ? '\u2013' : grouped.format(Math.round(value) + 0); // without -0
}

const large = [[1e12, 'trillion'], [1e9, 'billion'], [1e6, 'million']];
/** "25.6 million parameters", "1,234 operations", "1 operation": numbers within a sentence. */
export function counted(value, things) {
  const [scale, word] = large.find(([s]) => value * 1.0005 >= s) ?? [1, ''];
  const number = word ? `${digits(value / scale)} ${word}` : count(value);
  return `${number} ${value === 1 ? things.replace(/s$/, '') : things}`;
}

/** 4.02 -> "4.02 \u00d7", 0.249 -> "1/4.02 of", 1.001 -> "0.1 % more than": before "A's". */
export function times(ratio) {
  const factor = digits(Math.max(ratio, 1 / ratio));
  if (factor === '1') return `${percent(Math.abs(ratio - 1))} ${ratio < 1 ? 'less' : 'more'} than`;
  return ratio < 1 ? `1/${factor} of` : `${factor} \u00d7`;
}

export function percent(part, whole = 1) {
  if (!(whole > 0) || part == null) return '\u2013';
  const share = (part / whole) * 100;
  if (share === 0) return '0 %';
  if (share < 0.1) return '< 0.1 %';
  return `${share >= 99.95 || share < 10 ? digits(Number(share.toFixed(1))) : share.toFixed(1)} %`;
}

/** KiB and MiB, for capacities. */
export function kib(bytes) {
  if (bytes >= 1 << 20) return `${digits(bytes / (1 << 20))} MiB`;
  return bytes >= 1024 ? `${digits(bytes / 1024)} KiB` : `${bytes} B`;
}

/** A field's value by its unit, as the field list of the data says it. */
export function byUnit(value, unit, key = '') {
  if (value == null) return '\u2013';
  if (Array.isArray(value)) {
    return Array.isArray(value[0]) ? value.map((dims) => byUnit(dims, '')).join(', ')
      : value.join('\u00d7');
  }
  if (typeof value === 'string') return value || '\u2013';
  if (key === 'utilization') return percent(value);
  switch (unit) {
    case 'cycles': return count(value);
    case 'B':
    case 'bytes': return si(value, 'B');
    case 's': return si(value, 's');
    case 'pJ': return si(value * 1e-12, 'J');
    case 'MACs': return si(value);
    case 'GB/s': return si(value * 1e9, 'B/s');
    case 'GMAC/s': return si(value * 1e9, 'MAC/s');
    default:
      return `${Number.isInteger(value) ? count(value) : digits(value)}${unit ? ` ${unit}` : ''}`;
  }
}
