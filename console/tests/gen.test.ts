import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

function tree(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      return [path.slice(dir.length), readFileSync(path, "utf8")];
    }),
  );
}

it("the committed types are what the proto files say (npm run gen)", { timeout: 60_000 }, () => {
  const out = mkdtempSync(join(tmpdir(), "console-gen-"));
  try {
    const bin = join(root, "node_modules", ".bin");
    execFileSync(join(bin, "buf"), ["generate", "--output", out], {
      cwd: root,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    expect(tree(join(root, "src/api/gen"))).toEqual(tree(join(out, "src/api/gen")));
  } finally {
    rmSync(out, { recursive: true });
  }
});
