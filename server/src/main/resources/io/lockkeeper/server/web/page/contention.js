// Where clients wait for each other.

import { Chart } from "./chart.js";
import { live } from "./live.js";
import { Component, holdersInWords, html, LockLink, Table } from "./parts.js";
import { number, plain, since } from "./text.js";

const TOP = 10;

/** Returns the locks with the longest queues, without sorting all of them. */
function longestQueues() {
  const top = [];
  for (const lock of live.locks.values()) {
    if (lock.waiting === 0 || (top.length === TOP && lock.waiting <= top.at(-1).waiting)) continue;
    top.push(lock);
    top.sort((a, b) => b.waiting - a.waiting || (a.name < b.name ? -1 : 1));
    if (top.length > TOP) top.pop();
  }
  return top;
}

/** Grants, waiters and locks held over the time since the page was opened, and the longest queues. */
export class Contention extends Component {
  render() {
    const { at, grants, waiting, held } = live.samples;
    return html`<h1 tabindex="-1">Contention</h1>
      <p class="soft">Since this page was opened, a quarter of an hour at most, a point a second${
        live.prefix && html`, of locks that begin with <b class="name">${plain(live.prefix)}</b>`}.
        Of a lock that changes more often than the page is told, the grants in between are not counted.</p>
      <div class="charts">
        <${Chart} title="Grants per second" at=${at} values=${grants} />
        <${Chart} title="Waiting" at=${at} values=${waiting} />
        <${Chart} title="Locks held" at=${at} values=${held} />
      </div>
      <section><h2>Longest queues</h2>
        <${Table} label="Longest queues" rows=${longestQueues()} keyOf=${(lock) => lock.name} none="Nobody waits." columns=${[
          ["Lock", (lock) => html`<${LockLink} name=${lock.name} />`, "name"],
          ["Waiting", (lock) => number(lock.waiting), "figure"],
          ["Held by", (lock) => holdersInWords(lock.holders)],
          ["Held for", (lock) => since(lock.holders[0]?.heldAt, lock.holders[0]?.atLeast), "figure"],
        ]} />
      </section>`;
  }
}
