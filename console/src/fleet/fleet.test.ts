import { expect, it } from "vitest";
import { byNode, healthOf, summary } from "./fleet";

it("a node that was not seen is not said to be up", () => {
  expect(healthOf({ id: "a" })).toBe("unknown");
  expect(healthOf({ health: { state: "STATE_UNSPECIFIED" } })).toBe("unknown");
  expect(healthOf({ health: { state: "STATE_DIFFERS" } })).toBe("differs");
  expect(healthOf({ health: { state: "STATE_UNREACHABLE" } })).toBe("unreachable");
  expect(summary([{ id: "a" }, { id: "b", health: { state: "STATE_UP" } }])).toBe("1 of 2 up");
});

it("every capability is shown once: under its node, or apart when no such node is there", () => {
  const grouped = byNode({
    nodes: [{ id: "crm" }, { id: "lan" }],
    capabilities: [
      { id: "customer.reach", tool: { node: "crm" } },
      { id: "task.delegate" },
      { id: "lost", tool: { node: "gone" } },
    ],
  });
  expect(grouped.nodes.map(({ capabilities }) => capabilities.map(({ id }) => id))).toEqual([
    ["customer.reach"],
    [],
  ]);
  expect(grouped.elsewhere.map(({ id }) => id)).toEqual(["task.delegate", "lost"]);
});
