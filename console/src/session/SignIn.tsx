import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef } from "react";
import { Button } from "../ui/Button";
import { FaultNotice } from "../ui/FaultNotice";
import styles from "./SignIn.module.css";
import { sessionKey, signIn } from "./session";

/** Asks for an administrator's token. The field keeps nothing: what stays is a cookie. */
export function SignIn() {
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const entry = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => client.setQueryData(sessionKey, session),
  });
  return (
    <main id="main" className={styles.page} tabIndex={-1}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          const token = field.current?.value.trim();
          if (token) entry.mutate(token);
        }}
      >
        <h1 data-page-heading tabIndex={-1}>
          Sign in
        </h1>
        <label htmlFor={id}>An administrator's token</label>
        <input ref={field} id={id} className={styles.token} type="password" autoComplete="off" required />
        <p className={styles.hint}>
          <code>weft access add NAME --scope weft:admin</code> makes one.
        </p>
        <Button type="submit" look="primary" disabled={entry.isPending}>
          {entry.isPending ? "Signing in…" : "Sign in"}
        </Button>
        {entry.isError && <FaultNotice what="Cannot sign in" error={entry.error} />}
      </form>
    </main>
  );
}
