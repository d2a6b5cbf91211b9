// The commands of the timeline: more than a change of a field has time for. They are asked for when
// the timeline is seen, or when the fields have rested, some layers at a time; a change ends it.
import { ask } from './server.js';

const rest = 1500; // milliseconds

export class Commands {
  #job = null;
  #waits = false; // for the timeline to be seen, or for the timer
  #timer = 0;
  #stop = null;

  /**
   * What is shown is new: its commands are wanted.
   * @param {object} wanted the request that gave what is shown
   * @param {{told: (timeline: object) => void, failed: (why: string) => void}} tell
   * @returns {{seen: () => void}} to be called when the timeline is drawn
   */
  begin(wanted, tell) {
    this.pause();
    const job = this.#job = { wanted, tell, parts: [], from: 0 };
    this.resume();
    return { seen: () => job === this.#job && this.#waits && this.#run(job) };
  }

  /** Something else is wanted first. */
  pause() {
    clearTimeout(this.#timer);
    this.#stop?.abort();
    this.#waits = false;
  }

  /** What is shown stays. */
  resume() {
    const job = this.#job;
    if (!job || job.from == null) return;
    this.#waits = true;
    this.#timer = setTimeout(() => this.#run(job), rest);
  }

  async #run(job) {
    this.pause();
    const { signal } = this.#stop = new AbortController();
    try {
      while (job.from != null) {
        const part = await ask('api/timeline', { of: job.wanted, from: job.from }, { signal });
        if (signal.aborted) return;
        job.parts.push(part.timeline);
        job.from = part.next;
      }
      job.tell.told(joined(job.parts));
    } catch (failure) {
      if (!failure.errors) throw failure;
      if (!signal.aborted) job.tell.failed(failure.errors[0].message);
    }
  }
}

/** Parts as one timeline: each has lists of its own of queues and of what slices do. */
function joined(parts) {
  const commands = [], index = new Map();
  const indexOf = (name) => {
    if (!index.has(name)) index.set(name, commands.push(name) - 1);
    return index.get(name);
  };
  for (const part of parts) {
    const mine = part.commands.map(indexOf);
    for (const { slices } of part.layers)
      for (const slice of Object.values(slices).flat()) slice[2] = mine[slice[2]];
  }
  const queues = parts.reduce((most, p) => p.queues.length > most.length ? p.queues : most, []);
  return { ...parts[0], queues, commands, layers: parts.flatMap((p) => p.layers),
    summarised: parts.some((p) => p.summarised) };
}
