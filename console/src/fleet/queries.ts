// What the fleet strip reads.

import { queryOptions } from "@tanstack/react-query";
import type { SnapshotJson } from "../api/gen/weft/v1/catalog_pb";
import { Fault } from "../api/rpc";

/** Health has no feed; it is read again this often while the page is visible, in milliseconds. */
const catalogMs = 15_000;

export const catalogKey = ["catalog"] as const;

/** The fleet and what it can do. */
export function catalogQuery() {
  return queryOptions({
    queryKey: catalogKey,
    queryFn: async ({ signal }) => {
      const response = await fetch("api/catalog", { signal }).catch((error) => {
        throw signal.aborted ? error : new Fault("network", 0, "", "the mesh cannot be reached");
      });
      if (!response.ok) {
        throw new Fault("protocol", response.status, "", `the catalog answered HTTP ${response.status}`);
      }
      return (await response.json()) as SnapshotJson;
    },
    refetchInterval: catalogMs,
  });
}
