// A headless Chromium whose pages remember what went wrong in them.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function launch(base) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: flags,
  });

  /** A new page of its own profile. `troubles` holds its console errors, exceptions and policy violations. */
  async function open(path, { width = 1440, height = 900, colorScheme = "light" } = {}) {
    const context = await browser.newContext({ baseURL: base, viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const troubles = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
    });
    page.on("pageerror", (error) => troubles.push(error.message));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    await page.goto(path);
    return { page, troubles, close: () => context.close() };
  }

  return { open, close: () => browser.close() };
}

/** What axe finds at serious or critical on the page as it is, one line each. */
export async function audit(page) {
  // Evaluated by the debugger, so the page's policy stands as it is.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await globalThis.axe.run(document, { runOnly: { type: "tag", values: tags } });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map((node) => node.target.join(" ")),
    }));
  });
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, where }) => `${impact} ${id}: ${where.slice(0, 3).join(", ")}`);
}
