import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "../ui/Button";
import { sessionQuery, signOut } from "./session";

/** Who is signed in, and the way out; nothing where nobody need sign in. */
export function SignOut() {
  const client = useQueryClient();
  const session = useQuery(sessionQuery()).data;
  const leave = useMutation({ mutationFn: signOut, onSettled: () => client.clear() });
  if (!session?.signedIn) return null;
  return (
    <Button look="quiet" disabled={leave.isPending} onClick={() => leave.mutate()}>
      Sign out <span className="visually-hidden">{session.name}</span>
    </Button>
  );
}
