// The network's time by queue, ready to be drawn: slices in flat arrays, found by time.

const mainQueue = { gemm: 'execute', vector: 'post', memory: 'load', unsupported: 'load' };

/**
 * One queue of one layer: starts and ends in the network's cycles, rising; busy: cycles of work in
 * between, fewer than all only where several commands are one slice.
 * @typedef {{start: Float64Array, end: Float64Array, busy: Float64Array, command: Int32Array,
 *   count: Int32Array}} Lane
 */

function lane(slices, offset) {
  const n = slices.length;
  const out = { start: new Float64Array(n), end: new Float64Array(n), busy: new Float64Array(n),
    command: new Int32Array(n), count: new Int32Array(n) };
  slices.forEach(([start, duration, command, count = 1, busy = duration], i) => {
    out.start[i] = offset + start;
    out.end[i] = offset + start + duration;
    out.busy[i] = busy;
    out.command[i] = command;
    out.count[i] = count;
  });
  return out;
}

/**
 * Layers with their lanes; where no timeline is given, each layer is one bar of its queue. The
 * reach of a layer is the end of all that queues do of it and of the layers before it.
 */
export function timelineData(model, given) {
  const queues = given?.queues ?? ['load', 'execute', 'post', 'store'];
  const commands = given?.commands ?? [];
  const told = new Map((given?.layers ?? []).map((l) => [l.layer, l]));
  let clock = 0, commandsTold = 0, reach = 0;
  const layers = model.costed.map((layer) => {
    const entry = told.get(layer.index);
    const start = entry?.start ?? clock;
    const cycles = entry?.cycles ?? layer.cycles;
    clock = start + cycles;
    const lanes = {};
    let from = start;  // queues begin with a layer under the layers before it
    reach = Math.max(reach, clock);  // and where layers take turns go on beside those behind it
    for (const queue of queues) {
      const slices = entry?.slices?.[queue];
      if (!slices?.length) continue;
      lanes[queue] = lane(slices, start);
      from = Math.min(from, lanes[queue].start[0]);
      reach = Math.max(reach, lanes[queue].end.at(-1));
      commandsTold = lanes[queue].count.reduce((sum, n) => sum + n, commandsTold);
    }
    const whole = Object.keys(lanes).length === 0;
    return { layer, from, start, end: start + cycles, reach, lanes, whole,
      main: queues.includes(mainQueue[layer.fate]) ? mainQueue[layer.fate] : queues[0] };
  });
  return { queues, commands, layers, end: clock, summarised: given?.summarised ?? false,
    told: commandsTold, known: Boolean(given) };
}

/** Index of the first whose end lies beyond a time. */
export function firstAfter(ends, time, endOf = (i) => ends[i]) {
  let low = 0, high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(middle) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
