// Signing in at a mesh that asks for it, in a real browser: WEFT_URL=… WEFT_TOKEN=… node e2e/session.mjs
//
//   WEFT_URL    the mesh, with credentials configured
//   WEFT_TOKEN  an administrator's bearer token

import assert from "node:assert/strict";
import { audit, launch } from "./browser.mjs";
import { run } from "./run.mjs";

const token = process.env.WEFT_TOKEN;
assert.ok(token, "WEFT_TOKEN is not set");
const browser = await launch(process.env.WEFT_URL);

const field = (page) => page.getByLabel("An administrator's token");

async function signIn(page, text = token) {
  await field(page).fill(text);
  await page.keyboard.press("Enter");
}

const live = (page) =>
  page
    .getByRole("banner")
    .getByText(/: Live$/)
    .waitFor();

await run(browser, {
  async "nothing is shown before somebody has signed in, and a wrong token says so"() {
    const { page, close } = await browser.open("/tasks");
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    assert.equal(await page.getByRole("banner").count(), 0);
    await signIn(page, "nobody's");
    await page.getByRole("alert").getByText("this token is not known here").waitFor();
    assert.deepEqual(await audit(page), []);
    await close();
  },

  async "an administrator signs in, works live, and signs out; no script can read what stays"() {
    const { page, close } = await browser.open("/tasks");
    await signIn(page);
    await live(page);
    await page.getByLabel("New message to the mesh").fill("echo signed in");
    await page.keyboard.press("Enter");
    await page.getByRole("article").locator("header").getByText("Completed", { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => document.cookie), "");
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert.equal(kept.includes(token), false);
    await page.reload();
    await live(page);
    assert.deepEqual(await audit(page), []);
    await page.getByRole("button", { name: /^Sign out/ }).click();
    await field(page).waitFor();
    await page.reload();
    await field(page).waitFor();
    await close();
  },

  async "a session that is over leads back to signing in"() {
    const { page, close } = await browser.open("/tasks");
    await signIn(page);
    await live(page);
    await page.context().clearCookies();
    await page.reload();
    await field(page).waitFor();
    await close();
  },
});
