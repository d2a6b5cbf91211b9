// The chosen point: its values, its machine as YAML, and the commands that cost it.

/** The lines of a machine's YAML with other values at some paths. */
export function setYaml(base, sets) {
  const path = [];
  return base.split('\n').map((line) => {
    const match = /^(\s*)([A-Za-z_][\w]*):(\s*)(.*)$/.exec(line);
    if (!match) return line;
    const [, indent, key, blank, rest] = match;
    path.length = indent.length / 2;
    path.push(key);
    const value = sets[path.join('.')];
    if (value == null || rest.startsWith('#')) return line;
    const comment = /\s+#.*$/.exec(rest)?.[0] ?? '';
    return `${indent}${key}:${blank}${value}${comment}`;
  }).join('\n');
}

const quote = (word) => (/^[\w./:=,+@%-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/** What each axis's step sets, for one point. */
export function settingsOf(sweep, i) {
  const sets = {};
  for (const [name, { steps, words }] of Object.entries(sweep.data.space.axes)) {
    const c = sweep.byName.get(name);
    const value = c.values[i];
    const step = steps.find((s) => (words ? s.label === c.words[value]
      : Math.abs(s.value - value) <= Math.abs(value) * 1e-12));
    Object.assign(sets, step?.sets);
  }
  return sets;
}

export function machineYaml(sweep, i) {
  const point = sweep.points[i];
  const sets = { ...settingsOf(sweep, i), name: `"point-${point}"` };
  const yaml = setYaml(sweep.data.space.base, sets);
  return yaml.replace(/[ \t]+#.*$/gm, '').replace(/\n{2,}/g, '\n').trim();
}

/** Makes the machine's file and costs each network on it. */
export function commands(sweep, i) {
  const { space } = sweep.data;
  const file = `point-${sweep.points[i]}.yaml`;
  const lines = [`cat > ${file} <<'EOF'`, machineYaml(sweep, i), 'EOF'];
  for (const m of space.models) {
    const words = ['accsim', '--hw', file, quote(m.file),
      ...Object.entries(m.bindings).flatMap(([k, v]) => ['--bind', quote(`${k}=${v}`)])];
    if (m.allow_unsupported) words.push('--allow-unsupported');
    if (space.effort !== 'search') words.push('--effort', space.effort);
    if (space.objective !== 'cycles') words.push('--objective', space.objective);
    if (space.slack) words.push('--slack', space.slack); // where it isn't the program's own
    lines.push(words.join(' ') + (m.weight > 1 ? `  # counts ${m.weight} times` : ''));
  }
  return lines.join('\n');
}
