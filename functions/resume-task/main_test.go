package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi"
)

func TestResumeTask(t *testing.T) {
	for want, bring := range map[string]func(w *ringitest.World){
		task.StateExtractTask: func(*ringitest.World) {},
		task.StatePlanProcess: func(w *ringitest.World) { w.Prompted(tenancy.DefaultSettings()); w.Approve() },
		task.StateFinish:      func(w *ringitest.World) { w.Cancel() },
	} {
		t.Run(want, func(t *testing.T) {
			w := ringitest.Start(t).World(t)
			bring(w)
			next, err := handler(w).Handle(t.Context(), w.In())
			expect.That(t, err == nil && next.State == want, "%+v, %v", next, err)
		})
	}
}

func TestWhatIsResumed(t *testing.T) {
	t.Run("a run that is not the head's", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		in := w.In()
		w.Restart()
		expect.Fails(t, expect.Err(handler(w).Handle(t.Context(), in)), aggregate.ErrSuperseded)
	})
	t.Run("a task that is not there, or is another tenant's", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		for _, in := range []pipeline.Input{
			{Tenant: w.Ref.Tenant, Task: aggregate.NewID(), Run: 1}, {Tenant: aggregate.TenantID("T0OTHER"), Task: w.Ref.ID,
				Run: 1},
		} {
			_, err := handler(w).Handle(t.Context(), in)
			expect.That(t, pipeline.Name(err) == pipeline.BadInput, "%v, want one that is not tried again", err)
		}
	})
	t.Run("a table that does not answer", func(t *testing.T) {
		w := ringitest.Start(t).World(t)
		in := w.In()
		w.Transport.DropCalls("Query", 99)
		_, err := handler(w).Handle(t.Context(), in)
		expect.That(t, pipeline.Name(err) == pipeline.Unavailable, "%v, want one that is tried again", err)
	})
}

func handler(w *ringitest.World) *Handler {
	return &Handler{
		Store: w.StoreOverTransport(), Now: w.Now, Secret: named("U0ADMIN"),
		Slack: answers{team: ringitest.Team, name: "株式会社りんぎ", user: member},
	}
}

// member is who asks.
var member = slackapi.User{ID: ringitest.Requester, Team: ringitest.Team}

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
	team, name string
	unsure     error // error in place of these
	user       slackapi.User
	err        error            // error in place of the user
	undirect   map[string]error // errors in place of people's direct messages
}

func (d answers) Team(context.Context) (string, error) { return d.team, d.unsure }
func (d answers) Self(context.Context) (slackapi.Self, error) {
	return slackapi.Self{User: "U0BOT", Bot: "B0BOT", Team: d.team, Name: d.name}, d.unsure
}
func (answers) Members(_ context.Context, channel string, _ int) ([]string, bool, error) {
	if channel == "C0GROUP" { // a group direct message
		return nil, false, slackapi.Refused{Code: slackapi.CodeMissingScope, App: true}
	}
	return []string{ringitest.Requester}, channel != "C0ALONE", nil
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
func (d answers) User(context.Context, string) (slackapi.User, error)       { return d.user, d.err }
func (d answers) UserByMail(context.Context, string) (slackapi.User, error) { return d.user, d.err }
func (d answers) OpenDM(_ context.Context, user string) (string, error) {
	return "D" + user[1:], d.undirect[user]
}

// A request waits as long as Slack doesn't say who asks, or which workspace the app belongs to. Nothing is accepted,
// spent or parked, and it continues once Slack answers.
func TestARequestWaitsForSlack(t *testing.T) {
	expect.Patience(t)
	limited := slackapi.RateLimited{RetryAfter: 10 * time.Minute}
	long := map[string]bool{"no answer about a person": true, "too many questions": true}
	for name, s := range map[string]answers{
		"no answer about a person":   {err: slackapi.Unknown{Cause: "timeout"}},
		"too many questions":         {err: limited},
		"a token that is refused":    {err: slackapi.Refused{Code: "invalid_auth", App: true}},
		"no token":                   {err: errors.New("no token")},
		"no answer whose the app is": {unsure: slackapi.Unknown{Cause: "timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := ringitest.Start(t).World(t)
			h, began, last := handler(w), w.Now(), time.Duration(0)
			s.team = ringitest.Team
			h.Slack = s
			for tries := 0; tries == 0 || long[name] && w.Now().Sub(began) < 70*time.Minute; tries++ {
				next, err := h.Handle(t.Context(), w.In())
				head := w.Load().Head
				expect.Must(t, err == nil && next.State == task.StatePause && head.Parked == nil && head.AcceptedAt == nil &&
					head.Ended == nil && tries < 1000, "after %s: %+v, %v, %+v", w.Now().Sub(began), next, err, head)
				wait := head.PausedUntil.Sub(w.Now())
				expect.Must(t, wait >= last/2 && (s.err != error(limited) || wait >= 10*time.Minute), "try %d: again in %s", tries,
					wait)
				next, err = h.Handle(t.Context(), w.In())
				expect.Must(t, err == nil && next.State == task.StatePause && w.Load().Head.Rev == head.Rev,
					"asked again before its time: %+v, %v", next, err)
				last = wait
				w.Later(wait)
			}
			h.Slack = answers{team: ringitest.Team, user: member}
			next, err := h.Handle(t.Context(), w.In())
			expect.That(t, err == nil && next.State == task.StateExtractTask && w.Load().Head.AcceptedAt != nil, "%+v, %v",
				next, err)
		})
	}
}

// TestAnUnknownWorkspaceIsRefused: only the rows of its request remain.
func TestAnUnknownWorkspaceIsRefused(t *testing.T) {
	w := ringitest.Start(t).World(t)
	h := handler(w)
	h.Slack = answers{team: "T0ELSEWHERE", user: member}
	for range 2 {
		next, err := h.Handle(t.Context(), w.In())
		expect.Must(t, err == nil && next.Outcome == "refused", "%+v, %v", next, err)
	}
	e := w.Load().Head.Ended
	expect.That(t, e != nil && e.As == task.TaskRefused && e.Reason == task.ReasonWorkspace, "ended %+v", e)
	made, err := w.Store.Tenant(t.Context(), w.Ref.Tenant)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "made %+v, %v", made, err)
	s, err := w.Store.Settings(t.Context(), w.Ref.Tenant)
	expect.That(t, err == nil && s.Rev == 0, "settings %+v, %v", s, err)
}

// bootstrapped creates the world's tenant.
func bootstrapped(t *testing.T, w *ringitest.World) {
	t.Helper()
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: ringitest.Team,
		TeamID: ringitest.Team, Admins: []string{}}, w.Now()))(t)
}

// The first contact makes the tenant, once. Each notes the bot's ids as the bot itself reports them.
func TestTheFirstContactMakesTheTenant(t *testing.T) {
	none := []string{}
	for about, tt := range map[string]struct {
		secret     named
		says, name string
		admins     []string
		known      bool
	}{
		"the secret names who administers": {"U0ADMIN", "株式会社りんぎ", "株式会社りんぎ", []string{"U0ADMIN"}, false},
		"it names nobody":                  {"", "株式会社りんぎ", "株式会社りんぎ", none, false},
		"it names no id":                   {"suzuki@example.com", "株式会社りんぎ", "株式会社りんぎ", none, false},
		"a workspace without a name":       {"", "", ringitest.Team, none, false},
		"a name that is too long": {"", strings.Repeat("名", 300), strings.Repeat("名", tenancy.MaxTenantName), none,
			false},
		"a tenant that is there": {"U0ADMIN", "株式会社りんぎ", ringitest.Team, none, true},
	} {
		w := ringitest.Start(t).World(t)
		if tt.known {
			bootstrapped(t, w)
		}
		h := handler(w)
		h.Secret, h.Slack = tt.secret, answers{team: ringitest.Team, name: tt.says, user: member}
		for range 2 {
			expect.Value(h.Handle(t.Context(), w.In()))(t)
		}
		is := expect.Value(w.Store.Tenant(t.Context(), w.Ref.Tenant))(t)
		expect.That(t, is.TeamID == ringitest.Team && is.Name == tt.name && slices.Equal(is.Admins, tt.admins) &&
			is.BotUserID == "U0BOT" && is.BotID == "B0BOT", "%s: %+v", about, is)
	}
}

// The deployment's workspace is known by its row when the token of the deployment's secret has ended.
func TestAWorkspaceWithARowIsServed(t *testing.T) {
	w := ringitest.Start(t).World(t)
	bootstrapped(t, w)
	h := handler(w)
	h.Slack = answers{unsure: slackapi.Refused{Code: "token_revoked", App: true}, user: member}
	next, err := h.Handle(t.Context(), w.In())
	expect.Must(t, err == nil && next.State == task.StateExtractTask, "%+v, %v", next, err)
}

// TestWhoeverMayNotAskCostsNothing: the run of such a request ends before any model is called, and the card shows why.
func TestWhoeverMayNotAskCostsNothing(t *testing.T) {
	guest, stranger := member, member
	guest.Guest, stranger.Team = true, "T0OTHER"
	refused := func(code string) error { return slackapi.Refused{Code: code, Permanent: true} }
	for name, tt := range map[string]struct {
		who    answers
		reason aggregate.Reason
	}{
		"a member":                       {answers{user: member}, ""},
		"a guest":                        {answers{user: guest}, task.ReasonGuest},
		"a stranger":                     {answers{user: stranger}, task.ReasonStranger},
		"one whom Slack doesn't show us": {answers{err: refused("user_not_visible")}, task.ReasonStranger},
	} {
		t.Run(name, func(t *testing.T) {
			w := ringitest.Start(t).World(t)
			h := handler(w)
			tt.who.team = ringitest.Team
			h.Slack = tt.who
			next := expect.Value(h.Handle(t.Context(), w.In()))(t)
			ended := w.Load().Head.Ended
			if tt.reason == "" {
				expect.That(t, next.State == task.StateExtractTask && ended == nil, "%+v, ended %+v", next, ended)
				return
			}
			expect.That(t, next.State == task.StateFinish && next.Outcome == "refused" && ended != nil &&
				ended.As == task.TaskRefused && ended.Reason == tt.reason, "%+v, ended %+v", next, ended)
			again, err := h.Handle(t.Context(), w.In())
			expect.That(t, err == nil && again == next, "the second time: %+v, %v", again, err)
		})
	}
}

// A request that nobody could approve is refused before a model is called. Slack says who is in a group. Whom all
// settings leave, package people proves.
func TestWhatNobodyCouldApproveIsRefused(t *testing.T) {
	list := func(users, groups []string) tenancy.Approvers {
		return tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	}
	channel := tenancy.Approvers{Mode: aggregate.ApproversChannel, Users: []string{}, Usergroups: []string{}}
	own := []string{ringitest.Requester}
	for name, tt := range map[string]struct {
		kind      string // the channel's type and id; the id is D0 by default
		approvers tenancy.Approvers
		self      bool
		reason    aggregate.Reason
		unasked   bool // neither policy nor steps need approval
	}{
		"a direct message to oneself":    {"im", channel, false, task.ReasonOnlyAskers, false},
		"in a channel":                   {"channel", channel, false, "", false},
		"in a group's direct message":    {"channel C0GROUP", channel, true, task.ReasonGroupMessage, false},
		"a group of others":              {"im", list(own, []string{"S0OTHERS"}), false, "", false},
		"oneself, where nobody is asked": {"im", channel, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := ringitest.Start(t).World(t)
			kind, channel, _ := strings.Cut(tt.kind, " ")
			w.Receive(task.Request{User: ringitest.Requester, Channel: cmp.Or(channel, "D0"), ChannelType: kind,
				MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
			w.Settings(func(s *tenancy.Settings) {
				s.Approvers, s.AllowSelfApproval = tt.approvers, tt.self
				s.PromptApprovalRequired, s.ProcessApprovalRequired = !tt.unasked, !tt.unasked
			})
			next := expect.Value(handler(w).Handle(t.Context(), w.In()))(t)
			if tt.reason == "" {
				expect.That(t, next.State == task.StateExtractTask && w.Load().Head.AcceptedAt != nil, "%+v", next)
				return
			}
			a := w.Load()
			e := a.Head.Ended
			expect.Must(t, next.State == task.StateFinish && next.Outcome == "refused" && e != nil && e.Reason == tt.reason &&
				a.Head.AcceptedAt == nil, "%+v, ended %+v", next, e)
		})
	}
}

// If Slack doesn't say who is listed, an accepted task goes on.
func TestATaskThatWasAcceptedDoesNotWaitForSlack(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Extracted()
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U0OTHER"}, Usergroups: []string{}}
	})
	h := handler(w)
	h.Slack = answers{team: ringitest.Team, err: slackapi.Unknown{Cause: "timeout"}}
	expect.Same(t, task.StateDraftPrompt, expect.Value(h.Handle(t.Context(), w.In()))(t).State)
}

// TestATaskTooManyIsRefused at no cost. When another task ends, the next request is accepted.
func TestATaskTooManyIsRefused(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Settings(func(s *tenancy.Settings) { s.MaxOpenTasks = 1 })
	resume := func(w *ringitest.World) aggregate.Next {
		t.Helper()
		return expect.Value(handler(w).Handle(t.Context(), w.In()))(t)
	}
	for range 2 { // the second time the run still has its own place
		expect.Same(t, task.StateExtractTask, resume(w).State)
	}
	second := w.Another()
	next := resume(second)
	expect.Must(t, next.Outcome == "refused" && second.Load().Head.Ended.Reason == task.ReasonOpenPerson &&
		second.Load().Head.Ended.Detail == "1", "%+v, %+v", next, second.Load().Head.Ended)
	w.Cancel()
	expect.Same(t, task.StateExtractTask, resume(w.Another()).State)
}
