package weft;

import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.ClientEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfig;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfig;
import io.a2a.spec.AgentCard;
import io.a2a.spec.Message;
import io.a2a.spec.Task;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskQueryParams;
import io.a2a.spec.TextPart;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** The SDK's clients for one mesh over one binding: one that waits for whole answers, one that streams. */
final class Mesh {
    private static final int WAIT_SECONDS_MAX = 20;

    final AgentCard card;
    final String binding;
    final Client unary;
    private final Client streaming;

    private Mesh(AgentCard card, String binding) throws Exception {
        this.card = card;
        this.binding = binding;
        unary = client(false);
        streaming = client(true);
    }

    /** Resolves the card below {@code base} and makes clients of it that speak {@code binding} and no other. */
    static Mesh open(String base, String binding) throws Exception {
        return new Mesh(A2A.getAgentCard(base), binding);
    }

    private Client client(boolean streams) throws Exception {
        var builder = Client.builder(card).clientConfig(new ClientConfig.Builder().setStreaming(streams).build());
        switch (binding) {
            case "JSONRPC" -> builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig());
            case "HTTP+JSON" -> builder.withTransport(RestTransport.class, new RestTransportConfig());
            case "GRPC" -> builder.withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder()
                    .channelFactory(url -> ManagedChannelBuilder.forTarget(url).usePlaintext().build()));
            default -> throw new IllegalArgumentException("no binding is called " + binding);
        }
        return builder.build();
    }

    static Message.Builder message(String text) {
        return new Message.Builder().role(Message.Role.USER).parts(new TextPart(text))
                .metadata(Map.of("skillId", "scenario.play"));
    }

    /** Sends a message and returns the task of the answer. */
    Task send(Message message) throws Exception {
        var events = new Events();
        unary.sendMessage(message, events.consumers(), events::failed);
        return events.nextTask();
    }

    /** Sends a message and returns the events of its stream, which may go on. */
    Events stream(String text) throws Exception {
        var events = new Events();
        streaming.sendMessage(message(text).build(), events.consumers(), events::failed);
        return events;
    }

    Events subscribe(String id) throws Exception {
        var events = new Events();
        streaming.resubscribe(new TaskIdParams(id), events.consumers(), events::failed);
        return events;
    }

    Task get(String id) throws Exception {
        return unary.getTask(new TaskQueryParams(id));
    }

    Task cancel(String id) throws Exception {
        return unary.cancelTask(new TaskIdParams(id));
    }

    /** What a call brings, in the order of arrival. */
    static final class Events {
        private final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();

        private List<BiConsumer<ClientEvent, AgentCard>> consumers() {
            return List.of((event, card) -> arrived.add(event));
        }

        private void failed(Throwable reason) {
            // The end of a stream is told as a failure without a reason.
            if (reason != null) {
                arrived.add(reason);
            }
        }

        /** The next event; throws what ended the call. */
        ClientEvent next() throws Exception {
            var event = arrived.poll(WAIT_SECONDS_MAX, TimeUnit.SECONDS);
            if (event instanceof ClientEvent there) {
                return there;
            }
            throw new Exception(event == null ? "no event came" : "the call failed", (Throwable) event);
        }

        Task nextTask() throws Exception {
            var event = next();
            if (event instanceof TaskEvent there) {
                return there.getTask();
            }
            throw new Exception("a task was expected, not " + event);
        }

        TaskUpdateEvent nextUpdate() throws Exception {
            var event = next();
            if (event instanceof TaskUpdateEvent there) {
                return there;
            }
            throw new Exception("an update was expected, not " + event);
        }
    }
}
