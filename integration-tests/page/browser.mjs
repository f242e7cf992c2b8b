// A headless Chromium that looks at the page of a coordinator.

import puppeteer from "puppeteer-core";

const PATIENCE_MILLIS = 20_000;

/** A browser, and what went wrong on the pages that it has opened. */
export class Browser {
  constructor(browser, address) {
    this.browser = browser;
    this.address = address;
    this.complaints = [];
    /** The paths that were asked for, in order. */
    this.asked = [];
  }

  static async start(executable, address) {
    // The sandbox needs rights that a container's root does not have; the pages are our own.
    const browser = await puppeteer.launch({ executablePath: executable, args: ["--no-sandbox"] });
    return new Browser(browser, address);
  }

  /**
   * Opens a view by its route, such as "#/locks", in a tab of its own.
   *
   * @param options.answers what is answered to requests in place of the coordinator: by path, [status, body]
   * @param options.haste how many times faster the page's timers run, of those that take a second or more
   */
  async open(route, { width = 1280, height = 800, dark = false, scripts = true, answers = new Map(), haste = 1 } = {}) {
    const page = await this.browser.newPage();
    page.setDefaultTimeout(PATIENCE_MILLIS);
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: "reduce" }]);
    await page.setJavaScriptEnabled(scripts);
    await this.#listen(page, answers);
    if (haste > 1) await page.evaluateOnNewDocument(hasten, haste);
    await page.goto(`${this.address}/${route}`);
    if (scripts) await page.waitForSelector("h1");
    return page;
  }

  async #listen(page, answers) {
    page.on("console", (message) => {
      const refused = message.text().startsWith("Failed to load resource") && answers.size > 0;
      if (["error", "warn"].includes(message.type()) && !refused) this.complaints.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.complaints.push(`a script of a name has run: ${dialog.message()}`);
      dialog.dismiss();
    });
    await page.evaluateOnNewDocument(() => addEventListener("securitypolicyviolation",
      (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol === "data:") return request.continue();
      this.asked.push(url.pathname);
      if (url.origin !== this.address) this.complaints.push(`asked elsewhere: ${request.url()}`);
      const [status, body] = answers.get(url.pathname) ?? [];
      return status ? request.respond({ status, contentType: "application/json", body: JSON.stringify(body) }) : request.continue();
    });
  }

  async close() {
    await this.browser.close();
  }
}

function hasten(haste) {
  for (const timer of ["setTimeout", "setInterval"]) {
    const original = globalThis[timer];
    globalThis[timer] = (callback, millis, ...rest) => original(callback, millis >= 1_000 ? millis / haste : millis, ...rest);
  }
}

/** Waits until the text of what a selector finds contains all of that. */
export async function shows(page, selector, ...parts) {
  try {
    await page.waitForFunction((css, all) => {
      const text = [...document.querySelectorAll(css)].map((element) => element.textContent).join("\n");
      return all.every((part) => text.includes(part));
    }, { polling: 100 }, selector, parts);
  } catch (e) {
    const text = await page.$$eval(selector, (all) => all.map((element) => element.textContent).join("\n")).catch(() => "nothing");
    throw new Error(`${selector} does not show ${JSON.stringify(parts)} but: ${text.slice(0, 2000)}`, { cause: e });
  }
}

/** Waits until the text of what a selector finds does not contain that. */
export async function hides(page, selector, part) {
  await page.waitForFunction(
    (css, text) => ![...document.querySelectorAll(css)].some((element) => element.textContent.includes(text)),
    { polling: 100 }, selector, part);
}

/** Presses the button that says so. */
export async function press(page, label) {
  const button = await page.waitForSelector(`::-p-xpath(//button[starts-with(normalize-space(), "${label}") and not(ancestor::dialog)])`);
  await button.click();
}
