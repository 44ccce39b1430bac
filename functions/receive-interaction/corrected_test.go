package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store/storetest"
)

// edits has the request's author edit its message, and returns the value of the button that a card of it has.
func (w *world) edits(text, at string) (value string) {
	w.T.Helper()
	r := *w.Load().Request
	r.Text = text
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: r.User, Team: r.TeamID}
	expect.Value(w.Store.Decide(w.T.Context(), w.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Correct(r, at, false, by, w.Now())
	}))(w.T)
	return w.Ref.ID + "/" + w.Load().Correction.Saying()
}

// What the person didn't read is not drafted anew; a card of before says so, and is drawn again. Neither is a failure.
func TestOnlyTheEditOnTheCardIsDraftedAnew(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	defer slog.SetDefault(was)
	p, edited := w.prompted(), card.Note("ja", task.ErrEdited)
	first := w.edits("人事部の残業をまとめて", "1776675900.000000")
	second := w.edits("営業部の残業をまとめて", "1776675901.000000")
	w.told(w.post(w.click(webapi.Sato, card.Redraft, first)), webapi.Sato, edited)
	w.healed()
	expect.Is(t, w.Load().Prompt().Status, aggregate.PendingApproval)
	w.quiet(w.post(w.click(webapi.Sato, card.Redraft, second)), webapi.Sato)
	expect.Is(t, w.Load().Request.Text, "営業部の残業をまとめて")
	for _, act := range []string{"approve_prompt", "reject_prompt", "review_prompt"} {
		w.told(w.post(w.click(webapi.Suzuki, act, p.ID)), webapi.Suzuki, edited)
	}
	w.told(w.post(w.click(webapi.Sato, card.Redraft, first)), webapi.Sato, edited)
	w.quiet(w.post(w.click(webapi.Sato, card.Redraft, second)), webapi.Sato)
	expect.That(t, !strings.Contains(log.String(), `"level":"ERROR"`), "%s", log.String())
}
