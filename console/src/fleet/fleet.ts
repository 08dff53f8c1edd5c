// The catalog's snapshot as the strip shows it. Pure.

import type { CapabilityJson, NodeJson, SnapshotJson } from "../api/gen/weft/v1/catalog_pb";

export type Health = "up" | "unreachable" | "differs" | "unknown";

export const healthWords: Record<Health, string> = {
  up: "Up",
  unreachable: "Unreachable",
  differs: "Differs",
  unknown: "Not seen yet",
};

export function healthOf(node: NodeJson): Health {
  switch (node.health?.state) {
    case "STATE_UP":
      return "up";
    case "STATE_UNREACHABLE":
      return "unreachable";
    case "STATE_DIFFERS":
      return "differs";
    default:
      return "unknown";
  }
}

/** `3 of 3 up`. */
export function summary(nodes: NodeJson[]): string {
  return `${nodes.filter((node) => healthOf(node) === "up").length} of ${nodes.length} up`;
}

/** Each node with the capabilities that run on it; and those that run on none of them. */
export function byNode({ nodes = [], capabilities = [] }: SnapshotJson) {
  const ids = new Set(nodes.map((node) => node.id));
  return {
    nodes: nodes.map((node) => ({
      node,
      capabilities: capabilities.filter((capability) => capability.tool?.node === node.id),
    })),
    elsewhere: capabilities.filter((capability) => !ids.has(capability.tool?.node)) as CapabilityJson[],
  };
}
