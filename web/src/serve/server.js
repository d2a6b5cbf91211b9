// The program behind the page. Only the newest of the changes that pile up is asked for.

/**
 * @param {{headers?: object, signal?: AbortSignal}} more
 * @returns {Promise<any>} the reply; throws {errors} of a machine, a model or the server
 */
export async function ask(path, body, more = {}) {
  const reply = await fetch(path, body === undefined ? {} : {
    method: 'POST', ...more,
    body: body instanceof Blob ? body : JSON.stringify(body),
  }).catch(() => {
    throw { errors: [{ message: 'accsim serve doesn\u2019t answer; has it ended?' }] };
  });
  const json = await reply.json().catch(() => ({}));
  if (reply.ok) return json;
  throw { errors: json.errors ?? [{ message: `status ${reply.status}` }] };
}

/** Runs `work` for the newest argument; those that came in between are dropped. */
export function newest(work) {
  let running = false, waiting = null;
  return async function next(argument) {
    if (running) {
      waiting = [argument];
      return;
    }
    running = true;
    await work(argument);
    running = false;
    if (waiting) {
      const [again] = waiting;
      waiting = null;
      next(again);
    }
  };
}
