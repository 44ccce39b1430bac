package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// A file that can't be read keeps no answer from being made: the agent is told why.
func TestAFileThatCantBeReadIsSaid(t *testing.T) {
	files := map[string]error{"F1": nil, "F2": fmt.Errorf("it was deleted: %w", slackapi.ErrFile), "F3": errors.New("secret words")}
	x := &answering{Handler: &Handler{File: func(_ context.Context, ref aggregate.Ref, id string, most int) (slackapi.File, error) {
		expect.That(t, ref.Tenant == "T" && most == turn.MaxFileText, "asked for %d bytes of %s", most, ref)
		return slackapi.File{Body: []byte("hello")}, files[id]
	}}, ref: aggregate.Ref{Tenant: "T"}}
	history := []turn.Message{{Sender: turn.FromUser}}
	for _, id := range []string{"F1", "F2", "F3"} {
		history[0].Files = append(history[0].Files, turn.File{ID: id, Name: id, Type: "text/plain", Size: 5})
	}
	x.attach(t.Context(), history)
	got := history[0].Files
	if string(got[0].Body) != "hello" || got[0].Hash != aggregate.HashOf("hello") || got[0].Why != "" {
		t.Errorf("%+v", got[0])
	}
	if got[1].Why != "it was deleted: the file can't be read" || got[2].Why != "Slack did not give it now" || got[1].Body != nil || got[2].Body != nil {
		t.Errorf("%+v", got[1:])
	}
	(&answering{Handler: &Handler{}}).attach(t.Context(), history) // nobody reads files here
}
