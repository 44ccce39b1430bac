package main

import (
	"context"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/card"
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
			if said := w.said(form); said != card.NoteUnsure.Told("ja", "") {
				t.Error(said)
			}
			w.said(form)
			if n := w.messages(workspace.HR, "一度だけ払う"); n != 1 {
				t.Errorf("%d messages", n)
			}
		},
	})
}
