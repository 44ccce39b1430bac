package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: pipelinetest.Team, Slug: "other",
		TeamID: pipelinetest.Team, Admins: []string{}}, w.Now()))(t)
}

// Ringi serves a workspace that has connected Slack itself, whatever token this function has. An existing tenant proves
// nothing: the workspace may have disconnected Slack since.
func TestAWorkspaceThatConnectedSlackIsKnown(t *testing.T) {
	server := pipelinetest.Start(t)
	unknown := server.World(t)
	bootstrapped(t, unknown)
	h := handler(unknown)
	h.Slack = answers{team: "T0ELSEWHERE", user: slackapi.User{ID: pipelinetest.Requester, Team: pipelinetest.Team}}
	if next, err := h.Handle(t.Context(), unknown.In()); err != nil || next.Outcome != "refused" ||
		unknown.Load().Head.Ended.Reason != task.ReasonWorkspace {
		t.Errorf("%+v, %v", next, err)
	}
	w := server.World(t)
	bootstrapped(t, w)
	expect.Value(w.Store.SaveIntegration(t.Context(), tenancy.Integration{TenantID: w.Ref.Tenant,
		Provider: tenancy.SlackProvider, Status: tenancy.Connected, Credentials: "sealed"}, pipelinetest.Approver(),
		w.Now()))(t)
	h = handler(w)
	h.Slack = answers{team: "T0ELSEWHERE", name: "よその会社", user: slackapi.User{ID: pipelinetest.Requester,
		Team: pipelinetest.Team}}
	if next, err := h.Handle(t.Context(), w.In()); err != nil || next.State != task.StateExtractTask {
		t.Fatalf("%+v, %v", next, err)
	}
	if is, err := w.Store.Tenant(t.Context(), w.Ref.Tenant); err != nil || is.Name != pipelinetest.Team {
		t.Errorf("it has the name of another: %q, %v", is.Name, err)
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

// office is a workspace whose requests are accepted by a new process each.
type office struct {
	*pipelinetest.World
	t     *testing.T
	now   time.Time
	slack answers
	store func(Store) Store
	last  *pipelinetest.World
	open  []*pipelinetest.World
}

func newOffice(t *testing.T, server *pipelinetest.Server, most int) *office {
	o := &office{World: server.World(t), t: t}
	o.now, o.slack, o.store = o.World.Now(), handler(o.World).Slack.(answers), func(s Store) Store { return s }
	o.limit(most)
	return o
}

func (o *office) limit(most int) {
	o.World.Settings(func(s *tenancy.Settings) { s.MaxOpenTasks.Tenant = most })
}

func (o *office) process() *Handler {
	h := handler(o.World)
	h.Slack, h.Store, h.Now = o.slack, o.store(h.Store), func() time.Time { return o.now }
	return h
}

// ask makes n requests, and returns how many of them were refused.
func (o *office) ask(n int, by ...*Handler) (refused int) {
	o.t.Helper()
	for range n {
		w := o.World
		if o.last != nil {
			w = o.Another()
		}
		o.last = w
		h := o.process()
		if len(by) > 0 {
			h = by[0]
		}
		expect.Value(h.Handle(o.t.Context(), w.In()))(o.t)
		if w.Load().Head.AcceptedAt == nil {
			refused++
		} else {
			o.open = append(o.open, w)
		}
	}
	return refused
}

func (o *office) finish(n int) {
	for _, w := range o.open[:n] {
		w.Cancel()
	}
	o.open = o.open[n:]
}

// warned returns who was warned how often.
func (o *office) warned() string {
	o.t.Helper()
	all := expect.Value(dynamodb.NewFromConfig(o.Config).Scan(o.t.Context(), &dynamodb.ScanInput{
		TableName: new(o.Table())}))(o.t)
	heads, told := map[string]bool{}, map[string]int{}
	var rows []map[string]any
	for _, it := range all.Items {
		var row map[string]any
		expect.NoError(o.t, attributevalue.UnmarshalMap(it, &row))
		rows = append(rows, row)
		if row["SK"] == aggregate.HeadKey && strings.Contains(fmt.Sprint(row), string(task.ReasonNearlyFull)) {
			heads[row["PK"].(string)] = true
		}
	}
	for _, row := range rows {
		if row["SK"] == (&task.Request{}).Key() && heads[row["PK"].(string)] {
			told[row["channel"].(string)]++
		}
	}
	var out []string
	for _, channel := range slices.Sorted(maps.Keys(told)) {
		out = append(out, fmt.Sprintf("%s %d", channel, told[channel]))
	}
	return strings.Join(out, ", ")
}

// Administrators are warned when four fifths of a workspace's open tasks are reached, whoever asks and whichever
// process accepts, once a day and limit.
func TestAdministratorsAreWarnedBeforeTheWorkspaceIsFull(t *testing.T) {
	server := pipelinetest.Start(t)
	o := newOffice(t, server, 5)
	for _, x := range []struct {
		name    string
		do      func() int
		refused int
		want    string
	}{
		{"three of five", func() int { return o.ask(3) }, 0, ""},
		{"four", func() int { return o.ask(1) }, 0, "D0ADMIN 1"},
		{"five, and two too many", func() int { return o.ask(3) }, 2, "D0ADMIN 1"},
		{"below, and up again on the same day", func() int { o.finish(3); return o.ask(3) }, 0, "D0ADMIN 1"},
		{"the limit is raised", func() int { o.limit(10); return o.ask(2) }, 0, "D0ADMIN 1"},
		{"eight of ten", func() int { return o.ask(1) }, 0, "D0ADMIN 2"},
		{"no limit", func() int { o.limit(0); return o.ask(3) }, 0, "D0ADMIN 2"},
		{"below on the next day", func() int { o.limit(20); o.now = o.now.Add(24 * time.Hour); return o.ask(1) }, 0,
			"D0ADMIN 2"},
		{"a limit that is passed already", func() int { o.limit(10); return o.ask(2) }, 2, "D0ADMIN 3"},
	} {
		refused := x.do()
		expect.That(t, refused == x.refused && o.warned() == x.want, "%s: refused %d, warned %q; want %d, %q", x.name,
			refused, o.warned(), x.refused, x.want)
	}
	one := newOffice(t, server, 1) // its refusal says all
	expect.Same(t, 1, one.ask(2))
	expect.Same(t, "", one.warned())
}

// A warning that fails stops no request, and the next request warns. So it is after a crash between the warning and the
// acceptance, which tells nobody twice.
func TestAWarningThatFailsIsMadeUpFor(t *testing.T) {
	server := pipelinetest.Start(t)
	unanswered := map[string]error{"U0ADMIN": slackapi.Unknown{Cause: "timeout"}}
	for name, tt := range map[string]struct {
		fail func(o *office)
		then string
	}{
		"Slack doesn't answer": {func(o *office) { o.slack.undirect = unanswered }, "D0ADMIN 1"},
		"the table is busy": {func(o *office) { o.store = func(s Store) Store { return uncreating{s} } },
			"D0ADMIN 1"},
		"the administrator has left": {func(o *office) {
			o.slack.undirect = map[string]error{"U0ADMIN": slackapi.Refused{Permanent: true}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, server, 10)
			o.ask(7)
			whole, slack := o.store, o.slack
			tt.fail(o)
			process := o.process()
			expect.Same(t, 0, o.ask(1, process))
			expect.Same(t, "", o.warned())
			o.store, o.slack = whole, slack
			if tt.then != "" {
				process.Slack, process.Store = o.process().Slack, o.process().Store
			}
			expect.Same(t, 0, o.ask(1, process))
			expect.Same(t, tt.then, o.warned())
		})
	}
	t.Run("a crash after the warning", func(t *testing.T) {
		o := newOffice(t, server, 5)
		o.ask(3)
		w := o.Another()
		o.store = func(s Store) Store { return &unaccepting{Store: s} }
		_, err := o.process().Handle(t.Context(), w.In())
		expect.That(t, err != nil && w.Load().Head.AcceptedAt == nil && o.warned() == "D0ADMIN 1", "%v, %s", err, o.warned())
		o.store = func(s Store) Store { return s }
		expect.Value(o.process().Handle(t.Context(), w.In()))(t)
		expect.That(t, w.Load().Head.AcceptedAt != nil && o.warned() == "D0ADMIN 1", "%s", o.warned())
	})
}

// Below the mark a request costs no call more than without a warning. Above it a process looks once.
func TestAWarningCostsNothingBelowItsMark(t *testing.T) {
	server := pipelinetest.Start(t)
	calls := func(o *office, by *Handler) int {
		before := o.Transport.Count("TransactWriteItems")
		o.ask(1, by)
		return o.Transport.Count("TransactWriteItems") - before
	}
	o := newOffice(t, server, 5)
	o.ask(2)
	process := o.process()
	for nth, want := range []int{1, 3, 1} { // the second: refused below the mark, the warning, accepted
		got := calls(o, process)
		expect.That(t, got == want, "request %d: %d transactions, want %d", nth+3, got, want)
	}
}

// A workspace may have 50 administrators, more than Slack opens in the time that a request waits. So each is asked for
// once, and the next request goes on with the others.
func TestWhoWasWarnedIsNotAskedForAgain(t *testing.T) {
	o := newOffice(t, pipelinetest.Start(t), 5)
	o.ask(4)
	expect.Must(t, o.warned() == "D0ADMIN 1", "nobody is warned")
	opened, process := 0, o.process()
	process.Slack = counting{o.slack, &opened}
	o.ask(1, process)
	expect.Same(t, 0, opened)
	expect.Same(t, "D0ADMIN 1", o.warned())
}

// counting counts the direct messages that are opened.
type counting struct {
	answers
	opened *int
}

func (o counting) OpenDM(ctx context.Context, user string) (string, error) {
	*o.opened++
	return o.answers.OpenDM(ctx, user)
}

// uncreating is a table that takes no new aggregate.
type uncreating struct{ Store }

func (uncreating) Create(context.Context, aggregate.Change) error { return errors.New("busy") }

// unaccepting is a table to which a process comes no more after the first refused decision.
type unaccepting struct {
	Store
	died error
}

func (s *unaccepting) DecideOn(ctx context.Context, a *task.Aggregate, d task.Decision) (*task.Aggregate, error) {
	if s.died != nil {
		return nil, s.died
	}
	after, err := s.Store.DecideOn(ctx, a, d)
	if _, full := errors.AsType[aggregate.ErrFull](err); full {
		s.died = errors.New("the process died")
	}
	return after, err
}
