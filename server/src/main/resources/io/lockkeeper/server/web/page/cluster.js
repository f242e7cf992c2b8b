// The coordinators, their sessions, the ensemble, and what is frozen.

import { freeze, unfreeze } from "./actions.js";
import { live } from "./live.js";
import { Badge, Component, Failed, html, Table } from "./parts.js";
import { number, plain, since, until } from "./text.js";

const ASK_MILLIS = 10_000;

function stateOf(coordinator) {
  if (coordinator.draining) return html`<${Badge} kind="warn">draining</${Badge}>`;
  return coordinator.serving ? html`<${Badge} kind="good">serving</${Badge}>` : html`<${Badge} kind="bad">not serving</${Badge}>`;
}

function stateOfSession(session) {
  if (session.orphaned) return html`<${Badge} kind="bad">nobody serves it</${Badge}>`;
  if (session.usable === false) return html`<${Badge} kind="bad">not proved alive</${Badge}>`;
  return html`<${Badge} kind="good">served</${Badge}>`;
}

function coordinatorColumns(here) {
  return [
    ["Coordinator", ({ coordinatorId }) => html`<span class="code">${plain(coordinatorId)}</span>${coordinatorId === here && " (this one)"}`],
    ["Address", ({ address }) => plain(address)],
    ["State", stateOf],
    ["Known for", ({ knownSince }) => since(knownSince), "figure"],
    ["Sessions", ({ coordinatorId }) =>
      number(live.cluster.sessions.filter((s) => s.coordinatorId === coordinatorId && !s.orphaned).length), "figure"],
  ];
}

const SESSIONS = [
  ["Session", ({ session }) => html`<span class="code">${plain(session)}</span>`],
  ["Served by", ({ coordinatorId }) => html`<span class="code">${plain(coordinatorId)}</span>`],
  ["State", stateOfSession],
  ["Adopted", ({ epoch }) => (Number(epoch ?? 0) > 0 ? `${number(epoch)} times` : "never"), "figure"],
  ["Leases", ({ leases }) => (leases === undefined ? html`<span class="soft">ask there</span>` : number(leases)), "figure"],
  ["Full to", ({ usedPercent }) => (usedPercent === undefined ? "" : `${usedPercent} %`), "figure"],
];

/** The cluster as the coordinator sees it that serves this page. */
export class Cluster extends Component {
  componentDidMount() {
    // When the page has just been loaded, it has been asked for already.
    if (live.cluster || live.clusterError) live.refreshCluster();
    this.timer = setInterval(() => document.hidden || live.refreshCluster(), ASK_MILLIS);
  }

  componentWillUnmount() {
    clearInterval(this.timer);
  }

  render() {
    const { caller, cluster, readiness, clusterError } = live;
    const isClosed = caller && !live.may("admin");
    return html`<h1 tabindex="-1">Cluster</h1>
      ${!isClosed && html`<${Failed} error=${clusterError} />`}
      ${readiness && html`<p class="state">This coordinator ${readiness.serving ? "serves." : "does not serve."}${
        readiness.reasons?.length > 0 && html` <ul>${readiness.reasons.map((reason) => html`<li>${plain(reason)}</li>`)}</ul>`}</p>`}
      ${isClosed ? html`<p>Coordinators, sessions and frozen prefixes are shown to visitors with the right <b>admin</b> on all locks.</p>`
        : cluster ? this.parts(cluster) : !clusterError && html`<p class="soft">Loading…</p>`}
      ${caller && html`<p class="soft">Coordinator ${plain(caller.coordinatorId)}, version ${plain(caller.version)}; you are
        ${" "}${plain(caller.identity)}. <a href="/metrics">Metrics</a>, <a href="/readyz">readiness</a>,
        ${" "}<a href="/v1/openapi.json">API</a>.</p>`}`;
  }

  parts(cluster) {
    const { frozen } = cluster;
    const here = cluster.ensemble?.connectedTo;
    return html`
      <section><h2>Coordinators</h2>
        <${Table} label="Coordinators" columns=${coordinatorColumns(cluster.coordinatorId)} rows=${cluster.coordinators}
          keyOf=${(coordinator) => coordinator.coordinatorId} none="None is registered." />
      </section>
      <section><h2>Sessions</h2>
        ${cluster.orphanCount > 0 && html`<p class="note bad">${number(cluster.orphanCount)} of
          ${" "}${number(cluster.sessionCount)} sessions are served by nobody: about to be adopted, or to end with all their locks.</p>`}
        <${Table} label="Sessions" columns=${SESSIONS} rows=${cluster.sessions} keyOf=${(session) => session.session} none="There are none." />
      </section>
      <section><h2>ZooKeeper</h2>
        <${Table} label="ZooKeeper servers" rows=${cluster.ensemble?.servers ?? []} keyOf=${(server) => server} none="None is known." columns=${[
          ["Server", (server) => plain(server)],
          ["The queues are read", (server) => (server === here ? html`<${Badge} kind="good">from this one</${Badge}>` : "")],
        ]} />
        ${!here && html`<p class="note bad">No ZooKeeper server is connected at the moment.</p>`}
      </section>
      <section><h2>Frozen prefixes</h2>
        <${Table} label="Frozen prefixes" rows=${frozen} keyOf=${(one) => one.prefix} none="Nothing is frozen." columns=${[
          ["Prefix", (one) => (one.prefix ? plain(one.prefix) : "all locks"), "name"],
          ["Why", (one) => plain(one.reason)],
          ["By", (one) => plain(one.frozenBy)],
          ["For", (one) => since(one.frozenAt), "figure"],
          ["Thaws in", (one) => (one.thawsAt ? until(one.thawsAt) : "never"), "figure"],
          ["Action", (one) => live.may("admin") && html`<button type="button" class="small" onClick=${() => unfreeze(one)}
            aria-label=${`Unfreeze ${one.prefix ? plain(one.prefix) : "all locks"}`}>Unfreeze…</button>`],
        ]} />
        ${live.may("admin") && html`<div class="buttons"><button type="button" onClick=${() => freeze("")}>Freeze…</button></div>`}
      </section>`;
  }
}
