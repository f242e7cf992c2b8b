// Checks of the page: node page.mjs CHROMIUM ADDRESS CHECK. Each check is a promise to those who look at it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Browser, hides, press, shows } from "./browser.mjs";
import { Coordinator } from "./coordinator.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LONG = "l".repeat(240);
const EVIL = "<script>alert(1)</script>\u202Egpj.exe";

function routeOf(name) {
  return `#/locks/${encodeURIComponent(name)}`;
}

function pause(millis) {
  return new Promise((resume) => { setTimeout(resume, millis); });
}

function title(page) {
  return page.title();
}

function focused(page) {
  return page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
}

function rows(page) {
  return page.$$eval(".long tbody a", (links) => links.map((link) => link.textContent));
}

const CHECKS = {
  async "deep-links"({ browser, lease }) {
    await lease.acquire("deep/a b%2F/ü?#");
    const routes = [
      ["", "Locks"], ["#/locks", "Locks"], ["#/contention", "Contention"], ["#/leases", "Leases"], ["#/cluster", "Cluster"],
      [routeOf("deep/a b%2F/ü?#"), "deep/a b%2F/ü?#"], [`#/leases/${lease.tag}`, `Lease ${lease.tag}`], ["#/nowhere", "Not found"]];
    for (const [route, heading] of routes) {
      const page = await browser.open(route);
      await shows(page, "h1", heading);
      assert.equal(await title(page), `${heading} · Lockkeeper`);
      await page.close();
    }
    const page = await browser.open("#/locks");
    await page.locator("::-p-text(Leases)").click();
    await shows(page, "h1", "Leases");
    assert.equal(await focused(page), "Leases");
    await page.goBack();
    await shows(page, "h1", "Locks");
    assert.equal(await title(page), "Locks · Lockkeeper");
  },

  async "live"({ browser, lease, other }) {
    const page = await browser.open("#/locks");
    await shows(page, ".connection", "live");
    const release = await lease.acquire("live/1");
    await shows(page, ".long tbody", "live/1");
    const withdraw = await other.acquire("live/1");
    await page.type("#filter", "live/1");
    await shows(page, ".long tbody td.figure:nth-child(2)", "1");
    await shows(page, ".long tbody td.figure:nth-child(3)", " s");
    await withdraw();
    await release();
    await hides(page, ".long tbody", "live/1");
    const lock = await browser.open(routeOf("live/2"));
    await shows(lock, ".state", "It is free.");
    const releaseOther = await lease.acquire("live/2", { metadata: { purpose: "moving house" } });
    await shows(lock, ".state", "Held by page-tests");
    await shows(lock, ".metadata", "moving house");
    await releaseOther();
    await shows(lock, "main", "released");
  },

  async "filter"({ browser, lease }) {
    for (const name of ["filter/aa", "filter/ab", "filter/b"]) await lease.acquire(name);
    const page = await browser.open("#/locks");
    await shows(page, ".connection", "live");
    await page.keyboard.press("/");
    assert.equal(await focused(page), "filter");
    await page.keyboard.type("filter/a");
    await hides(page, ".long tbody", "filter/b");
    assert.deepEqual(await rows(page), ["filter/aa", "filter/ab"]);
    await shows(page, "[role=status]", "2 locks shown");
    await press(page, "Lock");
    await press(page, "Lock");
    assert.deepEqual(await rows(page), ["filter/ab", "filter/aa"]);
    await page.locator("::-p-text(load only these)").click();
    await shows(page, ".figures", "in use2");
    await page.goto(`${browser.address}/#/contention`);
    await shows(page, "main", "of locks that begin with filter/a");
    await page.keyboard.press("/");
    await shows(page, "h1", "Locks");
    assert.equal(await focused(page), "filter");
  },

  async "many"({ browser, lease }) {
    for (let i = 0; i < 200; i++) await lease.acquire(`many/${String(i).padStart(3, "0")}`);
    const page = await browser.open("#/locks");
    await page.type("#filter", "many/");
    await page.waitForSelector(".long table[aria-rowcount='201']");
    await shows(page, ".long tbody", "many/000");
    assert.ok((await rows(page)).length < 60, "rows that cannot be seen are in the document");
    await page.$eval(".long", (box) => { box.scrollTop = box.scrollHeight; });
    await shows(page, ".long tbody", "many/199");
    assert.equal(await page.$eval(".long tbody tr:nth-last-child(1)", (row) => row.getAttribute("aria-rowindex")), "201");
    await page.type("#filter", "1");
    const fewer = await page.waitForFunction(() => {
      const table = document.querySelector(".long table[aria-rowcount='101']");
      return table && { rows: table.querySelectorAll("tbody a").length };
    }, { polling: "mutation" });
    assert.ok((await fewer.jsonValue()).rows > 0, "a filter empties the table that was scrolled down");
    await shows(page, ".long tbody", "many/100");
    await hides(page, ".long tbody", "many/199");
  },

  async "force-release"({ browser, lease, other }) {
    await lease.acquire("force/1");
    await other.acquire("force/1");
    const page = await browser.open(routeOf("force/1"));
    await shows(page, ".state", "Held by page-tests", "1 waits");
    await press(page, "Force release");
    await shows(page, "dialog", "force/1", "page-tests", "with token");
    await page.locator("dialog button[type=submit]").click();
    assert.ok(await page.$("dialog[open]"), "it was done without a reason");
    await page.type("dialog textarea", "the machine is on fire");
    await page.locator("dialog button[type=submit]").click();
    await shows(page, "[role=status]", "The lock was taken away from 1 hold");
    await shows(page, ".state", "Held by page-others");
    await shows(page, "section", "taken away");
    assert.equal(await page.$("dialog[open]"), null);
  },

  async "request-release"({ browser, lease }) {
    await lease.acquire("request/1");
    const page = await browser.open(routeOf("request/1"));
    await press(page, "Ask to release");
    await shows(page, "dialog", "request/1", "page-tests");
    await page.type("dialog textarea", "others are in a hurry");
    await page.locator("dialog button[type=submit]").click();
    await shows(page, "[role=status]", "1 holder was asked");
  },

  async "freeze"({ browser, coordinator, lease }) {
    await lease.acquire("freeze/1");
    const page = await browser.open(routeOf("freeze/1"));
    await press(page, "Freeze");
    await shows(page, "dialog", "freeze/1");
    await page.type("dialog textarea", "the disk is moved");
    await page.locator("dialog button[type=submit]").click();
    await shows(page, ".note.cold", "the disk is moved", "Thaws in");
    const cluster = await browser.open("#/cluster");
    await shows(cluster, "main", "freeze/1", "the disk is moved");
    await cluster.locator("button[aria-label='Unfreeze freeze/1']").click();
    await shows(cluster, "dialog", "freeze/1", "the disk is moved");
    await cluster.locator("dialog button[type=submit]").click();
    await shows(cluster, "[role=status]", "Unfrozen: freeze/1");
    await hides(cluster, "main", "freeze/1");
    await page.bringToFront();
    await hides(page, "main", "the disk is moved");
    await coordinator.call("freeze", { prefix: "freeze/1", reason: "for a moment", duration: "6s" });
    const locks = await browser.open("#/locks?only=freeze%2F");
    await shows(locks, ".long tbody", "frozen");
    await hides(locks, ".long tbody", "frozen");
  },

  async "close-lease"({ browser, coordinator }) {
    const doomed = await coordinator.lease("page-doomed");
    await doomed.acquire("doomed/1");
    const page = await browser.open(`#/leases/${doomed.tag}`);
    await shows(page, "main", "page-doomed", "doomed/1");
    await press(page, "Close lease");
    await shows(page, "dialog", "page-doomed", "doomed/1");
    await page.type("dialog textarea", "it will not come back");
    await page.locator("dialog button[type=submit]").click();
    await shows(page, "main", "serves no such lease");
    clearInterval(doomed.timer);
    assert.deepEqual((await coordinator.get("/v1/locks/doomed/1")).lock.holders ?? [], []);
  },

  async "names"({ browser, lease }) {
    await lease.acquire(`names/${EVIL}`, { holder: EVIL, metadata: { "<b>key</b>": "<img src=x onerror=alert(2)>" } });
    await lease.acquire(`names/${LONG}`, { holder: LONG });
    const shown = "names/<script>alert(1)</script>\\u202Egpj.exe";
    const page = await browser.open("#/locks");
    await page.type("#filter", "names/");
    await shows(page, ".long tbody", shown, LONG);
    assert.equal(await page.$eval(".long tbody", (body) => body.textContent.includes("\u202E")), false);
    const href = await page.$$eval(".long tbody a", (links, text) => links.find((link) => link.textContent === text).getAttribute("href"), shown);
    assert.equal(href, routeOf(`names/${EVIL}`));
    const evil = await browser.open(routeOf(`names/${EVIL}`));
    await shows(evil, "main", shown, "<b>key</b>", "<img src=x onerror=alert(2)>");
    assert.equal(await evil.$("main script, main img, main b.key"), null);
    assert.ok((await title(evil)).startsWith(shown));
    const long = await browser.open(routeOf(`names/${LONG}`));
    await shows(long, "h1", `names/${LONG}`);
    await shows(long, ".state", LONG);
    await fits(long, 1280);
  },

  async "narrow"({ browser, lease, other }) {
    await lease.acquire(`narrow/${LONG}`, { holder: LONG });
    await other.acquire(`narrow/${LONG}`);
    for (const route of await routes(lease, `narrow/${LONG}`)) {
      const page = await browser.open(route, { width: 390 });
      await page.waitForFunction(() => !document.querySelector("main").textContent.includes("Loading…"));
      await fits(page, 390);
      await page.close();
    }
    const page = await browser.open(routeOf(`narrow/${LONG}`), { width: 390 });
    await press(page, "Force release");
    await shows(page, "dialog", LONG);
    await fits(page, 390);
  },

  async "keyboard"({ browser, lease }) {
    await lease.acquire("keyboard/1");
    const page = await browser.open("#/locks?only=keyboard%2F");
    await shows(page, ".long tbody", "keyboard/1");
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await focused(page), "Locks");
    await tabTo(page, "keyboard/1");
    await page.keyboard.press("Enter");
    await shows(page, ".state", "Held by");
    assert.equal(await focused(page), "keyboard/1");
    await tabTo(page, "Force release…");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", "the focus cannot be seen");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog:not([open])");
    assert.equal(await focused(page), "Force release…");
  },

  async "accessible"({ browser, lease, other }) {
    await lease.acquire("axe/1", { metadata: { purpose: "testing" } });
    await other.acquire("axe/1");
    for (const dark of [false, true]) {
      for (const route of await routes(lease, "axe/1")) {
        const page = await browser.open(route, { dark });
        await shows(page, ".connection", "live");
        await page.waitForFunction(() => !document.querySelector("main").textContent.includes("Loading…"));
        await isAccessible(page, `${route} ${dark ? "dark" : "light"}`);
        if (route === routeOf("axe/1")) {
          await press(page, "Force release");
          await page.waitForSelector("dialog[open]");
          await isAccessible(page, `the question, ${dark ? "dark" : "light"}`);
        }
        await page.close();
      }
    }
  },

  async "refusals"({ browser, lease }) {
    await lease.acquire("refused/1");
    const answers = new Map([["/v1/force-release", [403, { code: "PERMISSION_DENIED", message: "release-others on refused/1 is not yours" }]]]);
    const page = await browser.open(routeOf("refused/1"), { answers });
    await shows(page, ".state", "Held by page-tests");
    await press(page, "Force release");
    await page.type("dialog textarea", "because");
    await page.locator("dialog button[type=submit]").click();
    await shows(page, "dialog [role=alert]", "release-others on refused/1 is not yours");
    await page.keyboard.press("Escape");
    answers.set("/v1/locks/refused/1", [503, { code: "UNAVAILABLE", message: "the mirror is being rebuilt" }]);
    await shows(page, "main > [role=alert]", "the mirror is being rebuilt");
    await shows(page, ".state", "Held by page-tests");
    answers.delete("/v1/locks/refused/1");
    await hides(page, "main", "the mirror is being rebuilt");
  },

  async "rights"({ browser, lease }) {
    await lease.acquire("rights/1");
    const answers = new Map([["/v1/who-am-i", [200, { identity: "anna", rights: ["read", "watch", "request-release"] }]]]);
    const page = await browser.open(routeOf("rights/1"), { answers });
    await shows(page, ".buttons", "Ask to release");
    assert.equal(await page.$eval("main .buttons", (box) => box.textContent), "Ask to release…");
  },

  async "reconnecting"({ browser, lease }) {
    await lease.acquire("reconnecting/1");
    const refusal = [429, { code: "RESOURCE_EXHAUSTED", message: "there are too many watches" }];
    const answers = new Map([["/v1/watch", refusal], ["/v1/locks", refusal]]);
    const page = await browser.open("#/locks", { answers });
    await shows(page, ".connection", "reconnecting since", "there are too many watches");
    answers.clear();
    answers.set("none", []);
    await shows(page, ".connection", "live");
    await shows(page, ".long tbody", "reconnecting/1");
  },

  async "audit"({ browser }) {
    // Each question about the cluster is a line of the audit; who asks is asked for all the time.
    const asked = (path) => browser.asked.filter((one) => one === path).length;
    const isAsked = async (path, times) => {
      const goal = asked(path) + times;
      const end = Date.now() + 20_000;
      while (asked(path) < goal && Date.now() < end) await pause(20);
      assert.ok(asked(path) >= goal, `${path} is not asked for`);
    };
    const page = await browser.open("#/locks", { haste: 20 });
    await isAsked("/v1/who-am-i", 5);
    assert.equal(asked("/v1/cluster"), 1);
    await page.goto(`${browser.address}/#/cluster`);
    await shows(page, "main", "Coordinators", "this one");
    await isAsked("/v1/cluster", 3);
    const answers = new Map([["/v1/who-am-i", [200, { identity: "anna", coordinatorId: "here", rights: ["read", "watch"] }]]]);
    const closed = await browser.open("#/cluster", { haste: 20, answers });
    const seen = asked("/v1/cluster");
    await shows(closed, "main", "visitors with the right admin", "you are anna");
    await isAsked("/v1/who-am-i", 5);
    assert.equal(asked("/v1/cluster"), seen, "it is asked for by a hidden page, or without the right to");
  },

  async "tabs"({ browser, lease }) {
    await lease.acquire("tabs/1");
    const pages = [];
    // A browser has six connections to a host.
    for (let i = 0; i < 8; i++) {
      pages.push(await browser.open("#/locks", { haste: 60 }));
      await shows(pages[i], ".connection", "live");
    }
    await lease.acquire("tabs/2");
    await pages[0].evaluate(() => {
      globalThis.said = [];
      const keep = (selector) => new MutationObserver(() => globalThis.said.push(document.querySelector(selector).textContent))
        .observe(document.querySelector(selector), { childList: true, characterData: true, subtree: true });
      keep("[role=status]");
      keep("header");
    });
    await pages[0].bringToFront();
    await shows(pages[0], ".long tbody", "tabs/2");
    await shows(pages[0], ".connection", "live");
    const said = (await pages[0].evaluate(() => globalThis.said)).join();
    assert.ok(!/lost|since/.test(said), `who looks at a tab again is told: ${said}`);
  },

  async "without-scripts"({ browser }) {
    const page = await browser.open("", { scripts: false });
    await shows(page, "noscript", "/v1/locks");
  },
};

function routes(lease, lock) {
  return ["#/locks", "#/contention", "#/leases", "#/cluster", "#/nowhere", routeOf(lock), `#/leases/${lease.tag}`];
}

async function fits(page, width) {
  const needed = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(needed <= width, `${page.url()} is ${needed} pixels wide, of ${width}`);
}

async function tabTo(page, text) {
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === text) return;
  }
  assert.fail(`no Tab leads to ${text}`);
}

async function isAccessible(page, where) {
  // The page's policy runs no script that stands in it: this one comes by the debugger.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const said = violations.map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map((node) => node.html).join("\n  ")}`);
  assert.equal(said.length, 0, `${where}:\n${said.join("\n")}`);
}

const [executable, address, check] = process.argv.slice(2);
const coordinator = new Coordinator(address);
const browser = await Browser.start(executable, address);
const lease = await coordinator.lease("page-tests");
const other = await coordinator.lease("page-others");
try {
  await CHECKS[check]({ browser, coordinator, lease, other });
  assert.deepEqual(browser.complaints, []);
} finally {
  await browser.close();
  await other.close();
  await lease.close();
}
process.exit(0);
