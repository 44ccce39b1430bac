package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

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
		h.Slack = answers{team: pipelinetest.Team, user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team, Guest: true}}
		expect.Value(h.Handle(w.T.Context(), w.In()))(w.T)
	}
	full := func(s *tenancy.Settings) { s.MaxOpenTasks.Tenant = 1 }
	for name, c := range map[string]struct {
		settings func(s *tenancy.Settings)
		do       func(w *ruledWorld)
		refused  bool
	}{
		"accepted":  {nil, func(w *ruledWorld) { w.resume() }, false},
		"a guest's": {nil, guest, true},
		"by a rule": {nil, func(w *ruledWorld) {
			w.rules(&rules.Outcome{Refuse: "受け付けません"})
			w.resume()
		}, true},
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
		s.MaxOpenTasks, s.MaxTasksPerHour = tenancy.Limit{}, tenancy.Limit{Tenant: 24}
	})
	all := []*ruledWorld{w}
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
