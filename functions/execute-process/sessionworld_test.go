package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/managed"
	"ringi/shared/runtime/expect"
)

// sessionWorld is a world whose steps a managed session runs.
type sessionWorld struct {
	*world
	agents *models.Server
}

func newSessionWorld(t *testing.T, server *pipelinetest.Server) *sessionWorld {
	t.Helper()
	return sessionWorldIn(t, newWorld(t, server))
}

func sessionWorldIn(t *testing.T, w *world) *sessionWorld {
	t.Helper()
	m := &sessionWorld{world: w, agents: models.NewAgents()}
	s := httptest.NewServer(m.agents)
	t.Cleanup(s.Close)
	m.h.Sessions = managed.New(managed.Config{
		BaseURL: s.URL, HTTP: http.DefaultClient, Key: func(context.Context) (string, error) { return m.agents.Key, nil },
	})
	m.h.Model, m.h.PollEvery, m.h.PollFor, m.h.HoldFor = "claude-sonnet-4-6", time.Millisecond, time.Minute, 30*time.Second
	tenant := tenancy.Tenant{ID: m.Ref.Tenant, Name: "Ringi", Slug: "ringi", TeamID: pipelinetest.Team, Admins: []string{}}
	expect.Value(m.Store.Bootstrap(t.Context(), tenant, m.Now()))(t)
	return m
}

// approved brings the task to the execution of the given steps by a session.
func (m *sessionWorld) approved(steps ...task.Step) {
	m.T.Helper()
	s := tenancy.DefaultSettings()
	s.Executor, s.L4TimeoutSeconds = tenancy.ExecutorManaged, 86400
	m.Approved(s, steps...)
}

// session returns the only session.
func (m *sessionWorld) session() *models.Session {
	m.T.Helper()
	all := m.agents.Sessions()
	expect.Must(m.T, len(all) == 1, "%d sessions were made", len(all))
	return all[0]
}

// does scripts the agent.
func (m *sessionWorld) does(acts ...models.Act) {
	m.agents.Script = func([]models.Step) []models.Act { return acts }
}

func asks(tool, input string) models.Act {
	return models.Act{Asks: []models.Ask{{Tool: tool, Input: input}}}
}

var ends = models.Act{Says: "終わりました。", Stop: "end_turn"}

// leaseUntil returns when the lease of the newest attempt's session ends.
func (m *sessionWorld) leaseUntil() time.Time {
	a := m.Load()
	return a.SessionLease(a.Execution()).LeaseUntil
}

// through runs and pauses until the run ends.
func (m *sessionWorld) through() aggregate.Next {
	m.T.Helper()
	for {
		next := m.run()
		if next.State != task.StatePause {
			return next
		}
		m.later(time.Duration(next.WaitSeconds) * time.Second)
	}
}

// another returns a further task of the same tenant.
func (m *sessionWorld) another() *sessionWorld {
	w := &world{World: m.Another(), h: m.h, vendors: m.vendors, tools: m.tools}
	return &sessionWorld{world: w, agents: m.agents}
}
