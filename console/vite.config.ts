import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The mesh the development server talks to; the built console only ever talks to the origin that served it.
const mesh = process.env.WEFT_URL ?? "http://127.0.0.1:8420";

export default defineConfig({
  plugins: [react()],
  // Found relative to the page, which may lie below a path prefix.
  base: "./",
  build: {
    target: "es2023",
    // The content security policy forbids data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    host: "127.0.0.1",
    // The mesh checks Origin against Host: the proxy presents its own.
    proxy: {
      "/a2a": proxied(),
      "/api": proxied(),
    },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
  },
});

function proxied() {
  return { target: mesh, changeOrigin: true, headers: { origin: mesh } };
}
