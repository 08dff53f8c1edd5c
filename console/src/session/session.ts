// Who is signed in. The token goes to the mesh once; what stays is a cookie that no script can read.

import { queryOptions } from "@tanstack/react-query";
import { Fault } from "../api/rpc";

export interface Session {
  /** Whether this mesh asks anybody to sign in. */
  needed: boolean;
  signedIn: boolean;
  /** The administrator's name; empty: nobody. */
  name: string;
}

export const sessionKey = ["session"] as const;

export function sessionQuery() {
  return queryOptions({
    queryKey: sessionKey,
    queryFn: async ({ signal }) => (await (await ask({ signal })).json()) as Session,
  });
}

/** Begins a session. Rejects with a `Fault`: a token that is refused is `UNAUTHENTICATED` or `PERMISSION_DENIED`. */
export async function signIn(token: string): Promise<Session> {
  const response = await ask({ method: "POST", headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as Session;
}

export async function signOut(): Promise<void> {
  await ask({ method: "DELETE" });
}

async function ask(init: RequestInit): Promise<Response> {
  const response = await fetch("api/session", init).catch((error) => {
    throw init.signal?.aborted ? error : new Fault("network", 0, "", "the mesh cannot be reached");
  });
  if (response.ok) return response;
  const refusals: Record<number, [string, string]> = {
    401: ["UNAUTHENTICATED", "this token is not known here"],
    403: ["PERMISSION_DENIED", "this token is no administrator's: it needs the scope weft:admin"],
    429: ["RESOURCE_EXHAUSTED", "too many tries: wait a moment"],
  };
  const [reason, text] = refusals[response.status] ?? ["", `the mesh answered HTTP ${response.status}`];
  throw new Fault("protocol", response.status, reason, text);
}
