// The mesh behind this page, and how answers of it are kept.

import { QueryClient } from "@tanstack/react-query";
import { createRpc, Fault } from "./rpc";

export const rpc = createRpc();

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The mesh may be on this very machine: whether the network is up says nothing about it.
        networkMode: "always",
        // Feeds and streams say when an answer is out of date.
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < 2 && error instanceof Fault && error.kind === "network",
        retryDelay: 500,
      },
      mutations: { networkMode: "always" },
    },
  });
}
