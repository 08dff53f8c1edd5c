import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const dist = join(import.meta.dirname, "..", "dist");
const kB = 1000;

function files() {
  if (!existsSync(dist)) throw new Error("nothing is built: npm run build");
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const gzip = (paths: string[]) =>
  paths.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).length, 0);

describe("what the build weighs", () => {
  it("the entry is at most 140 kB (gzip)", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8");
    const entry = [...page.matchAll(/(?:src|href)="\.(\/assets\/[^"]+\.js)"/g)].map(
      (match) => `${dist}${match[1]}`,
    );
    expect(entry.length).toBeGreaterThan(0);
    expect(gzip(entry)).toBeLessThanOrEqual(140 * kB);
  });

  it("the style is at most 15 kB (gzip)", () => {
    const style = files().filter((path) => path.endsWith(".css"));
    expect(style.length).toBeGreaterThan(0);
    expect(gzip(style)).toBeLessThanOrEqual(15 * kB);
  });

  it("all of it is at most 700 kB", () => {
    const raw = files().reduce((sum, path) => sum + readFileSync(path).length, 0);
    expect(raw).toBeLessThanOrEqual(700 * kB);
  });
});

describe("what the content security policy asks of the build", () => {
  it("the page holds no inline script, style or handler", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8");
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/);
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
  });

  it("every asset is named by its hash and comes from the same origin", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8");
    const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    expect(links.shift(), "the base, which the mesh replaces by its own path").toBe("/");
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(link).toMatch(/^\.\/assets\/[\w-]+-[\w-]{8}\.\w+$/);
  });
});
