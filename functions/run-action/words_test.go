package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// swapped returns another payload for each, as if the bucket had been changed.
type swapped struct{ text string }

func (s swapped) Open(context.Context, aggregate.Ref, aggregate.Blob) (json.RawMessage, error) {
	return json.RawMessage(s.text), nil
}

func TestAPayloadThatIsNotWhatWasStampedIsNotRun(t *testing.T) {
	server := storetest.Start(t)
	other := conversation.Payload{Script: "rm -rf /", TimeoutSeconds: 60}.JSON()
	files := conversation.Payload{Files: []conversation.File{{Path: "other", Content: "x"}}}.JSON()
	for name, w := range map[string]*world{
		string(conversation.ShellCommand): approved(t, server, conversation.ShellCommand, command),
		string(conversation.CodeGenerate): approved(t, server, conversation.CodeGenerate, conversation.Payload{Files: []conversation.File{{Path: "a", Content: "x"}}}),
	} {
		w.Payloads = swapped{string(other)}
		if name == string(conversation.CodeGenerate) {
			w.Payloads = swapped{string(files)}
		}
		expect.Value(w.handle())(t)
		if x := w.action(); x.Status != conversation.ActionFailed || x.Error != conversation.ReasonChanged || x.StartedAt != nil || w.box.ran != 0 || len(w.archives.trees) != 0 {
			t.Errorf("%s: %+v after %d runs, %d workspaces", name, x, w.box.ran, len(w.archives.trees))
		}
	}
}

// An error's text about this machine goes to the log, not to people.
func TestPeopleAreToldOfLimitsInWords(t *testing.T) {
	server, w := storetest.Start(t), inEach.In("en")
	for name, tt := range map[string]struct {
		end  isolated.End
		want string
	}{
		"the changes were not kept": {isolated.End{Limit: isolated.NotKept + ": open /tmp/room/x: permission denied"}, w.notKept},
		"memory":                    {isolated.End{ExitCode: -1, Signal: "SIGKILL", Limit: isolated.EndedByMemory}, "SIGKILL\n" + w.memory},
		"ended early":               {isolated.End{ExitCode: -1, Limit: isolated.EndedEarly}, w.early},
		"an upload that is gone":    {isolated.End{Version: "x"}, w.notKept},
		"what can't be kept":        {isolated.End{Left: []string{"a", "b"}}, "Couldn't be saved in the folder: a, b"},
		"too long":                  {isolated.End{TimedOut: true}, "Time limit: 60 s"},
	} {
		k := approved(t, server, conversation.ShellCommand, command)
		tt.end.Held = []string{"namespaces", "seccomp", strings.Repeat("x", 1000)}
		k.box.end = tt.end
		expect.Value(k.handle())(t)
		if x := k.action(); x.ErrorDetail != tt.want || len(x.Held) != 3 || x.Held[0] != "namespaces" || len(x.Held[2]) > 100 {
			t.Errorf("%s: %q, held by %q", name, x.ErrorDetail, x.Held)
		}
		all := expect.Value(k.rows.Messages(t.Context(), k.ref.Tenant, k.ref.ID, ""))(t)
		for _, p := range all[len(all)-1].Pieces() { // to the agent only the sandbox's words are quoted
			sandbox := p.Text == "SIGKILL" || p.Text == "a, b"
			expect.That(t, p.Quoted == sandbox, "%s: %+v", name, p)
		}
	}
}

// folders lacks the version with which an action begins, or has a folder in place of a file.
type folders struct {
	*archives
	err error
}

func (f folders) Get(context.Context, large.VersionsOf, string) (*conversation.Tree, error) {
	if f.err != nil {
		return nil, f.err
	}
	return (&conversation.Tree{}).Apply([]conversation.File{{Path: "a/b", Content: "x"}})
}

func TestFilesThatCantBeWrittenAreSaidInWords(t *testing.T) {
	server, words := storetest.Start(t), inEach.In("en")
	for _, tt := range []struct {
		err    error
		reason aggregate.Reason
		want   string
	}{{large.ErrGone, conversation.ReasonFilesLost, words.gone}, {nil, reasonRefused, words.refused}} {
		w := approved(t, server, conversation.CodeGenerate, conversation.Payload{Files: []conversation.File{{Path: "a", Content: "x"}}})
		w.Files = folders{w.archives, tt.err}
		log := logged(t, func() { expect.Value(w.handle())(t) })
		if n := strings.Count(log, `"event":"action_completed"`); n != 1 || !strings.Contains(log, `"errorCode":"VALIDATION_ERROR"`) {
			t.Errorf("its end stands %d times in the log: %s", n, log)
		}
		if x := w.action(); x.Status != conversation.ActionFailed || x.Error != tt.reason || x.ErrorDetail != tt.want {
			t.Errorf("%+v", x)
		}
	}
}

// An action's end is one line of the log with the four fields, even if the action could not begin.
func TestAnEndIsLoggedOnce(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, command)
	w.Sandbox = nil
	log := logged(t, func() { expect.Value(w.handle())(t) })
	for _, part := range []string{`"event":"action_completed"`, `"sessionId":"` + w.ref.ID, `"agentId":"codex"`, `"actionId":"` + w.action().ActionID, `"errorCode":"sandbox_off"`, `"errorMessage":"`} {
		expect.Is(t, strings.Count(log, part), 1, "%s stands times in %s", part, log)
	}
}

// logged returns the log lines that do writes.
func logged(t *testing.T, do func()) string {
	t.Helper()
	var out strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&out, nil)))
	defer slog.SetDefault(before)
	do()
	return out.String()
}
