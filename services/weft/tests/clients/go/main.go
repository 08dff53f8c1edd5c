// Command check_mesh checks a running mesh with the official Go SDK over JSON-RPC, HTTP+JSON and gRPC:
//
//	go run . http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...
//
// The mesh must let everybody read its extended card (edge.extended_card).
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

var checks = []check{
	{"a blocking message comes back as a completed task with its artifact", completes},
	{"a stream begins with the task and ends with its completion", streams},
	{"the chunks of an artifact arrive in order and are kept whole", chunks},
	{"a task that asks for input is completed by the answer", answers},
	{"pages list every task of a context once", lists},
	{"a subscriber sees the running task, then its events to the end", subscribes},
	{"a completed task can be neither canceled nor subscribed to", refuses},
	{"an unknown task is not found", misses},
	{"the extended card holds what the public card does", extends},
	{"a node is an agent of its own, whose tasks the mesh does not see", separates},
}

var grpcChecks = append(slices.Clone(checks), check{"push configurations are kept, found, listed and removed", pushes})

func completes(ctx context.Context, m *mesh) error {
	task, err := m.send(ctx, request("echo hello mesh"))
	if err != nil {
		return err
	}
	again, err := m.get(ctx, task.ID)
	if err != nil {
		return err
	}
	return all(
		equal("state", again.Status.State, a2a.TaskStateCompleted),
		equal("artifact", again.Artifacts[0].Parts[0].Text(), "echo hello mesh"),
		equal("first message", again.History[0].Parts[0].Text(), "echo hello mesh"),
	)
}

func streams(ctx context.Context, m *mesh) error {
	events, err := drain(m.client.SendStreamingMessage(ctx, request("echo hello mesh")))
	if err != nil {
		return err
	}
	return all(isTask(events[0], ""), isState(events[len(events)-1], a2a.TaskStateCompleted))
}

func chunks(ctx context.Context, m *mesh) error {
	events, err := drain(m.client.SendStreamingMessage(ctx, request("chunks")))
	if err != nil {
		return err
	}
	var streamed, kept []string
	for _, event := range events {
		if chunk, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			if err := equal("append", chunk.Append, len(streamed) > 0); err != nil {
				return err
			}
			streamed = append(streamed, chunk.Artifact.Parts[0].Text())
		}
	}
	task, err := m.get(ctx, events[0].TaskInfo().TaskID)
	if err != nil {
		return err
	}
	for _, part := range task.Artifacts[0].Parts {
		kept = append(kept, part.Text())
	}
	if len(kept) != 3 || !slices.Equal(kept, streamed) {
		return fmt.Errorf("kept %q, streamed %q", kept, streamed)
	}
	return nil
}

func answers(ctx context.Context, m *mesh) error {
	asked, err := m.send(ctx, request("ask"))
	if err != nil {
		return err
	}
	if err := equal("state", asked.Status.State, a2a.TaskStateInputRequired); err != nil {
		return err
	}
	reply := a2a.NewMessageForTask(a2a.MessageRoleUser, asked, a2a.NewTextPart("blue"))
	answered, err := m.send(ctx, &a2a.SendMessageRequest{Message: reply})
	if err != nil {
		return err
	}
	return all(
		equal("id", answered.ID, asked.ID),
		equal("state", answered.Status.State, a2a.TaskStateCompleted),
	)
}

func lists(ctx context.Context, m *mesh) error {
	var sent, listed []a2a.TaskID
	query := &a2a.ListTasksRequest{PageSize: 2}
	for range 3 {
		req := request("echo")
		req.Message.ContextID = query.ContextID
		task, err := m.send(ctx, req)
		if err != nil {
			return err
		}
		query.ContextID = task.ContextID
		sent = append([]a2a.TaskID{task.ID}, sent...)
	}
	for first := true; first || query.PageToken != ""; first = false {
		page, err := m.client.ListTasks(ctx, query)
		if err != nil {
			return err
		}
		if err := equal("totalSize", page.TotalSize, len(sent)); err != nil {
			return err
		}
		for _, task := range page.Tasks {
			listed = append(listed, task.ID)
		}
		query.PageToken = page.NextPageToken
	}
	if !slices.Equal(listed, sent) {
		return fmt.Errorf("listed %v, not %v", listed, sent)
	}
	return nil
}

func subscribes(ctx context.Context, m *mesh) error {
	task, err := m.startSlow(ctx)
	if err != nil {
		return err
	}
	var last a2a.Event
	for event, err := range m.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			return err
		}
		if last == nil {
			canceled, err := m.cancel(ctx, task.ID)
			if err != nil {
				return err
			}
			if err := all(isTask(event, task.ID), equal("state", canceled.Status.State, a2a.TaskStateCanceled)); err != nil {
				return err
			}
		}
		last = event
	}
	return isState(last, a2a.TaskStateCanceled)
}

func refuses(ctx context.Context, m *mesh) error {
	task, err := m.send(ctx, request("echo"))
	if err != nil {
		return err
	}
	_, canceling := m.cancel(ctx, task.ID)
	_, subscribing := drain(m.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}))
	return all(m.is(canceling, a2a.ErrTaskNotCancelable), m.is(subscribing, a2a.ErrUnsupportedOperation))
}

func misses(ctx context.Context, m *mesh) error {
	unknown := a2a.NewTaskID()
	_, getting := m.get(ctx, unknown)
	_, canceling := m.cancel(ctx, unknown)
	_, subscribing := drain(m.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: unknown}))
	return all(m.is(getting, a2a.ErrTaskNotFound), m.is(canceling, a2a.ErrTaskNotFound), m.is(subscribing, a2a.ErrTaskNotFound))
}

func extends(ctx context.Context, m *mesh) error {
	card, err := m.client.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if err != nil {
		return err
	}
	return all(equal("name", card.Name, m.card.Name), equal("number of skills", len(card.Skills), len(m.card.Skills)))
}

func separates(ctx context.Context, m *mesh) error {
	node, err := open(ctx, m.base+"/agents/scenario", m.binding)
	if err != nil {
		return err
	}
	ours, err := m.send(ctx, request("echo"))
	if err != nil {
		return err
	}
	theirs, err := node.send(ctx, request("echo"))
	if err != nil {
		return err
	}
	_, seen := node.get(ctx, theirs.ID)
	_, unseen := node.get(ctx, ours.ID)
	_, hidden := m.get(ctx, theirs.ID)
	return all(seen, m.is(unseen, a2a.ErrTaskNotFound), m.is(hidden, a2a.ErrTaskNotFound))
}

// Over the other two bindings the SDK wraps the configuration in a member that A2A v1.0 does not have.
func pushes(ctx context.Context, m *mesh) error {
	task, err := m.startSlow(ctx)
	if err != nil {
		return err
	}
	config := a2a.PushConfig{ID: "first", URL: "https://webhook.invalid/hook", Token: "t"}
	_, err = m.client.CreateTaskPushConfig(ctx, &a2a.CreateTaskPushConfigRequest{TaskID: task.ID, Config: config})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	kept, err := m.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: config.ID})
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	if err := equal("configuration", kept.Config, config); err != nil {
		return err
	}
	for _, left := range []int{1, 0} {
		configs, err := m.client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if err := equal("number of configurations", len(configs), left); err != nil {
			return err
		}
		err = m.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: config.ID})
		if err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	_, err = m.cancel(ctx, task.ID)
	return err
}

// isTask: the event is a task, with this id unless id is empty.
func isTask(event a2a.Event, id a2a.TaskID) error {
	task, ok := event.(*a2a.Task)
	if !ok || id != "" && task.ID != id {
		return fmt.Errorf("the first event is %T %v, not the task", event, event)
	}
	return nil
}

func isState(event a2a.Event, state a2a.TaskState) error {
	update, ok := event.(*a2a.TaskStatusUpdateEvent)
	if !ok {
		return fmt.Errorf("the last event is a %T, not a status", event)
	}
	return equal("state", update.Status.State, state)
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: check_mesh BASE_URL [JSONRPC|HTTP+JSON|GRPC]...")
		os.Exit(2)
	}
	bindings := os.Args[2:]
	if len(bindings) == 0 {
		bindings = []string{"JSONRPC", "HTTP+JSON", "GRPC"}
	}
	failed := 0
	for _, binding := range bindings {
		fmt.Println("#", binding)
		m, err := open(context.Background(), os.Args[1], a2a.TransportProtocol(binding))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if m.binding == a2a.TransportProtocolGRPC {
			failed += runAll(context.Background(), m, grpcChecks)
		} else {
			failed += runAll(context.Background(), m, checks)
		}
	}
	if failed > 0 {
		os.Exit(1)
	}
}
