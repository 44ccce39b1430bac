package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi"
)

func TestResumeTask(t *testing.T) {
	server := pipelinetest.Start(t)
	off := tenancy.DefaultSettings()
	off.PromptApprovalRequired = false
	for _, tt := range []struct {
		name  string
		bring func(w *pipelinetest.World)
		want  string
	}{
		{"a new task", func(*pipelinetest.World) {}, task.StateExtractTask},
		{"an approved prompt", func(w *pipelinetest.World) { w.Prompted(off); w.Approve() }, task.StatePlanProcess},
		{"a cancelled task", func(w *pipelinetest.World) { w.Cancel() }, task.StateFinish},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := server.World(t)
			tt.bring(w)
			next, err := handler(w).Handle(t.Context(), w.In())
			expect.That(t, err == nil && next.State == tt.want, "%+v, %v, want %s", next, err, tt.want)
		})
	}
}

func TestWhatIsResumed(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("the first contact makes the tenant, once", func(t *testing.T) {
		w := server.World(t)
		for range 2 {
			expect.Value(handler(w).Handle(t.Context(), w.In()))(t)
		}
		made, err := w.Store.Tenant(t.Context(), w.Ref.Tenant)
		expect.That(t, err == nil && made.TeamID == pipelinetest.Team && len(made.Admins) == 1 && made.Admins[0] == "U0ADMIN",
			"%+v, %v", made, err)
	})
	for by, admin := range map[named]string{"U0SECRET": "U0SECRET", "suzuki@example.com": "U0ADMIN"} {
		t.Run("the secret names "+string(by), func(t *testing.T) {
			w := server.World(t)
			h := handler(w)
			h.Secret = by
			expect.Value(h.Handle(t.Context(), w.In()))(t)
			if made := expect.Value(w.Store.Tenant(t.Context(), w.Ref.Tenant))(t); len(made.Admins) != 1 ||
				made.Admins[0] != admin {
				t.Errorf("%+v, want %s", made.Admins, admin)
			}
		})
	}
	t.Run("a run that is not the head's", func(t *testing.T) {
		w := server.World(t)
		in := w.In()
		w.Restart()
		if _, err := handler(w).Handle(t.Context(), in); !errors.Is(err, aggregate.ErrSuperseded) {
			t.Errorf("%v, want ErrSuperseded", err)
		}
	})
	t.Run("a task that is not there, or is another tenant's", func(t *testing.T) {
		w := server.World(t)
		for _, in := range []pipeline.Input{
			{Tenant: w.Ref.Tenant, Task: aggregate.NewID(), Run: 1}, {Tenant: aggregate.TenantID("T0OTHER"), Task: w.Ref.ID,
				Run: 1},
		} {
			if _, err := handler(w).Handle(t.Context(), in); pipeline.Name(err) != pipeline.BadInput {
				t.Errorf("%v, want one that is not tried again", err)
			}
		}
	})
	t.Run("a table that does not answer", func(t *testing.T) {
		w := server.World(t)
		in := w.In()
		w.Transport.DropCalls("Query", 99)
		if _, err := handler(w).Handle(t.Context(), in); pipeline.Name(err) != pipeline.Unavailable {
			t.Errorf("%v, want one that is tried again", err)
		}
	})
}

func handler(w *pipelinetest.World) *Handler {
	return &Handler{
		Store: w.StoreOverTransport(), Now: w.Now, Admin: "U0ADMIN", Secret: named(""),
		Slack: answers{team: pipelinetest.Team, name: "株式会社りんぎ",
			user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}},
	}
}

// named is a Slack secret that names the first administrator.
type named string

func (n named) TenantAdmin(context.Context) (string, error) {
	if n == "" {
		return "", secret.ErrMissing
	}
	return string(n), nil
}

// answers is a Slack with one fixed answer to each question.
type answers struct {
	team, name       string
	enterprise       string
	unsure, nameless error // errors in place of the team and of its name
	user             slackapi.User
	err              error            // error in place of the user
	undirect         map[string]error // errors in place of people's direct messages
}

func (d answers) Team(context.Context) (string, error) { return d.team, d.unsure }
func (d answers) Self(context.Context) (slackapi.Self, error) {
	return slackapi.Self{User: "U0BOT", Bot: "B0BOT", Team: d.team, Enterprise: d.enterprise}, d.unsure
}
func (d answers) TeamName(context.Context) (string, error) { return d.name, d.nameless }
func (answers) Members(_ context.Context, channel string, _ int) ([]string, bool, error) {
	if channel == "C0GROUP" { // a group direct message
		return nil, false, slackapi.Refused{Code: slackapi.CodeMissingScope, App: true}
	}
	return []string{pipelinetest.Requester}, channel != "C0ALONE", nil
}
func (answers) UsergroupMembers(_ context.Context, group string) ([]string, error) {
	members, ok := map[string][]string{"S0OTHERS": {"U0OTHER"}}[group]
	if !ok {
		return nil, slackapi.Refused{Code: slackapi.CodeNoSuchGroup}
	}
	return members, nil
}
func (answers) Usergroups(context.Context) ([]slackapi.Group, error) {
	return []slackapi.Group{{ID: "S0OTHERS", Handle: "others"}, {ID: "S0OFF", Handle: "off", Disabled: true}}, nil
}
func (d answers) User(context.Context, string) (slackapi.User, error) { return d.user, d.err }
func (d answers) OpenDM(_ context.Context, user string) (string, error) {
	return "D" + user[1:], d.undirect[user]
}

// A request waits as long as Slack doesn't say who asks, or which workspace the app belongs to. Nothing is accepted,
// spent or parked, and it continues once Slack answers.
func TestARequestWaitsForSlack(t *testing.T) {
	expect.Patience(t)
	server := pipelinetest.Start(t)
	member := slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}
	refused := func(code string) error { return slackapi.Refused{Code: code, App: true} }
	for name, s := range map[string]answers{
		"no answer about a person":   {err: slackapi.Unknown{Cause: "timeout"}},
		"too many questions":         {err: slackapi.RateLimited{RetryAfter: 10 * time.Minute}},
		"a token that is refused":    {err: refused("invalid_auth")},
		"no token":                   {err: errors.New("no token")},
		"no answer whose the app is": {unsure: slackapi.Unknown{Cause: "timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := server.World(t)
			s.team = pipelinetest.Team
			now := w.Now()
			h := handler(w)
			h.Slack, h.Now = s, func() time.Time { return now }
			began := now
			var last time.Duration
			for tries := 0; now.Sub(began) < 70*time.Minute; tries++ {
				next, err := h.Handle(t.Context(), w.In())
				a := w.Load()
				if err != nil || next.State != task.StatePause || a.Head.Parked != nil || a.Head.AcceptedAt != nil ||
					a.Head.Ended != nil {
					t.Fatalf("after %s: %+v, %v, %+v", now.Sub(began), next, err, a.Head)
				}
				if tries > 0 && a.Head.PausedUntil.Sub(now) < last/2 || tries > 1000 {
					t.Fatalf("try %d after %s: again in %s", tries, now.Sub(began), a.Head.PausedUntil.Sub(now))
				}
				last = a.Head.PausedUntil.Sub(now)
				expect.Must(t, s.err != error(slackapi.RateLimited{RetryAfter: 10 * time.Minute}) || last >= 10*time.Minute,
					"again in %s, before Slack said", last)
				rev := a.Head.Rev
				if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StatePause ||
					w.Load().Head.Rev != rev {
					t.Fatalf("asked again before its time: %+v, %v", next, err)
				}
				now = *a.Head.PausedUntil
			}
			h.Slack = answers{team: pipelinetest.Team, user: member}
			if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StateExtractTask ||
				w.Load().Head.AcceptedAt == nil {
				t.Errorf("%+v, %v", next, err)
			}
		})
	}
}

// registering has the tenant number its requests.
func (w *ruledWorld) registering(change func(s *tenancy.Settings)) *ruledWorld {
	w.T.Helper()
	ctx := w.T.Context()
	s := expect.Value(w.Store.Settings(ctx, w.Ref.Tenant))(w.T)
	s.Register = true
	if change != nil {
		change(&s)
	}
	expect.Value(w.Store.SaveSettings(ctx, w.Ref.Tenant, s, w.By, w.Now()))(w.T)
	return w
}

// given returns the numbers of requests of the year, the lowest first.
func given(w *pipelinetest.World) []task.Requested {
	w.T.Helper()
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	all := expect.Value(w.StoreOverTransport().RequestNumbers(w.T.Context(), w.Ref.Tenant, year, "", 0))(w.T)
	slices.Reverse(all)
	return all
}

// Accepted or refused, by whichever door, a request has the next number.
func TestRequestsAreNumberedAsTheyAreTakenOn(t *testing.T) {
	server := pipelinetest.Start(t)
	guest := func(w *ruledWorld) {
		h := handler(w.World)
		h.Slack = answers{team: pipelinetest.Team, user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team,
			Guest: true}}
		expect.Value(h.Handle(w.T.Context(), w.In()))(w.T)
	}
	full := func(s *tenancy.Settings) { s.MaxOpenTasks = 1 }
	for name, c := range map[string]struct {
		settings func(s *tenancy.Settings)
		do       func(w *ruledWorld)
		refused  bool
	}{
		"accepted":  {nil, func(w *ruledWorld) { w.resume() }, false},
		"a guest's": {nil, guest, true},
		"one too many": {full, func(w *ruledWorld) {
			x := w.Another()
			expect.Value(handler(x).Handle(x.T.Context(), x.In()))(x.T)
			w.resume()
		}, true},
		"written in a thread": {nil, func(w *ruledWorld) {
			w.World = w.Reply()
			w.resume()
		}, false},
	} {
		w := newRuled(t, server).registering(c.settings)
		c.do(w)
		head, all := w.Load().Head, given(w.World)
		expect.Must(t, len(all) > 0 && (head.Ended != nil) == c.refused, "%s: %+v, %+v", name, all, head.Ended)
		last := all[len(all)-1]
		expect.That(t, last.N == len(all) && last.TaskID == head.TaskID && last.String() == head.RequestNumber,
			"%s: %+v, the head says %q", name, last, head.RequestNumber)
		was := w.Load().Head.Rev
		w.resume() // another run, or the same one once more
		expect.That(t, len(given(w.World)) == len(all) && w.Load().Head.Rev == was, "%s: another number", name)
	}
}

// The answer to the commit may be lost: the request has its number, and no other.
func TestANumberWhoseAnswerIsLostIsGivenOnce(t *testing.T) {
	w := newRuled(t, pipelinetest.Start(t)).registering(nil)
	w.resume() // makes the tenant
	x := &ruledWorld{World: w.Another(), slack: w.slack}
	x.Transport.DropAnswers("TransactWriteItems", 1)
	x.resume()
	all := given(x.World)
	expect.That(t, len(all) == 2 && x.Load().Head.RequestNumber == all[1].String(), "%+v", all)
}

func TestANumberNamesTheRequestersDepartment(t *testing.T) {
	w := newRuled(t, pipelinetest.Start(t)).registering(nil)
	w.organised(0)
	w.resume()
	expect.Is(t, given(w.World)[0].Department, "HR")
}

// Without the setting no number is read or given: what a request costs then stands in the test of what tenants pay.
func TestWithoutTheSettingNoRequestIsNumbered(t *testing.T) {
	w := newRuled(t, pipelinetest.Start(t))
	w.store = func(s Store) Store { return unregistered{s, t} }
	w.org = nil
	w.resume()
	expect.That(t, len(given(w.World)) == 0 && w.Load().Head.RequestNumber == "", "%+v", w.Load().Head)
}

// unregistered is the table of a tenant without a register.
type unregistered struct {
	Store
	t *testing.T
}

func (u unregistered) RequestSeries(context.Context, string, int) (task.Series, error) {
	u.t.Error("numbers are read")
	return task.Series{}, nil
}

// Thirty-two that are taken on at once have the numbers from 1 to 32.
func TestManyThatAreTakenOnAtOnceHaveNumbersWithoutAGap(t *testing.T) {
	const many = 32
	w := newRuled(t, pipelinetest.Start(t)).registering(func(s *tenancy.Settings) {
		s.MaxOpenTasks, s.MaxTasksPerHour = 0, 24
	})
	w.Later(w.Now().Truncate(time.Hour).Add(time.Hour).Sub(w.Now())) // they are all of one hour
	var all []*ruledWorld
	for len(all) < many {
		all = append(all, &ruledWorld{World: w.Another(), slack: w.slack})
	}
	var wg sync.WaitGroup
	began := time.Now()
	for _, x := range all {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
			defer cancel()
			if _, err := x.process().Handle(ctx, x.In()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d were taken on in %s", many, time.Since(began))
	numbers, refused := given(w.World), 0
	expect.Is(t, len(numbers), many)
	for i, x := range numbers {
		expect.That(t, x.N == i+1, "number %d is the %dth", x.N, i+1)
	}
	for _, x := range all {
		head := x.Load().Head
		if head.Ended != nil {
			refused++
		}
		expect.That(t, slices.ContainsFunc(numbers, func(n task.Requested) bool {
			return n.String() == head.RequestNumber && n.TaskID == head.TaskID
		}), "%s is another's", head.RequestNumber)
	}
	expect.Is(t, refused, many-24, "refused")
}
