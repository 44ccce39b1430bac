package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const tenant = "01TENANT"

func at() time.Time { return time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC) }

// ways are decisions that lead to each status.
func ways() map[task.Status][]task.Decision {
	type agg = *task.Aggregate
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ONE", Team: "T0TEAM", Member: true}
	policy := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
	now, late := at().Add(time.Minute), at().Add(1000*time.Hour)
	s := tenancy.DefaultSettings()
	step := []task.Step{{StepID: "s", Order: 1, Tool: "list_employees", ToolInput: "{}", Access: aggregate.Read,
		ToolVersion: "v1", Description: "d"}}
	extract := func(a agg) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "t", Priority: task.Medium, TaskType: task.TypeStandard}, now)
	}
	plain := func(k task.ExtractKind) task.Decision {
		return func(a agg) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Kind: k, Sentence: "…"}, now)
		}
	}
	begin := func(a agg) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, now) }
	finish := func(a agg) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s, now)
	}
	approve := func(a agg) (aggregate.Change, error) { return decide.Approve(a, a.Prompt().ID, by, policy, now) }
	unasked := func(a agg) (aggregate.Change, error) { return a.ApproveUnasked(a.Prompt().ID, now) }
	plan := func(a agg) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, now) }
	planned := func(a agg) (aggregate.Change, error) { return a.FinishProcess(a.Head.Run, step, "", s, now) }
	stamp := func(a agg) (aggregate.Change, error) { return decide.Approve(a, a.Process().ID, by, policy, now) }
	fail := func(why aggregate.Reason) task.Decision {
		return func(a agg) (aggregate.Change, error) { return a.FailExecution(a.Head.Run, why, "", now) }
	}
	running := []task.Decision{extract, begin, finish, approve, plan, planned, stamp}
	with := func(more ...task.Decision) []task.Decision {
		return append(running[:len(running):len(running)], more...)
	}
	return map[task.Status][]task.Decision{
		task.StatusDrafting: {extract, begin},
		task.StatusWaits:    {extract, begin, finish},
		task.StatusReturned: {extract, begin, finish, unasked, plan, planned, func(a agg) (aggregate.Change, error) {
			return decide.Reject("直して")(a, a.Process().ID, by, policy, now)
		}},
		task.StatusNotDrafted: {func(a agg) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", now)
		}},
		task.StatusRunning: running,
		task.StatusToRetry: with(fail(task.ReasonToolFailed)),
		task.StatusFailed:  with(fail(task.ReasonToolValue)),
		task.StatusDone: with(
			func(a agg) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, task.Series{}, now) },
			func(a agg) (aggregate.Change, error) {
				call := task.Call{Order: 1, Arguments: aggregate.Blob{JSON: "{}"}, Tool: task.ToolRef{Name: "list_employees"}}
				call.Claim = aggregate.Claim{Invocation: "invocation", LeaseUntil: now.Add(time.Minute)}
				return a.ClaimStep(a.Head.Run, call, now)
			},
			func(a agg) (aggregate.Change, error) {
				return a.FinishStep(task.StepKey(1, 1, 1), "invocation",
					task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: "{}"}}, now)
			},
			func(a agg) (aggregate.Change, error) { return a.CompleteExecution(a.Head.Run, "完了", now) }),
		task.StatusCancelled: {extract, func(a agg) (aggregate.Change, error) { return a.End(by, policy, now) }},
		task.StatusExpired:   {extract, begin, finish, func(a agg) (aggregate.Change, error) { return a.Expire(late) }},
		task.StatusRefused:   {plain(task.KindUnsupported)},
		task.StatusAnswered:  {plain(task.KindHelp)},
	}
}

func TestEachStatusHasItsList(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	all := ways()
	made := map[string]task.Status{}
	n := 0
	for _, status := range task.Statuses {
		for range 2 {
			n++
			var form *task.Matter
			if status == task.StatusReturned { // only a form is given back
				form = &task.Matter{Kind: "支出", Title: "ペンの購入", Description: "在庫がないため。"}
			}
			ref := received(t, s, "T0TEAM", "U0ONE", fmt.Sprint(status, " ", n), form, n)
			for i, d := range all[status] {
				_, err := s.Decide(t.Context(), ref, d)
				expect.Must(t, err == nil, "%s: decision %d: %v", status, i, err)
			}
			made[ref.ID] = status
			a := expect.Value(s.Load(t.Context(), ref))(t)
			expect.Must(t, a.Head.Noted == status, "%s is %s", status, a.Head.Noted)
		}
	}
	tenant := aggregate.TenantID("T0TEAM")
	for _, requester := range []string{"", "U0ONE", "U0TWO"} {
		for _, status := range append([]task.Status{""}, task.Statuses...) {
			want := 2
			if status == "" {
				want = len(made)
			}
			if status == "" && requester == "" {
				want -= 4 // nobody reads through what was answered, or can't be done
			}
			if requester == "U0TWO" {
				want = 0
			}
			p := expect.Value(s.Search(t.Context(), tenant, task.Filter{Status: status, Requester: requester}, "",
				store.MaxPage, 1000, nil))(t)
			expect.That(t, len(p.Items) == want, "%d are %q of %q, want %d", len(p.Items), status, requester, want)
			for i, x := range p.Items {
				expect.That(t, x.Stands == made[x.ID] && x.Requester() == "U0ONE", "%s is %s", made[x.ID], x.Stands)
				expect.That(t, (x.Stands == task.StatusWaits) == (x.WaitsFor == task.CardPrompt), "%s waits for %q", x.Stands,
					x.WaitsFor)
				expect.That(t, (x.Title != "") != (x.Text != ""), "%+v has no words, or too many", x)
				expect.That(t, (x.Glance.Need == 1) == (x.Stands == task.StatusWaits) &&
					(x.Glance.Why == "") == x.Stands.Open(), "%s at a glance: %+v", x.Stands, x.Glance)
				expect.That(t, i == 0 || !p.Items[i-1].CreatedAt.Before(x.CreatedAt), "they are not in order")
			}
		}
	}
	_, err := s.Search(t.Context(), tenant, task.Filter{Status: "extracted"}, "", 10, 0, nil)
	expect.That(t, err != nil, "a status of the data model is taken")
}

// received makes a request, with a form or without.
func received(t *testing.T, s *store.TaskStore, team, user, text string, form *task.Matter, n int) aggregate.Ref {
	t.Helper()
	now := at().Add(time.Duration(n) * time.Second)
	r := task.Request{TeamID: team, Channel: "C0CHANNEL", ChannelType: "channel", User: user, Text: text,
		Source: task.SourceChannel, Matter: form}
	r.MessageTS = fmt.Sprintf("17700000%02d.000100", n)
	r.ThreadTS = r.MessageTS
	c, ref, err := task.Receive(aggregate.TenantID(team), r, now)
	expect.NoError(t, err)
	expect.NoError(t, s.Create(t.Context(), c))
	return ref
}

// extracted makes a task of a person's message.
func extracted(t *testing.T, s *store.TaskStore, team, user, title string, n int) aggregate.Ref {
	t.Helper()
	now, ref := at().Add(time.Duration(n)*time.Second), received(t, s, team, user, title, nil, n)
	expect.Value(s.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: team},
			tenancy.DefaultSettings(), now)
	}))(t)
	expect.Value(s.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: title, Description: title, Priority: task.Medium,
			TaskType: task.TypeStandard}, now)
	}))(t)
	return ref
}

func TestAListSaysWhoAskedAndKeepsWhatIsWanted(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	first := extracted(t, s, "T0TEAM", "U0ONE", "first", 1)
	extracted(t, s, "T0TEAM", "U0TWO", "second", 2)
	third := extracted(t, s, "T0TEAM", "U0ONE", "third", 3)
	extracted(t, s, "T0OTHER", "U0ONE", "another tenant's", 4)
	list := func(f task.Filter, most int, keep func(store.ListedTask) bool) (titles []string, next string) {
		p := expect.Value(s.Search(t.Context(), first.Tenant, f, "", 10, most, keep))(t)
		for _, x := range p.Items {
			titles = append(titles, x.Requester()+" "+x.Title)
		}
		return titles, p.Next
	}
	for name, c := range map[string]struct {
		filter task.Filter
		keep   func(store.ListedTask) bool
		want   []string
	}{
		"all":    {task.Filter{}, nil, []string{"U0ONE third", "U0TWO second", "U0ONE first"}},
		"by one": {task.Filter{Requester: "U0TWO"}, nil, []string{"U0TWO second"}},
		"some": {task.Filter{}, func(x store.ListedTask) bool { return x.Title == "first" },
			[]string{"U0ONE first"}},
		"some of one's": {task.Filter{Requester: "U0TWO"}, func(x store.ListedTask) bool { return x.Title == "first" }, nil},
		"nobody's":      {task.Filter{Requester: "U0#"}, nil, nil},
	} {
		got, next := list(c.filter, 0, c.keep)
		if expect.Same(t, c.want, got); next != "" {
			t.Errorf("%s: there is a next page", name)
		}
	}
	got, next := list(task.Filter{}, 2, func(x store.ListedTask) bool { return x.Title == "first" })
	expect.That(t, len(got) == 0 && next != "", "of the two newest: %q, next %q", got, next)
	titles := expect.Value(s.Titled(t.Context(), first.Tenant, first.ID, third.ID, "01NONE", "#"))(t)
	expect.That(t, len(titles) == 2 && titles[third.ID].Title == "third" && titles[third.ID].Requester() == "U0ONE",
		"%+v", titles)
	others := expect.Value(s.Titled(t.Context(), "01OTHER", first.ID))(t)
	expect.That(t, len(others) == 0, "another tenant's are read: %+v", others)
}

// refusing fails as many writes as left says.
type refusing struct{ left, tried atomic.Int32 }

func (r *refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		r.tried.Add(1)
		if r.left.Add(-1) >= 0 {
			return nil, errors.New("the network is away")
		}
	}
	return http.DefaultTransport.RoundTrip(q)
}

func testRetries(t *testing.T, w *contestWorld, server *storetest.Server) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	var waited []time.Duration
	broken := &refusing{}
	x := w.through(server, broken)
	x.Sleep = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	for _, tt := range []struct {
		fails int32
		tries int32
		waits []time.Duration
		saved bool
	}{
		{0, 1, nil, true},
		{3, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		{100, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
	} {
		waited = nil
		broken.left.Store(tt.fails)
		broken.tried.Store(0)
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), played(id, "a", 1, 0.5))
		var given *contest.DatabaseWriteError
		expect.That(t, (err == nil) == tt.saved && (tt.saved || errors.As(err, &given) && given.Attempts == 4),
			"%d failures: %v", tt.fails, err)
		expect.That(t, slices.Equal(waited, tt.waits) && broken.tried.Load() == tt.tries,
			"%d failures: waited %v, tried %d times", tt.fails, waited, broken.tried.Load())
	}
	waited = nil
	broken.left.Store(0)
	for name, p := range map[string]float64{"a score that can't be": 2, "a round that is not next": 0.5} {
		bad := played(id, "a", 4, p)
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), bad)
		expect.That(t, err != nil && !errors.As(err, new(*contest.DatabaseWriteError)), "%s: %v", name, err)
	}
	expect.That(t, len(waited) == 0, "what can't be written was tried again: %v", waited)
	_, err := x.SaveRound(t.Context(), contest.TeamRef(contestTenant, id, "b"), played(id, "b", 1, 0.5))
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a team that is not there: %v", err)
	team := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	expect.That(t, len(team.Rounds) == 1, "%d rounds", len(team.Rounds))
}

func TestOneOfManyBeginsWhatIsToBeDoneOnce(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	begin := func(what string) bool {
		first, came, err := s.Once(t.Context(), "01TENANT", what)
		expect.That(t, err == nil && came == (store.Came{}), "%+v, %v", came, err)
		return first
	}
	var first atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if begin("trigger 1") {
				first.Add(1)
			}
		})
	}
	all.Wait()
	expect.That(t, first.Load() == 1, "%d of eight were the first", first.Load())
	expect.That(t, begin("trigger 2"), "another is taken for the same")
	expect.NoError(t, s.Again(t.Context(), "01TENANT", "trigger 1"))
	expect.That(t, begin("trigger 1") && !begin("trigger 1"), "what failed begins again, and only once")
	is := store.Came{As: "accepted", Channel: "C1", TS: "1776675600.000900"}
	expect.NoError(t, s.Came(t.Context(), "01TENANT", "trigger 1", is))
	if first, came, err := s.Once(t.Context(), "01TENANT", "trigger 1"); first || came != is || err != nil {
		t.Errorf("%v, %+v, %v", first, came, err)
	}
}
