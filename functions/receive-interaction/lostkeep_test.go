package main

import (
	"context"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// unanswered keeps a task, or does not, and its answer is lost so many times.
type unanswered struct {
	Store
	lost  int
	keeps bool
}

func (s *unanswered) Create(ctx context.Context, c aggregate.Change) error {
	if s.lost == 0 {
		return s.Store.Create(ctx, c)
	}
	s.lost--
	if s.keeps {
		if err := s.Store.Create(ctx, c); err != nil {
			return err
		}
	}
	return context.DeadlineExceeded
}

// A request whose task is there, though nobody said so, keeps its message: it is carried out, and asked for again it
// would be carried out twice.
func TestARequestWhoseAnswerWasLostKeepsItsMessage(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a kept one is found": func(t *testing.T, w *world) {
			w.h.Store = &unanswered{w.h.Store, 1, true}
			w.said(w.typed(workspace.Sato, workspace.HR, "一度だけ払う"))
			w.asks(workspace.HR, "一度だけ払う")
		},
		"one that was not kept is kept": func(t *testing.T, w *world) {
			w.h.Store = &unanswered{w.h.Store, 1, false}
			w.said(w.typed(workspace.Sato, workspace.HR, "一度だけ払う"))
			w.asks(workspace.HR, "一度だけ払う")
		},
		"one that nobody knows of is not begun again": func(t *testing.T, w *world) {
			form := w.typed(workspace.Sato, workspace.HR, "一度だけ払う")
			w.h.Store = &unanswered{w.h.Store, 2, false}
			expect.Same(t, card.NoteUnsure.Told("ja", ""), w.said(form))
			expect.Same(t, card.NoteBegun.Told("ja", ""), w.said(form))
			expect.Same(t, 1, w.messages(workspace.HR, "一度だけ払う"))
		},
		"nor by a second click in the dialog, which stays open": func(t *testing.T, w *world) {
			form := w.global(workspace.Sato, "一度だけ払う", workspace.HR)
			w.h.Store = &unanswered{w.h.Store, 2, false}
			w.post(form)
			if out := w.post(form); !strings.Contains(out.Body, card.RequestTextBlock) || !strings.Contains(out.Body, card.NoteBegun.Told("ja", "")) {
				t.Errorf("%d %s", out.StatusCode, out.Body)
			}
			expect.Same(t, 1, w.messages(workspace.HR, "一度だけ払う"))
		},
		"a second click while the first is under way is told what became of it": func(t *testing.T, w *world) {
			form := w.global(workspace.Sato, "一度だけ頼む", workspace.HR)
			w.slack.Faults.Add(webapi.Fault{Kind: webapi.Refused, Method: "chat.postMessage", Code: "ekm_access_denied", Times: 1})
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { w.post(form) })
			}
			all.Wait()
			n := w.messages(workspace.HR, "一度だけ頼む")
			expect.That(t, n == 1, "%d messages: the second click stands for the first, which failed", n)
		},
	})
}
