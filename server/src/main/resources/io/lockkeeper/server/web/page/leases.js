// Leases: all of this coordinator, and one.

import { closeLease } from "./actions.js";
import { allLeases, get } from "./api.js";
import { live } from "./live.js";
import { AskingView, Badge, Failed, html, LeaseLink, LockLink, Table } from "./parts.js";
import { LongTable } from "./rows.js";
import { count, number, plain, seconds, span } from "./text.js";

const WHOLE_ID = /^[0-9a-f]{32}$/;

function left(lease) {
  if (lease.streamBound) return html`<span class="soft">as its call</span>`;
  return `${span(Math.floor(seconds(lease.remaining) ?? 0))} of ${span(seconds(lease.ttl))}`;
}

const COLUMNS = [
  { id: "lease", heading: "Lease", cell: (lease) => html`<${LeaseLink} lease=${lease.leaseTag} />` },
  { id: "holder", heading: "Client", kind: "holders", cell: (lease) => html`<span title=${plain(lease.holder)}>${plain(lease.holder)}</span>` },
  { id: "acquisitions", heading: "Acquisitions", kind: "figure", cell: (lease) => number(lease.acquisitionCount) },
  { id: "left", heading: "Lives for", kind: "figure", cell: left },
];

/** The leases that this coordinator serves. */
export class Leases extends AskingView {
  everyMillis = 4_000;

  ask(signal) {
    return allLeases(signal);
  }

  render(props, { answer, error }) {
    return html`<div class="tall">
      <h1 tabindex="-1">Leases</h1>
      <p class="soft">Those that this coordinator serves${live.caller && `, ${plain(live.caller.coordinatorId)}`}.
        A lease is a client's sign of life: what was acquired under it ends with it.</p>
      <${Failed} error=${error} />
      ${answer && html`
        <div class="tablebox"><${LongTable} label="Leases" columns=${COLUMNS} rows=${answer.leases} keyOf=${(lease) => lease.leaseTag} /></div>
        <p class="soft under">${count(answer.leases.length, "lease", "leases")}${answer.more ? " and more" : ""}</p>`}
    </div>`;
  }
}

/** One lease, by its tag or its whole id. */
export class Lease extends AskingView {
  async ask(signal) {
    const { lease } = this.props;
    if (WHOLE_ID.test(lease)) {
      const { lease: found } = await get(`/v1/leases/${lease}`, signal);
      return { found, acquisitions: found.acquisitions ?? [] };
    }
    const { leases } = await allLeases(signal);
    return { found: leases.find((one) => one.leaseTag === lease), acquisitions: undefined };
  }

  /** What the lease holds, as far as this page watches it. */
  holds() {
    const tag = this.props.lease.slice(0, 16);
    const holds = [];
    for (const lock of live.locks.values()) {
      for (const holder of lock.holders) if (holder.lease === tag) holds.push({ lock: lock.name, holder });
    }
    return holds;
  }

  render({ lease }, { answer, error }) {
    return html`<p class="trail"><a href="#/leases">Leases</a></p>
      <h1 tabindex="-1">Lease <span class="code">${plain(lease)}</span></h1>
      <${Failed} error=${error} />
      ${!answer && !error && html`<p class="soft">Loading…</p>`}
      ${answer && this.details(answer)}`;
  }

  details({ found, acquisitions }) {
    const holds = this.holds();
    if (!found) {
      return html`<p class="state">This coordinator serves no such lease: it has ended, or another coordinator serves it.</p>
        ${holds.length > 0 && html`<section><h2>Holds</h2>${this.holdsTable(holds)}</section>`}`;
    }
    const waiting = Math.max(0, (found.acquisitionCount ?? 0) - holds.length);
    return html`
      <p class="state">Of <b>${plain(found.holder)}</b>. ${found.streamBound
        ? "It lives as long as the call that acquired." : html`It lives for ${left(found)} without another sign of life.`}</p>
      ${live.may("admin") && html`<div class="buttons"><button type="button" class="danger"
        onClick=${() => closeLease(found, holds.map(({ lock }) => lock), () => this.askNow())}>Close lease…</button></div>`}
      ${acquisitions && html`<section><h2>Acquisitions</h2>
        <${Table} label="Acquisitions" rows=${acquisitions} keyOf=${(one) => one.requestId} none="None." columns=${[
          ["Locks", (one) => html`<ul class="bare">${(one.locks ?? []).map((name) => html`<li key=${name}><${LockLink} name=${name} /></li>`)}</ul>`],
          ["State", (one) => html`<${Badge} kind=${one.held ? "good" : "plain"}>${one.held ? "held" : "waiting"}</${Badge}>`],
          ["Request", (one) => html`<span class="code">${plain(one.requestId)}</span>`],
        ]} /></section>`}
      ${!acquisitions && html`<section><h2>Holds</h2>${this.holdsTable(holds)}
        <p class="soft">${count(found.acquisitionCount ?? 0, "acquisition", "acquisitions")} in all${
          waiting > 0 ? `, of which ${number(waiting)} ${waiting === 1 ? "waits" : "wait"}` : ""}.</p></section>`}`;
  }

  holdsTable(holds) {
    return html`<${Table} label="Holds" rows=${holds} keyOf=${({ lock, holder }) => `${lock} ${holder.entry}`} none="It holds nothing." columns=${[
      ["Lock", ({ lock }) => html`<${LockLink} name=${lock} />`, "name"],
      ["Token", ({ holder }) => holder.token, "figure"],
      ["Request", ({ holder }) => html`<span class="code">${plain(holder.requestId)}</span>`],
    ]} />`;
  }
}
