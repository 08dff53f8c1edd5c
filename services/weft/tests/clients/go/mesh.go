package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
)

const scenario = "scenario.play"

var errEmpty = errors.New("the stream is empty")

// transports is what the SDK offers, by the name that a card has for it.
var transports = map[a2a.TransportProtocol]a2aclient.FactoryOption{
	a2a.TransportProtocolJSONRPC:  a2aclient.WithJSONRPCTransport(nil),
	a2a.TransportProtocolHTTPJSON: a2aclient.WithRESTTransport(nil),
	a2a.TransportProtocolGRPC:     a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())),
}

// mesh is the SDK's client for one card over one binding.
type mesh struct {
	base    string
	binding a2a.TransportProtocol
	card    *a2a.AgentCard
	client  *a2aclient.Client
}

// open resolves the card below base and makes a client of it that speaks binding and no other.
func open(ctx context.Context, base string, binding a2a.TransportProtocol) (*mesh, error) {
	transport, ok := transports[binding]
	if !ok {
		return nil, fmt.Errorf("no binding is called %s", binding)
	}
	card, err := agentcard.DefaultResolver.Resolve(ctx, base)
	if err != nil {
		return nil, err
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(), transport)
	return &mesh{base, binding, card, client}, err
}

func request(text string) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	message.Metadata = map[string]any{"skillId": scenario}
	return &a2a.SendMessageRequest{Message: message}
}

// send sends a message and returns the task of the answer.
func (m *mesh) send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	result, err := m.client.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := result.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T, not a task", result)
	}
	return task, nil
}

// startSlow starts a task that works until it is canceled.
func (m *mesh) startSlow(ctx context.Context) (*a2a.Task, error) {
	req := request("slow")
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	task, err := m.send(ctx, req)
	if err == nil && task.Status.State != a2a.TaskStateSubmitted && task.Status.State != a2a.TaskStateWorking {
		err = fmt.Errorf("state is %s", task.Status.State)
	}
	return task, err
}

func (m *mesh) get(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	return m.client.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
}

func (m *mesh) cancel(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	return m.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
}

func drain(stream iter.Seq2[a2a.Event, error]) ([]a2a.Event, error) {
	var events []a2a.Event
	for event, err := range stream {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	if len(events) == 0 {
		return nil, errEmpty
	}
	return events, nil
}

// is: the call failed with this error, as far as the SDK can tell over this binding. Over JSON-RPC it cannot read the
// details of an error, an array in A2A v1.0, and takes an error in place of a stream for an empty stream; over gRPC it
// knows an unsupported operation by another status only.
func (m *mesh) is(err, expected error) error {
	switch {
	case errors.Is(err, expected):
		return nil
	case m.binding == a2a.TransportProtocolJSONRPC && errors.Is(err, errEmpty):
		return nil
	case m.binding == a2a.TransportProtocolJSONRPC && err != nil && strings.Contains(err.Error(), "Error.error.data"):
		return nil
	case m.binding == a2a.TransportProtocolGRPC && expected == a2a.ErrUnsupportedOperation && errors.Is(err, a2a.ErrInternalError):
		return nil
	}
	return fmt.Errorf("%q was expected, not %v", expected, err)
}
