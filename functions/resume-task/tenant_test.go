package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// TestAnUnknownWorkspaceIsRefused: only the rows of its request remain.
func TestAnUnknownWorkspaceIsRefused(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	h := handler(w)
	h.Slack = answers{team: "T0ELSEWHERE", user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}}
	for range 2 {
		if next, err := h.Handle(t.Context(), w.In()); err != nil || next.Outcome != "refused" {
			t.Fatalf("%+v, %v", next, err)
		}
	}
	e := w.Load().Head.Ended
	expect.That(t, e != nil && e.As == task.TaskRefused && e.Reason == task.ReasonWorkspace, "ended %+v", e)
	if made, err := w.Store.Tenant(t.Context(), w.Ref.Tenant); !errors.Is(err, aggregate.ErrNotFound) {
		t.Errorf("made %+v, %v", made, err)
	}
	if s, err := w.Store.Settings(t.Context(), w.Ref.Tenant); err != nil || s.Rev != 0 {
		t.Errorf("settings %+v, %v", s, err)
	}
}

// bootstrapped creates the world's tenant.
func bootstrapped(t *testing.T, w *pipelinetest.World) {
	t.Helper()
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: pipelinetest.Team,
		TeamID: pipelinetest.Team, Admins: []string{}}, w.Now()))(t)
}

// The deployment's workspace is known by its row when the token of the deployment's secret has ended.
func TestAWorkspaceWithARowIsServed(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	bootstrapped(t, w)
	h := handler(w)
	h.Slack = answers{unsure: slackapi.Refused{Code: "token_revoked", App: true}, user: slackapi.User{
		ID: pipelinetest.Requester, Team: pipelinetest.Team}}
	if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StateExtractTask {
		t.Fatalf("%+v, %v", next, err)
	}
}

// A request saves the bot's ids, as the bot itself reports them, even for an existing tenant.
func TestARequestNotesTheBot(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, before := range map[string]func(w *pipelinetest.World){
		"first contact": func(*pipelinetest.World) {}, "a later request": func(w *pipelinetest.World) { bootstrapped(t, w) },
	} {
		w := server.World(t)
		before(w)
		h := handler(w)
		h.Slack = answers{team: pipelinetest.Team,
			user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}}
		expect.Value(h.Handle(t.Context(), w.In()))(t)
		is := expect.Value(w.Store.Tenant(t.Context(), w.Ref.Tenant))(t)
		expect.That(t, is.BotUserID == "U0BOT" && is.BotID == "B0BOT", "%s: %+v", name, is)
	}
}

func TestATenantIsCalledWhatItsWorkspaceIs(t *testing.T) {
	server := pipelinetest.Start(t)
	named := func(w *pipelinetest.World, want string) {
		t.Helper()
		is, err := w.Store.Tenant(t.Context(), w.Ref.Tenant)
		expect.That(t, err == nil && is.Name == want, "called %q, want %q: %v", is.Name, want, err)
	}
	for said, want := range map[string]string{
		"株式会社りんぎ": "株式会社りんぎ", " two\nlines\u202e ": "two lines", "\u200b": pipelinetest.Team, "": pipelinetest.Team,
		strings.Repeat("名", 300): strings.Repeat("名", tenancy.MaxTenantName),
	} {
		w := server.World(t)
		h := handler(w)
		h.Slack = answers{team: pipelinetest.Team, name: said,
			user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}}
		expect.Value(h.Handle(t.Context(), w.In()))(t)
		named(w, want)
	}

	w := server.World(t)
	h := handler(w)
	silent := answers{team: pipelinetest.Team, user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team},
		nameless: slackapi.Refused{Code: "missing_scope", App: true}}
	told := silent
	told.name, told.nameless = "株式会社りんぎ", nil
	begins := func(w *pipelinetest.World) {
		t.Helper()
		if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StateExtractTask {
			t.Fatalf("%+v, %v", next, err)
		}
	}
	h.Slack = silent
	begins(w)
	named(w, pipelinetest.Team)
	h.Slack = told // the scope was granted; the name is asked for again after another hour
	begins(w.Another())
	named(w, pipelinetest.Team)
	h.Now = func() time.Time { return w.Now().Add(nameAgain) }
	begins(w.Another())
	named(w, "株式会社りんぎ")
	is, err := w.Store.Tenant(t.Context(), w.Ref.Tenant)
	expect.That(t, err == nil && is.UpdatedAt.After(is.CreatedAt), "%+v, %v", is, err)
	told.name = "別の名前" // an administrator's name for it is not Slack's to change
	h.Slack = told
	begins(w.Another())
	named(w, "株式会社りんぎ")
}
