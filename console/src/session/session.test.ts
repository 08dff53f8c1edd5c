import { afterEach, expect, it, vi } from "vitest";
import { sessionQuery, signIn } from "./session";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("sends the token once, in a header, and gives back who it is", async () => {
  const fetchFn = vi.fn(async (_url: string, _init?: RequestInit) =>
    Response.json({ needed: true, signedIn: true, name: "ops" }),
  );
  vi.stubGlobal("fetch", fetchFn);
  expect((await signIn("t")).name).toBe("ops");
  expect(fetchFn.mock.calls[0]?.[0]).toBe("api/session");
  expect(fetchFn.mock.calls[0]?.[1]?.headers).toEqual({ authorization: "Bearer t" });
});

it("says why a token is refused", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 401 }));
  await expect(signIn("t")).rejects.toMatchObject({ code: 401, reason: "UNAUTHENTICATED" });
  vi.stubGlobal("fetch", async () => new Response(null, { status: 403 }));
  await expect(signIn("t")).rejects.toThrow("weft:admin");
});

it("tells a mesh that is away from one that refuses", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("failed");
  });
  const run = sessionQuery().queryFn as (context: { signal: AbortSignal }) => Promise<unknown>;
  await expect(run({ signal: new AbortController().signal })).rejects.toMatchObject({ kind: "network" });
});
