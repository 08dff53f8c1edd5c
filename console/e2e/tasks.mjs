// The Tasks page in a real browser against a running mesh:
// WEFT_URL=http://127.0.0.1:8420 npm run e2e
// One line for each check; the exit code says whether all hold.
//
//   WEFT_URL   the mesh (BASE_URL is taken too), with at least one capability that has an example
//   LONG_TEXT  a message whose task does not end by itself; by default one that nothing answers, which waits for input
//   ONLY       part of the names of the checks to run; by default all

import assert from "node:assert/strict";
import { audit, launch } from "./browser.mjs";
import { run } from "./run.mjs";

const base = process.env.WEFT_URL ?? process.env.BASE_URL ?? "http://127.0.0.1:8420";
const unanswerable = "zqxj vvkw qqpt";
const longText = process.env.LONG_TEXT ?? unanswerable;
const composer = "New message to the mesh";

const browser = await launch(base);
const catalog = await (await fetch(`${base}/api/catalog`)).json();
const example = catalog.capabilities?.flatMap((capability) => capability.examples ?? [])[0];
assert.ok(example, "the mesh has no capability with an example");

/** Sends as another client would. */
async function send(text) {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const response = await fetch(`${base}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message, configuration: { returnImmediately: true } },
    }),
  });
  const { result, error } = await response.json();
  assert.ok(result?.task, `sending failed: ${JSON.stringify(error)}`);
  return result.task.id;
}

async function compose(page, text) {
  await page.getByLabel(composer).fill(text);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tasks\/[^?]+/);
  return new URL(page.url()).pathname.split("/").at(-1);
}

const article = (page) => page.getByRole("article");
const state = (page, word) => article(page).locator("header").getByText(word, { exact: true }).waitFor();
const row = (page, id) => page.locator("tr", { has: page.locator(`[data-row="${id}"]`) });
const live = (where) => where.getByText(/: Live$/).waitFor();
const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");

const checks = {
  async "the first address leads to the tasks, live, under the mesh's own policy"() {
    const { page, troubles, close } = await browser.open("/");
    await page.waitForURL(/\/tasks$/);
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
    await live(page.getByRole("banner"));
    const response = await fetch(`${base}/tasks`);
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'self'/);
    assert.deepEqual(troubles, []);
    await close();
  },

  async "the fleet shows every node with its health in words"() {
    const { page, close } = await browser.open("/tasks");
    const fleet = page.getByRole("complementary", { name: "Fleet" });
    for (const node of catalog.nodes ?? []) {
      const entry = fleet.locator("li", {
        has: page.getByRole("heading", { name: node.name || node.id, exact: true }),
      });
      await entry.getByText(/^(Up|Unreachable|Differs|Not seen yet)$/).waitFor();
    }
    await close();
  },

  async "an example fills the composer; sending it ends in a completed task with its artifact"() {
    const { page, troubles, close } = await browser.open("/tasks");
    await page
      .getByRole("complementary")
      .getByRole("button", { name: `Ask: ${example}` })
      .first()
      .click();
    assert.equal(await page.getByLabel(composer).inputValue(), example);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/tasks\/[^?]+/);
    await state(page, "Completed");
    await article(page)
      .getByRole("heading", { name: /^Artifact/ })
      .waitFor();
    await article(page).getByText("This task: Ended").waitFor();
    assert.ok(await article(page).getByRole("button", { name: "Cancel task" }).isDisabled());
    assert.equal(await page.getByLabel(composer).inputValue(), "");
    assert.deepEqual(troubles, []);
    await close();
  },

  async "a task is the same after the page is loaded again"() {
    const { page, close } = await browser.open("/tasks");
    await compose(page, example);
    await state(page, "Completed");
    await page.reload();
    await state(page, "Completed");
    await article(page)
      .getByRole("heading", { name: /^Artifact/ })
      .waitFor();
    await article(page).getByRole("heading", { name: example, level: 2 }).waitFor();
    await close();
  },

  async "the list shows a task of another client by itself, with its words and each of its states"() {
    const { page, troubles, close } = await browser.open("/tasks");
    await live(page.getByRole("banner"));
    const id = await send(example);
    await row(page, id).getByText("Completed", { exact: true }).waitFor();
    await row(page, id).getByRole("link", { name: example }).waitFor();
    assert.deepEqual(troubles, []);
    await close();
  },

  async "a reply goes on with the task that asked, and both turns are in its history"() {
    const { page, troubles, close } = await browser.open("/tasks");
    const id = await compose(page, unanswerable);
    await state(page, "Input required");
    await page.getByLabel("Reply to this task").fill(example);
    await page.keyboard.press("Enter");
    await state(page, "Completed");
    assert.equal(new URL(page.url()).pathname, `/tasks/${id}`);
    const history = page.getByRole("region", { name: "History" });
    for (const text of [unanswerable, example]) await history.getByText(text, { exact: true }).waitFor();
    assert.deepEqual(troubles, []);
    await close();
  },

  async "cancel asks first, then the task is canceled here and in the list"() {
    const { page, troubles, close } = await browser.open("/tasks");
    const id = await compose(page, longText);
    const cancel = article(page).getByRole("button", { name: "Cancel task" });
    await cancel.click();
    await page.keyboard.press("Escape");
    assert.equal(await focused(page), "Cancel task");
    await cancel.click();
    await page.getByRole("button", { name: "Yes, cancel it" }).click();
    await state(page, "Canceled");
    await row(page, id).getByText("Canceled", { exact: true }).waitFor();
    assert.ok(await cancel.isDisabled());
    assert.deepEqual(troubles, []);
    await close();
  },

  async "a cancel by another client shows on the open page"() {
    const id = await send(longText);
    const { page, close } = await browser.open(`/tasks/${id}`);
    await live(article(page));
    await fetch(`${base}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "CancelTask", params: { id } }),
    });
    await state(page, "Canceled");
    await close();
  },

  async "filters are words of the URL and survive opening and closing a task"() {
    const { page, close } = await browser.open("/tasks?state=completed");
    await page.locator("[data-row]").first().click();
    await page.waitForURL(/\/tasks\/.+\?state=completed$/);
    await article(page).getByRole("link", { name: "Close" }).click();
    await page.waitForURL(/\/tasks\?state=completed$/);
    for (const word of await page.locator("tbody tr td:first-child").allTextContents())
      assert.equal(word, "Completed");
    await page.getByRole("link", { name: "All", exact: true }).click();
    await page.waitForURL(/\/tasks$/);
    await page.getByLabel("Context").fill("no-such-context");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\?context=no-such-context$/);
    await page.getByText("No task matches this filter.").waitFor();
    await close();
  },

  async "older and newer lead through the pages, each task on one of them, and back"() {
    const { page, troubles, close } = await browser.open("/tasks");
    const ids = () => page.locator("[data-row]").evaluateAll((rows) => rows.map((row) => row.dataset.row));
    const pager = page.getByRole("navigation", { name: "Pages of the list" });
    const total = Number.parseInt(await pager.getByText(/^\d+ tasks?$/).textContent(), 10);
    for (let missing = 55 - total; missing > 0; missing -= 1) await send(unanswerable);
    await page.reload();
    await pager.getByRole("link", { name: "Older" }).click();
    await page.waitForURL(/\?page=/);
    await pager.getByRole("link", { name: "Newest" }).waitFor();
    await page.locator('[aria-busy="true"]').waitFor({ state: "detached" });
    const older = await ids();
    await pager.getByRole("link", { name: "Newest" }).click();
    await page.waitForURL(/\/tasks$/);
    await page.locator(`[data-row="${older[0]}"]`).waitFor({ state: "detached" });
    const newest = await ids();
    assert.equal(newest.length, 50);
    assert.ok(older.length > 0 && older.every((id) => !newest.includes(id)), "a task is on two pages");
    assert.deepEqual(troubles, []);
    await close();
  },

  async "an unknown task is said to be unknown, with the mesh's reason"() {
    const { page, close } = await browser.open("/tasks/00000000-0000-4000-8000-000000000000");
    await article(page).getByRole("alert").getByText("TASK_NOT_FOUND").waitFor();
    await close();
  },

  async "what a message says is text, never markup"() {
    const { page, troubles, close } = await browser.open("/tasks");
    const text = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> ${longText}`;
    await compose(page, text);
    await article(page).getByRole("heading", { level: 2, name: text }).waitFor();
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.doesNotMatch(await page.title(), /^owned/);
    assert.deepEqual(troubles, []);
    await close();
  },

  async "everything is done by keyboard: skip, move through rows, open, come back"() {
    const { page, close } = await browser.open("/tasks");
    await page.locator("[data-row]").nth(1).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the tasks");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    const rows = page.locator("[data-row]");
    await rows.first().focus();
    await page.keyboard.press("ArrowDown");
    const second = await rows.nth(1).getAttribute("data-row");
    assert.equal(await page.evaluate(() => document.activeElement?.dataset.row), second);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/tasks/${second}`);
    await page.waitForFunction(() => document.activeElement?.id === "task-heading");
    await article(page).getByRole("link", { name: "Close" }).press("Enter");
    await page.waitForFunction((id) => document.activeElement?.dataset.row === id, second);
    await close();
  },

  async "a mesh that is gone is said to be gone, and found again"() {
    const { page, close } = await browser.open("/tasks");
    await live(page.getByRole("banner"));
    await page.route(/\/(a2a|api\/)/, (route) => route.abort());
    await page.reload();
    await page.getByText("The mesh does not answer.").waitFor();
    await page.getByRole("alert").getByText("Cannot list the tasks:").waitFor();
    await page.unroute(/\/(a2a|api\/)/);
    await live(page.getByRole("banner"));
    await page.locator("[data-row]").first().waitFor();
    await close();
  },
};

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1440, 390]) {
    checks[`axe finds nothing serious, ${colorScheme}, ${width} px wide`] = async () => {
      const found = [];
      const look = async (page, where) =>
        found.push(...(await audit(page)).map((line) => `${where}: ${line}`));
      const { page, close } = await browser.open("/tasks", { width, colorScheme });
      await page.locator("[data-row]").first().waitFor();
      await look(page, "list");
      await compose(page, example);
      await state(page, "Completed");
      await look(page, "completed task");
      await page.goto("/tasks");
      await compose(page, longText);
      await article(page).getByRole("button", { name: "Cancel task" }).click();
      await look(page, "cancel dialog");
      await page.getByRole("button", { name: "Yes, cancel it" }).click();
      await state(page, "Canceled");
      await page.goto("/tasks/none?context=none");
      await article(page).getByRole("alert").waitFor();
      await look(page, "unknown task");
      assert.deepEqual(found, []);
      await close();
    };
  }
}

await run(browser, checks);
