package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// types lets a person send the form in which they propose to write a file.
func (w *world) types(form string, o conversation.Own) {
	w.t.Helper()
	o.Type, o.Summary = conversation.CodeGenerate, "writes"
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: "T1", Member: true}
	policy := aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}
	expect.Value(w.rows.Decide(context.Background(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Type(form, o, by, policy, time.Now())
	}))(w.t)
}

// refused returns what the system said of a person's own proposal, with what they had typed.
func (w *world) refused() (all []conversation.Message) {
	w.t.Helper()
	for _, m := range expect.Value(w.rows.Messages(context.Background(), w.ref.Tenant, w.ref.ID, ""))(w.t) {
		if m.Typed != nil {
			all = append(all, m)
		}
	}
	return all
}

func TestWhatAPersonTypedBecomesAnActionOnTheFilesAsTheyAre(t *testing.T) {
	w, files, version := working(t, storetest.Start(t), "one\ntwo\n")
	expect.Value(w.handle())(t) // the first message is answered
	asked := len(w.vendor.requests)
	for range 2 {
		w.types("form", conversation.Own{Path: "a.txt", Content: "one\n2\n"})
	}
	w.wake()
	files.err = errors.New("down")
	_, err := w.handle()
	expect.Fails(t, err, explain.ErrUnavailable)
	files.err = nil
	for range 2 { // Step Functions may call twice
		_, err = w.handle()
		expect.That(t, err == nil || errors.Is(err, aggregate.ErrSuperseded), "%v", err)
	}
	a := w.load()
	x := a.Current()
	expect.Must(t, x != nil && a.Conversation.Actions == 1 && x.RequestedBy == conversation.RequestedByUser &&
		x.Askers[0] == "U2" &&
		x.Base == version && x.Gate.Terms.ApprovalRequired && x.Status == conversation.ActionPending, "%+v", x)
	expect.Has(t, string(x.Payload.JSON), `"lines":[" one\n","-two\n","+2\n"]`)
	expect.Is(t, len(w.vendor.requests), asked, "calls of the model")
}

// Whoever approves is told who changed a file before, whoever proposes to change it now.
func TestWhatAPersonTypedSaysWhoChangedItsPathBefore(t *testing.T) {
	w, files, version := working(t, storetest.Start(t), "one\n")
	want := []conversation.Maker{{Action: 1}}
	files.made = conversation.Made{Paths: map[string][]conversation.Maker{"a.txt": want}}
	expect.Value(w.rows.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.FilesBy, s.WorkspaceVersion = 1, version
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	}))(t)
	expect.Value(w.handle())(t)
	w.types("form", conversation.Own{Path: "a.txt", Content: "two\n"})
	w.wake()
	expect.Value(w.handle())(t)
	x := w.load().Current()
	expect.Must(t, x != nil, "nothing is proposed")
	p, problems := conversation.ReadKept(x.ActionType, []byte(x.Payload.JSON))
	expect.Must(t, problems == nil, "%v", problems)
	expect.Same(t, want, p.Changes[0].By)
}

func TestWhatCantBeMadeOfWhatAPersonTypedIsSaidToThem(t *testing.T) {
	server := storetest.Start(t)
	for name, tt := range map[string]struct {
		own  conversation.Own
		till func(w *world, files *trees)
		says string
	}{
		"wide": {conversation.Own{Path: "b", Content: strings.Repeat("x", 2001)}, nil, "up to 2000"},
		"twin": {conversation.Own{Path: "A.txt", Content: "x"}, nil, "only in case"},
		"lost": {conversation.Own{Path: "b", Content: "x"}, func(_ *world, files *trees) { files.all = nil },
			"can't be found"},
		"another": {conversation.Own{Path: "b", Content: "x"}, func(w *world, _ *trees) { w.proposesOtherwise() },
			"another action started"},
	} {
		w, files, _ := working(t, server, "one\n")
		expect.Value(w.handle())(t)
		w.types("form", tt.own)
		w.wake()
		if tt.till != nil {
			tt.till(w, files)
		}
		expect.Value(w.handle())(t)
		said := w.refused()
		expect.Must(t, len(said) == 1 && said[0].Typed.Content == tt.own.Content, "%s: %+v", name, said)
		expect.Has(t, said[0].Content, tt.says)
		expect.Is(t, said[0].For, "U2")
		expect.Is(t, w.load().FilesLost(), name == "lost")
	}
}

// proposesOtherwise opens another person's action.
func (w *world) proposesOtherwise() {
	w.t.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
	expect.Value(w.rows.Decide(context.Background(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		text := aggregate.JSON(`{"script":"ls","timeout_seconds":60,"base":"` + a.Conversation.WorkspaceVersion + `"}`)
		return a.Propose(conversation.Proposal{Type: conversation.ShellCommand,
			Payload: aggregate.Blob{JSON: text, Bytes: len(text)},
			Seconds: 60, Summary: "ls", On: conversation.On{Base: a.Conversation.WorkspaceVersion},
			Terms: w.settings().ActionTerms(time.Now())}, by,
			aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}, time.Now())
	}))(w.t)
}

func (w *world) settings() tenancy.Settings {
	w.t.Helper()
	return expect.Value(w.Store.Settings(context.Background(), w.ref.Tenant))(w.t)
}
