import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "../ui/Button";
import { type Session, sessionKey, sessionQuery, signOut } from "./session";

/** Who is signed in, and the way out; nothing where nobody need sign in. */
export function SignOut() {
  const client = useQueryClient();
  const session = useQuery(sessionQuery()).data;
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      client.setQueryData<Session>(sessionKey, { needed: true, signedIn: false, name: "" });
      // What was shown is not for whoever comes next.
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionKey[0] });
    },
  });
  if (!session?.signedIn) return null;
  return (
    <Button look="quiet" disabled={leave.isPending} onClick={() => leave.mutate()}>
      Sign out <span className="visually-hidden">{session.name}</span>
    </Button>
  );
}
