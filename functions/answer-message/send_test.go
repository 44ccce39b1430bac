package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// thread is a Slack that shares each file once, and the files that an action wrote.
type thread struct {
	names  []string              // of uploads
	shared map[string]int        // by file's id
	titles []string              // as they stand in the thread
	fault  func(at string) error // of a call, before "upload", "share" and "look", or "after share"
	gone   error
	late   int // how often a shared file isn't found yet
	files  *files.Tree
}

func (s *thread) at(call string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(call)
}

func (s *thread) Upload(_ context.Context, name string, body []byte) (string, error) {
	if err := s.at("upload"); err != nil {
		return "", err
	}
	s.names = append(s.names, fmt.Sprintf("%s %d", name, len(body)))
	return fmt.Sprintf("F%d", len(s.names)), nil
}

func (s *thread) Share(_ context.Context, channel, ts, _ string, files []slackapi.Uploaded) error {
	if err := s.at("share"); err != nil {
		return err
	}
	for _, f := range files {
		if channel != "D1" || ts != root || s.shared[f.ID] > 0 {
			return slackapi.Refused{Code: "file_already_shared", Permanent: true}
		}
	}
	for _, f := range files {
		s.shared[f.ID]++
		s.titles = append(s.titles, f.Title)
	}
	return s.at("after share")
}

func (s *thread) Shared(_ context.Context, id, _, _ string) (bool, error) {
	if err := s.at("look"); err != nil {
		return false, err
	}
	if s.shared[id] > 0 && s.late > 0 {
		s.late--
		return false, nil
	}
	return s.shared[id] > 0, nil
}

func (s *thread) Difference(context.Context, large.VersionsOf, string, string) ([]files.Change, error) {
	return files.Difference(&files.Tree{}, s.files), s.gone
}

func (s *thread) Manifest(context.Context, large.VersionsOf, string) (files.Manifest, error) {
	return s.files.Manifest(), s.gone
}

func (s *thread) Each(_ context.Context, _ large.VersionsOf, _ string, list []files.Entry,
	take func(files.Entry, []byte) error) error {
	for _, e := range list {
		content, _ := s.files.Content(e.Path)
		if err := take(e, content); err != nil {
			return err
		}
	}
	return nil
}

// wrote is a conversation in which an action wrote two files, and somebody wants them in Slack.
func wrote(t *testing.T, server *storetest.Server, list ...files.File) (*world, *thread) {
	t.Helper()
	w := talking(t, server, conversation.Opening{AgentID: "claude", Locale: "en"}, func(*tenancy.Settings) {})
	if list == nil {
		list = []files.File{{Path: "a.txt", Content: "1"}, {Path: "日本/con.txt", Content: "22"}, {Path: "empty"}}
	}
	s := &thread{shared: map[string]int{}, files: expect.Value((&files.Tree{}).Apply(list))(t)}
	w.Uploads, w.Written, w.Every = s, s, time.Millisecond
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		row, head := *a.Conversation, a.Head
		row.Actions = 1
		x := conversation.Action{Number: 1, ActionID: aggregate.NewID(), SessionID: row.ID,
			ActionType: conversation.ShellCommand,
			Status:     conversation.ActionSucceeded, Version: "v1", ApprovedBy: conversation.ApprovedByUser,
			CreatedAt: time.Now(),
			Changed:   &conversation.FilesChanged{Files: len(list), Written: 2}}
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&row, &x}}, nil
	})
	w.press()
	return w, s
}

func (w *world) press() {
	w.T.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: "T1", Member: true}
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.SendFiles(a.Actions[0].ActionID, by, aggregate.Policy{Team: "T1"}, time.Now())
	})
	if a := w.Load(); a.Head.Resting && a.Sending() != nil {
		w.Wake()
	}
}

func (w *world) sending() *conversation.Sending { w.T.Helper(); return w.Load().Actions[0].Sending }

func TestFilesGoToTheThreadOnce(t *testing.T) {
	server := storetest.Start(t)
	w, s := wrote(t, server)
	next := expect.Value(w.handle())(t)
	expect.Same(t, []string{"a.txt 1", "_con.txt 2"}, s.names)
	expect.Same(t, []string{"a.txt", "日本/con.txt"}, s.titles)
	expect.That(t, w.sending().State == conversation.SendingDone && next.State == conversation.StateAnswer &&
		len(w.vendor.requests) == 0,
		"%+v, then %s", w.sending(), next.State)
	expect.Value(w.handle())(t) // now the message is answered
	w.press()
	expect.Is(t, len(s.titles), 2, "files in the thread after another click")
	expect.Is(t, len(w.vendor.requests), 1, "calls of the model")
}

// TestWhereverSendingStopsFilesStandOnceInTheThread cuts a call of Slack or a commit off, before or after its effect.
func TestWhereverSendingStopsFilesStandOnceInTheThread(t *testing.T) {
	server := storetest.Start(t)
	lost := slackapi.Unknown{Cause: "timeout"}
	for name, cut := range map[string]func(w *world, s *thread, once func() bool){
		"a lost upload": func(w *world, s *thread, once func() bool) { s.fault = failing("upload", lost, once) },
		"a lost share":  func(w *world, s *thread, once func() bool) { s.fault = failing("share", lost, once) },
		"a lost answer": func(w *world, s *thread, once func() bool) { s.fault = failing("after share", lost, once) },
		"an answer found late": func(w *world, s *thread, once func() bool) {
			s.late, s.fault = 2, failing("after share", lost, once)
		},
		"a look that is lost": func(w *world, s *thread, once func() bool) { s.fault = failing("look", lost, once) },
		"Slack's rate limit": func(w *world, s *thread, once func() bool) {
			s.fault = failing("share", slackapi.RateLimited{}, once)
		},
		"a crash before ids":    func(w *world, s *thread, once func() bool) { w.Store = &dies{Store: w.Store, at: 1} },
		"a crash after sharing": func(w *world, s *thread, once func() bool) { w.Store = &dies{Store: w.Store, at: 2} },
	} {
		t.Run(name, func(t *testing.T) {
			w, s := wrote(t, server)
			done := false
			cut(w, s, func() bool { was := done; done = true; return !was })
			for range 3 { // the state machine tries again
				if w.sending().State == conversation.SendingDone {
					break
				}
				if _, err := w.handle(); err != nil && !errors.Is(err, explain.ErrUnavailable) && !errors.Is(err, errDies) {
					t.Fatal(err)
				}
			}
			expect.That(t, w.sending().State == conversation.SendingDone && len(s.titles) == 2,
				"%+v, in the thread: %v", w.sending(), s.titles)
		})
	}
}

func failing(at string, err error, once func() bool) func(string) error {
	return func(call string) error {
		if call == at && once() {
			return err
		}
		return nil
	}
}

var errDies = errors.New("the process died")

// dies is a store whose n-th commit never happens.
type dies struct {
	Store
	at int
}

func (d *dies) Decide(ctx context.Context, ref aggregate.Ref,
	f conversation.Decision) (*conversation.Aggregate, error) {
	if d.at--; d.at == 0 {
		return nil, errDies
	}
	return d.Store.Decide(ctx, ref, f)
}

func TestFilesThatSlackDoesNotTake(t *testing.T) {
	server := storetest.Start(t)
	refusal := func(code string, app bool) error { return slackapi.Refused{Code: code, App: app, Permanent: !app} }
	big := files.File{Path: "big", Content: strings.Repeat("x", conversation.MaxSentBytes+1)}
	for name, tt := range map[string]struct {
		list  []files.File
		fault func(string) error
		gone  error
		why   aggregate.Reason
	}{
		"without the scope": {nil, func(string) error { return refusal(slackapi.CodeMissingScope, true) }, nil,
			conversation.ReasonNoScope},
		"a refused share": {nil, func(at string) error {
			if at == "share" {
				return refusal("channel_not_found", false)
			}
			return nil
		}, nil, conversation.ReasonNotSent},
		"a version that is gone": {nil, nil, large.ErrGone, conversation.ReasonSendGone},
		"a large file":           {[]files.File{big, {Path: "a", Content: "1"}}, nil, nil, conversation.ReasonNotSent},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := wrote(t, server, tt.list...)
			s.fault, s.gone = tt.fault, tt.gone
			expect.Value(w.handle())(t)
			got := w.sending()
			expect.That(t, got.State == conversation.SendingFailed && got.Error == tt.why && got.Files == nil &&
				len(s.titles) == 0, "%+v", got)
			if tt.list == nil { // a person tries again
				s.fault, s.gone = nil, nil
				w.press()
				expect.Value(w.handle())(t)
				expect.That(t, w.sending().State == conversation.SendingDone && len(s.titles) == 2, "%+v", w.sending())
			}
		})
	}
}
