package weft;

import io.a2a.spec.DeleteTaskPushNotificationConfigParams;
import io.a2a.spec.GetTaskPushNotificationConfigParams;
import io.a2a.spec.ListTaskPushNotificationConfigParams;
import io.a2a.spec.PushNotificationConfig;
import io.a2a.spec.Task;
import io.a2a.spec.TaskArtifactUpdateEvent;
import io.a2a.spec.TaskNotCancelableError;
import io.a2a.spec.TaskNotFoundError;
import io.a2a.spec.TaskPushNotificationConfig;
import io.a2a.spec.TaskState;
import io.a2a.spec.TextPart;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Checks a running mesh with the official Java SDK over JSON-RPC, HTTP+JSON and gRPC: {@code CheckMesh
 * http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...}
 */
public final class CheckMesh {
    private static final List<String> BINDINGS = List.of("JSONRPC", "HTTP+JSON", "GRPC");
    private static final Map<String, Check> CHECKS = new LinkedHashMap<>();

    static {
        CHECKS.put("a blocking message comes back as a completed task with its artifact", CheckMesh::completes);
        CHECKS.put("a stream begins with the task and ends with its completion", CheckMesh::streams);
        CHECKS.put("the chunks of an artifact arrive in order and are kept whole", CheckMesh::chunks);
        CHECKS.put("a task that asks for input is completed by the answer", CheckMesh::answers);
        CHECKS.put("a subscriber sees the running task, then its events to the end", CheckMesh::subscribes);
        CHECKS.put("a completed task cannot be canceled, an unknown one is not found", CheckMesh::refuses);
        CHECKS.put("push configurations are kept, found, listed and removed", CheckMesh::pushes);
    }

    private CheckMesh() {}

    interface Check {
        void run(Mesh mesh) throws Exception;
    }

    private static void completes(Mesh mesh) throws Exception {
        var task = mesh.get(mesh.send(Mesh.message("echo hello mesh").build()).getId());
        equal("state", task.getStatus().state(), TaskState.COMPLETED);
        equal("artifact", texts(task), List.of("echo hello mesh"));
        equal("first message", ((TextPart) task.getHistory().get(0).getParts().get(0)).getText(), "echo hello mesh");
    }

    private static void streams(Mesh mesh) throws Exception {
        var events = mesh.stream("echo hello mesh");
        var id = events.nextTask().getId();
        var last = end(events);
        equal("id", last.getId(), id);
        equal("state", last.getStatus().state(), TaskState.COMPLETED);
    }

    private static void chunks(Mesh mesh) throws Exception {
        var events = mesh.stream("chunks");
        var id = events.nextTask().getId();
        var streamed = new ArrayList<String>();
        while (streamed.size() < 3) {
            var update = events.nextUpdate();
            if (update.getUpdateEvent() instanceof TaskArtifactUpdateEvent chunk) {
                chunk.getArtifact().parts().forEach(part -> streamed.add(((TextPart) part).getText()));
            }
        }
        equal("state", end(events).getStatus().state(), TaskState.COMPLETED);
        equal("kept parts", texts(mesh.get(id)), streamed);
    }

    private static void answers(Mesh mesh) throws Exception {
        var asked = mesh.send(Mesh.message("ask").build());
        equal("state", asked.getStatus().state(), TaskState.INPUT_REQUIRED);
        var reply = Mesh.message("echo blue").taskId(asked.getId()).contextId(asked.getContextId()).build();
        var answered = mesh.send(reply);
        equal("id", answered.getId(), asked.getId());
        equal("state", answered.getStatus().state(), TaskState.COMPLETED);
    }

    private static void subscribes(Mesh mesh) throws Exception {
        var id = mesh.stream("slow").nextTask().getId();
        var events = mesh.subscribe(id);
        equal("id", events.nextTask().getId(), id);
        equal("state", mesh.cancel(id).getStatus().state(), TaskState.CANCELED);
        equal("state", end(events).getStatus().state(), TaskState.CANCELED);
    }

    private static void refuses(Mesh mesh) throws Exception {
        var id = mesh.send(Mesh.message("echo hello mesh").build()).getId();
        var unknown = UUID.randomUUID().toString();
        fails(told(mesh, TaskNotCancelableError.class), () -> mesh.cancel(id));
        fails(told(mesh, TaskNotFoundError.class), () -> mesh.get(unknown));
        fails(told(mesh, TaskNotFoundError.class), () -> mesh.cancel(unknown));
    }

    private static void pushes(Mesh mesh) throws Exception {
        var id = mesh.stream("slow").nextTask().getId();
        var config = new PushNotificationConfig.Builder().id("first").url("https://webhook.invalid/hook").build();
        mesh.unary.setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(id, config));
        var one = new GetTaskPushNotificationConfigParams(id, "first");
        var kept = mesh.unary.getTaskPushNotificationConfiguration(one).pushNotificationConfig();
        equal("url", kept.url(), config.url());
        var every = new ListTaskPushNotificationConfigParams(id);
        var gone = new DeleteTaskPushNotificationConfigParams(id, "first");
        for (var left : List.of(1, 0)) {
            var listed = mesh.unary.listTaskPushNotificationConfigurations(every);
            equal("number of configurations", listed.size(), left);
            mesh.unary.deleteTaskPushNotificationConfigurations(gone);
        }
        mesh.cancel(id);
    }

    /** The task as it is once a stream has brought its last state. */
    private static Task end(Mesh.Events events) throws Exception {
        var task = events.nextUpdate().getTask();
        while (!task.getStatus().state().isFinal()) {
            task = events.nextUpdate().getTask();
        }
        return task;
    }

    private static List<String> texts(Task task) {
        return task.getArtifacts().get(0).parts().stream().map(part -> ((TextPart) part).getText()).toList();
    }

    private static void equal(String what, Object actual, Object expected) throws Exception {
        if (!Objects.equals(actual, expected)) {
            throw new Exception(what + " is " + actual + ", not " + expected);
        }
    }

    /**
     * What the SDK makes of an error over a binding. Over HTTP+JSON it reads only errors that name a class of Java;
     * over gRPC it has no type for FAILED_PRECONDITION.
     */
    private static Class<? extends Throwable> told(Mesh mesh, Class<? extends Throwable> error) {
        return switch (mesh.binding) {
            case "HTTP+JSON" -> NullPointerException.class;
            case "GRPC" -> error == TaskNotCancelableError.class ? StatusRuntimeException.class : error;
            default -> error;
        };
    }

    interface Call {
        Object run() throws Exception;
    }

    /** The call must fail with this error, which the SDK may have wrapped. */
    private static void fails(Class<? extends Throwable> expected, Call call) throws Exception {
        Object answer;
        try {
            answer = call.run();
        } catch (Exception error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                if (expected.isInstance(cause)) {
                    return;
                }
            }
            throw error;
        }
        throw new Exception(expected.getSimpleName() + " was expected, not " + answer);
    }

    private static int runAll(Mesh mesh) {
        var failed = 0;
        for (var check : CHECKS.entrySet()) {
            try {
                check.getValue().run(mesh);
                System.out.println("ok - " + check.getKey());
            } catch (Exception error) {
                failed++;
                var reason = error.getCause() == null ? error.toString() : error + ": " + error.getCause();
                System.out.println("not ok - " + check.getKey() + ": " + reason.replace('\n', ' '));
            }
        }
        System.out.println(CHECKS.size() - failed + " passed, " + failed + " failed");
        return failed;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            System.err.println("usage: CheckMesh BASE_URL [JSONRPC|HTTP+JSON|GRPC]...");
            System.exit(2);
        }
        var chosen = arguments.length == 1 ? BINDINGS : List.of(arguments).subList(1, arguments.length);
        var failed = 0;
        for (var binding : chosen) {
            System.out.println("# " + binding);
            failed += runAll(Mesh.open(arguments[0], binding));
        }
        // Connections of the SDK would keep the process alive, so its end is said outright.
        System.exit(failed == 0 ? 0 : 1);
    }
}
