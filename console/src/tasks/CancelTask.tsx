import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef } from "react";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { rpc } from "../api/mesh";
import { Button } from "../ui/Button";
import { FaultNotice } from "../ui/FaultNotice";
import styles from "./CancelTask.module.css";
import { taskQuery } from "./queries";
import { stateOf } from "./state";

/** Asks once more, then cancels. Nothing is left to cancel when the task is terminal. */
export function CancelTask({ task }: { task: TaskJson }) {
  const client = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { terminal } = stateOf(task);
  const cancel = useMutation({
    mutationFn: () => rpc.call<TaskJson>("CancelTask", { id: task.id }),
    onSuccess: (canceled) => {
      client.setQueryData(taskQuery(task.id ?? "").queryKey, canceled);
      dialog.current?.close();
    },
  });

  return (
    <>
      <Button
        look="danger"
        disabled={terminal}
        title={terminal ? "The task has ended" : undefined}
        onClick={() => dialog.current?.showModal()}
      >
        Cancel task
      </Button>
      <dialog ref={dialog} className={styles.dialog} aria-labelledby={heading} onClose={() => cancel.reset()}>
        <h3 id={heading}>Cancel this task?</h3>
        <p>
          Whoever works on it is told to stop. What it has made so far is kept; it cannot be taken up again.
        </p>
        {terminal && <p role="status">The task has ended in the meantime.</p>}
        {cancel.isError && <FaultNotice what="Cannot cancel the task" error={cancel.error} />}
        <div className={styles.ways}>
          <Button onClick={() => dialog.current?.close()}>{terminal ? "Close" : "Let it run"}</Button>
          <Button look="danger" disabled={terminal || cancel.isPending} onClick={() => cancel.mutate()}>
            {cancel.isPending ? "Canceling…" : "Yes, cancel it"}
          </Button>
        </div>
      </dialog>
    </>
  );
}
