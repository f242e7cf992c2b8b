// Takes the pictures of the page for the documents: node screenshots.mjs CHROMIUM JAR FOLDER, in some two minutes. It starts a
// coordinator of its own on free ports, its data in a temporary directory, and leaves nothing behind but the pictures.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, shows } from "./browser.mjs";
import { Coordinator } from "./coordinator.mjs";

const WATCHED_MILLIS = 75_000;
const START_MILLIS = 60_000;
const LARGEST_BYTES = 200_000;
const FOCUS = "billing/invoice-run/2026-11";
/** Who held that lock one after the other, for how long, and how it ended if not in order. */
const HISTORY = [["invoice-worker-1", 4_200], ["invoice-worker-3", 2_700], ["invoice-worker-2", 5_300, "forced"],
  ["invoice-worker-1", 1_900], ["invoice-worker-4", 2_300, "gone"], ["ledger-1", 800], ["invoice-worker-3", 3_500]];
const LAST_HOLDER = "invoice-worker-1";

/** Locks that are held and stay so: name, holder, purpose, who waits, and what else the request says. */
const QUIET = [
  ["billing/ledger/close-month", "ledger-1", "close November", ["ledger-2"]],
  ["billing/refunds/batch-118", "refunds-2", "pay back 311 orders"],
  ["billing/tax/export", "tax-export-1", "export to the tax office", ["tax-export-2"]],
  ["cron/certificates/renew", "cron-b", "renew 14 certificates", ["cron-a", "cron-c"]],
  ["cron/cleanup/sessions", "cron-a", "delete old sessions"],
  ["cron/digest/daily", "cron-c", "send the daily digest", ["cron-a", "cron-b"]],
  ["customers/4711/merge", "crm-sync-1", "merge with 4902"],
  ["customers/8123/export", "privacy-1", "export on request"],
  ["deploy/checkout", "deploy-bot", "roll out 5.12.0", ["anna"]],
  ["deploy/search", "jonas", "look for a leak"],
  ["exports/parquet/2026-11-25", "exporter-3", "write 48 files"],
  ["exports/parquet/2026-11-26", "exporter-1", "write 48 files", ["exporter-2", "exporter-3"]],
  ["feeds/prices/supplier-7", "feed-reader-2", "read 12,000 prices"],
  ["feeds/prices/supplier-9", "feed-reader-1", "read 800 prices"],
  ["leader/order-sweeper", "sweeper-2", "lead", ["sweeper-1", "sweeper-3"]],
  ["leader/rate-publisher", "rates-1", "lead", ["rates-2"]],
  ["mail/campaign/advent", "mailer-4", "send to 90,000", ["mailer-1"]],
  ["media/transcode/71842", "transcoder-2", "three sizes"],
  ["media/transcode/71850", "transcoder-1", "three sizes"],
  ["media/transcode/71851", "transcoder-5", "three sizes"],
  ["migrations/orders-db", "flyway-1", "add a column", ["flyway-2", "flyway-3"]],
  ["orders/20418/refund", "orders-worker-2", "refund"],
  ["orders/20433/pay", "orders-worker-5", "capture the payment", ["orders-worker-1"]],
  ["orders/20437/pay", "orders-worker-3", "capture the payment"],
  ["orders/20440/ship", "orders-worker-1", "print the label"],
  ["orders/20441/pay", "orders-worker-4", "capture the payment"],
  ["reports/monthly/revenue", "reports-2", "build the report", ["reports-1", "reports-3", "reports-4"]],
  ["reports/weekly/stock", "reports-1", "build the report", ["reports-2"]],
  ["search/index/products", "indexer-1", "read the index", [], { mode: "LOCK_MODE_READ" }],
  ["search/index/reviews", "indexer-2", "swap the index", ["indexer-1", "indexer-3"], { mode: "LOCK_MODE_WRITE" }],
  ["sftp/bank-connection", "payments-1", "one of three lines", [], { mode: "LOCK_MODE_PERMITS", permits: 1, limit: 3 }],
  ["stock/berlin/count", "stock-berlin", "yearly count", ["stock-sync-1"]],
  ["stock/hamburg/count", "stock-hamburg", "yearly count"],
  ["stock/leipzig/transfer-55", "stock-leipzig", "transfer to Berlin"],
  ["tenants/acme/backup", "backup-2", "full backup"],
  ["tenants/globex/backup", "backup-1", "full backup", ["backup-2"]],
  ["tenants/initech/restore", "backup-3", "restore of yesterday"],
  ["warehouse/robots/aisle-04", "robot-17", "pick 3 items", ["robot-09", "robot-22"]],
  ["warehouse/robots/aisle-05", "robot-03", "pick 1 item"],
  ["warehouse/robots/aisle-11", "robot-22", "charge"],
];

/** Locks that change hands all the time: name, prefix of the workers' names, how many there are, and how long each holds at most. */
const BUSY = [
  ["orders/numbers", "orders-worker", 9, 900],
  ["stock/berlin/sku-10445", "checkout", 7, 1_200],
  ["stock/berlin/sku-20071", "checkout", 5, 1_500],
  ["payments/provider-a/quota", "payments", 6, 700],
  ["search/index/offers", "indexer", 4, 2_500],
  ["feeds/prices/merge", "feed-reader", 3, 1_800],
  ["mail/throttle", "mailer", 5, 1_000],
  ["warehouse/robots/lift-2", "robot", 6, 2_000],
];

function pause(millis) {
  return new Promise((resume) => { setTimeout(resume, millis); });
}

/** Numbers from zero to one, the same ones each time. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns free ports; what takes them between now and then is bad luck. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((closed) => { server.close(closed); })));
  return ports;
}

async function startCoordinator(jar, folder) {
  const [grpc, http, zookeeper] = await freePorts(3);
  const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";
  const log = join(folder, "server.log");
  const server = spawn(java, ["-jar", jar, "dev", "--listen", `127.0.0.1:${grpc}`, "--http", `127.0.0.1:${http}`,
    "--zookeeper-port", `${zookeeper}`, "--data-dir", join(folder, "data")], { stdio: ["ignore", "pipe", "pipe"] });
  const lines = createWriteStream(log);
  server.stdout.pipe(lines, { end: false });
  server.stderr.pipe(lines, { end: false });
  const address = `http://127.0.0.1:${http}`;
  const end = Date.now() + START_MILLIS;
  for (;;) {
    const ready = await fetch(`${address}/readyz`).then((answer) => answer.ok, () => false);
    if (ready) return { server, address };
    if (server.exitCode !== null || Date.now() > end) throw new Error(`the coordinator does not start:\n${readFileSync(log, "utf8")}`);
    await pause(200);
  }
}

/** Clients that hold and wait, as on a day at work. */
class Clients {
  constructor(coordinator) {
    this.coordinator = coordinator;
    this.leases = new Map();
    this.random = numbers(20_261_126);
  }

  /** Returns the lease of a client. */
  async of(holder) {
    if (!this.leases.has(holder)) this.leases.set(holder, this.coordinator.lease(holder));
    return this.leases.get(holder);
  }

  async acquire(name, holder, purpose, request = {}) {
    const lease = await this.of(holder);
    return lease.acquire(name, { holder, metadata: { purpose }, ...request });
  }

  /** Takes those that stay, one after the other over that time. */
  async quiet(millis) {
    for (const [name, holder, purpose, waiters = [], request] of QUIET) {
      await this.acquire(name, holder, purpose, request);
      for (const waiter of waiters) await this.acquire(name, waiter, purpose, request);
      await pause((millis / QUIET.length) * 2 * this.random());
    }
    for (const holder of ["payments-2", "payments-3"]) {
      await this.acquire("sftp/bank-connection", holder, "one of three lines", { mode: "LOCK_MODE_PERMITS", permits: 1, limit: 3 });
    }
    await this.coordinator.call("freeze", { prefix: "reports/", reason: "the warehouse database is moved", duration: "7200s" });
  }

  /** Has workers take turns for ever. */
  busy() {
    for (const [name, prefix, count, longest] of BUSY) {
      for (let i = 1; i <= count; i++) this.worker(name, `${prefix}-${i}`, longest);
    }
  }

  async worker(name, holder, longest) {
    const lease = await this.of(holder);
    for (;;) {
      await pause(2 * longest * this.random());
      const release = await lease.acquire(name, { holder, metadata: { purpose: "a turn" } });
      await pause(longest * (0.2 + 0.8 * this.random()));
      await release();
    }
  }

  /** Lets one lock have a history: each comes to wait a little before the one before has done. */
  async history() {
    const purpose = "number and send invoices";
    const { coordinator } = this;
    let release = await this.acquire(FOCUS, HISTORY[0][0], purpose);
    for (const [i, [holder, millis, end]] of HISTORY.entries()) {
      await pause(millis);
      const next = await this.acquire(FOCUS, (HISTORY[i + 1] ?? [LAST_HOLDER])[0], purpose);
      await pause(500 + 2_000 * this.random());
      if (end === "forced") await coordinator.call("force-release", { name: FOCUS, reason: "it hangs since the deployment" });
      else if (end === "gone") await (await this.of(holder)).close();
      else await release();
      release = next;
    }
  }

  /** Lets clients come to wait for that lock, while somebody looks. */
  async queue() {
    const withdraw = [];
    for (const [holder, purpose] of [["invoice-worker-3", "number and send invoices"], ["invoice-worker-2", "number and send invoices"],
      ["ledger-2", "read the totals"], ["dunning-1", "send reminders"], ["audit-export", "read the totals"]]) {
      withdraw.push(await this.acquire(FOCUS, holder, purpose));
      await pause(4_000);
    }
    await withdraw[2]();
  }
}

async function take(page, folder, name, options = {}) {
  const path = join(folder, `page-${name}.png`);
  await page.screenshot({ path, ...options });
  const { size } = statSync(path);
  if (size > LARGEST_BYTES) throw new Error(`${path} has ${size} bytes`);
  console.log(`${path}: ${Math.ceil(size / 1000)} kB`);
}

async function takeAll(executable, address, folder) {
  const clients = new Clients(new Coordinator(address));
  // A page that is hidden watches nothing: those that are watched for long have a browser each.
  const [watching, looking] = await Promise.all([Browser.start(executable, address), Browser.start(executable, address)]);
  try {
    const contention = await watching.open("#/contention", { height: 760 });
    await shows(contention, ".connection", "live");
    const lock = await looking.open(`#/locks/${encodeURIComponent(FOCUS)}`, { dark: true });
    const begun = Date.now();
    clients.busy();
    await Promise.all([clients.quiet(35_000), clients.history().then(() => clients.queue())]);
    await pause(Math.max(0, begun + WATCHED_MILLIS - Date.now()));
    await take(lock, folder, "lock", { fullPage: true });
    await take(contention, folder, "contention", { fullPage: true });
    for (const [name, size] of [["locks", { width: 1280, height: 800 }], ["narrow", { width: 390, height: 780 }]]) {
      const page = await looking.open("#/locks", size);
      await shows(page, ".connection", "live");
      await page.waitForFunction(() => !document.querySelector(".long").textContent.includes("…"), { polling: 20 });
      await take(page, folder, name);
      await page.close();
    }
  } finally {
    await Promise.all([watching.close(), looking.close()]);
  }
}

const [executable, jar, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "lockkeeper-screenshots."));
let server;
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
process.once("exit", () => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
const started = await startCoordinator(jar, folder);
server = started.server;
await takeAll(executable, started.address, pictures);
process.exit(0);
