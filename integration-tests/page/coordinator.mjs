// A client of the API over HTTP, as small as the tests of the page need it.

/** One coordinator, by its address such as http://127.0.0.1:7421. */
export class Coordinator {
  constructor(address) {
    this.address = address;
  }

  /** Returns the answer to a call such as "force-release". */
  async call(name, message) {
    const answer = await fetch(`${this.address}/v1/${name}`, { method: "POST", body: JSON.stringify(message) });
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${name}: ${body.message}`);
    return body;
  }

  /** Returns the answer to a GET. */
  async get(path) {
    return (await fetch(this.address + path)).json();
  }

  /** Opens a lease that is renewed until it is closed. */
  async lease(holder) {
    const { leaseId, leaseTag } = await this.call("open-lease", { holder, ttl: "60s" });
    const timer = setInterval(() => this.call("renew-lease", { leaseId }).catch(() => {}), 10_000);
    return new Lease(this, leaseId, leaseTag, timer);
  }
}

/** A lease. */
class Lease {
  constructor(coordinator, id, tag, timer) {
    this.coordinator = coordinator;
    this.id = id;
    this.tag = tag;
    this.timer = timer;
  }

  /** Asks for a lock; returns when it is granted or queued, with what releases or withdraws it. */
  async acquire(name, request = {}) {
    const { mode, permits, limit, ...rest } = request;
    const gone = new AbortController();
    const answer = await fetch(`${this.coordinator.address}/v1/acquire`, {
      method: "POST",
      body: JSON.stringify({ leaseId: this.id, locks: [{ name, mode, permits, limit }], ...rest }),
      signal: gone.signal,
    });
    const events = linesOf(answer.body);
    const { value: first } = await events.next();
    if (!first?.granted && !first?.queued) throw new Error(`${name}: ${JSON.stringify(first)}`);
    // What is granted lives on under the lease; who waits keeps the call.
    if (first.granted) gone.abort();
    else untilGranted(events).then(() => gone.abort(), () => {});
    return () => this.coordinator.call("release", { leaseId: this.id, requestId: first.requestId });
  }

  /** Ends it with all that it holds. */
  async close() {
    clearInterval(this.timer);
    await this.coordinator.call("close-lease", { leaseId: this.id });
  }
}

async function* linesOf(body) {
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

async function untilGranted(events) {
  for await (const event of events) if (!event.queued && !event.position) return;
}
