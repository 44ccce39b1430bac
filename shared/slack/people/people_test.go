package people

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// workspace is a Slack with these people, groups and channels, whose calls are counted.
type workspace struct {
	users    map[string]slackapi.User // nil: whoever is asked for is a member
	groups   map[string][]string
	channels []string // of whoever is asked for
	inC1     []string // nil: too many to list
	silent   error    // of all calls
	lost     string   // whom nobody knows

	asked          []string // types that each listing of channels asked for
	seen           int      // number of channels that were examined
	looked, listed atomic.Int32
}

func (w *workspace) User(_ context.Context, id string) (slackapi.User, error) {
	w.looked.Add(1)
	switch {
	case w.silent != nil:
		return slackapi.User{}, w.silent
	case id == w.lost:
		return slackapi.User{}, errors.New("user_not_found")
	case w.users != nil:
		return w.users[id], nil
	}
	return slackapi.User{ID: id, Name: "name of " + id, Team: "T1"}, nil
}

func (w *workspace) Channels(_ context.Context, _ string, types ...string) iter.Seq2[slackapi.Channel, error] {
	w.asked = append(w.asked, fmt.Sprint(types))
	return func(yield func(slackapi.Channel, error) bool) {
		if w.silent != nil {
			yield(slackapi.Channel{}, w.silent)
			return
		}
		for _, c := range w.channels {
			if w.seen++; !yield(slackapi.Channel{ID: c, Name: "name of " + c}, nil) {
				return
			}
		}
	}
}

func (w *workspace) Members(_ context.Context, channel string, most int) ([]string, bool, error) {
	w.listed.Add(1)
	if strings.HasSuffix(channel, "GROUP") { // a group direct message, for which infra/slack-manifest.yaml has no scope
		return nil, false, slackapi.Refused{Code: slackapi.CodeMissingScope, App: true}
	}
	return w.inC1[:min(most, len(w.inC1))], w.inC1 == nil || len(w.inC1) > most, w.silent
}

func (w *workspace) UsergroupMembers(_ context.Context, id string) ([]string, error) {
	return w.groups[id], w.silent
}

// A person's membership is found even in a huge channel: their own channels are searched for it, and the result is
// cached for a minute.
func TestAMemberOfAHugeChannelIsFoundByTheirOwnChannels(t *testing.T) {
	d := &workspace{}
	for n := range 2500 {
		d.channels = append(d.channels, fmt.Sprintf("C%d", n))
	}
	now := time.Now()
	p := &People{Slack: d, Now: func() time.Time { return now }}
	who := func(user, channel, kind string) bool {
		t.Helper()
		by, _, err := p.Who(t.Context(), Want{User: user},
			aggregate.Origin{Team: "T1", User: "U0", Channel: channel, ChannelType: kind}, tenancy.DefaultSettings())
		expect.NoError(t, err)
		return by.Member
	}
	expect.That(t, who("U1", "C1200", "channel") && d.seen == 1201, "%d channels were looked at", d.seen)
	if now = now.Add(59 * time.Second); !who("U1", "C1200", "channel") || d.seen != 1201 {
		t.Error("asked again within a minute")
	}
	expect.That(t, who("U2", "C1200", "channel") && len(d.asked) == 2, "one person's membership was taken for another's")
	if now = now.Add(2 * time.Second); !who("U1", "C1200", "channel") || len(d.asked) != 3 {
		t.Error("believed for more than a minute")
	}
	expect.That(t, !who("U1", "C9999", "channel") && !who("U1", "C9999", "channel") && len(d.asked) == 5,
		"who joins and clicks again must be a member at once")
	who("U1", "C8888", "mpim")
	expect.That(t, slices.Equal(d.asked[4:], []string{"[public_channel private_channel]", "[mpim]"}),
		"asked for %v", d.asked)
}

func TestSlackSaysWhoseAPersonIs(t *testing.T) {
	d := &workspace{channels: []string{"C1"}, users: map[string]slackapi.User{
		"UOURS": {Team: "T1"}, "UGRID": {Team: "T2", Teams: []string{"T1",
			"T2"}}, "USTRANGER": {Team: "T9"}, "UGUEST": {Team: "T1", Guest: true},
		"ULEFT": {Team: "T1", Gone: true}, "UAPP": {Team: "T1", Bot: true},
	}}
	p := &People{Slack: d, Now: time.Now}
	for user, rule := range map[string]aggregate.Rule{
		"UOURS": "", "UGRID": "", "UGUEST": aggregate.RuleGuest, "USTRANGER": aggregate.RuleForeign,
		"UUNKNOWN": aggregate.RuleForeign, "ULEFT": aggregate.RuleForeign, "UAPP": aggregate.RuleForeign,
	} {
		r := aggregate.Origin{Team: "T1", User: "U0", Channel: "C1", ChannelType: "channel"}
		by, policy, err := p.Who(t.Context(), Want{User: user}, r, tenancy.DefaultSettings())
		expect.NoError(t, err)
		var refused aggregate.ErrNotAllowed
		err = policy.Approve(by, "U0")
		expect.That(t, (err != nil) == (rule != "") && (!errors.As(err, &refused) || refused.Rule == rule),
			"%s: %v", user, err)
	}
}

// Requesters cancel without a question to Slack; what Slack said of them before must not choose the answer's language.
func TestWhoCancelsTheirOwnIsAnsweredInTheirPresentLanguage(t *testing.T) {
	d := &workspace{users: map[string]slackapi.User{"U0": {Team: "T1", Language: "ja"}}}
	p := &People{Slack: d, Now: time.Now}
	expect.That(t, p.Language(t.Context(), "T1", "U0", "en") == "ja", "not the language that they chose")
	d.users["U0"] = slackapi.User{Team: "T1", Language: "en"}
	_, _, err := p.Who(t.Context(), Want{User: "U0", Withdraws: true},
		aggregate.Origin{Team: "T1", User: "U0", Channel: "C1"}, tenancy.DefaultSettings())
	expect.NoError(t, err)
	expect.That(t, p.Spoken(t.Context(), "T1", "U0", "ja") == "en", "answered in the language that they had before")
}

// Guests may not try again, so Slack is asked about requesters who do; not about those who cancel, nor about either's
// channels.
func TestWhoTriesTheirOwnAgainMayBeAGuestByNow(t *testing.T) {
	for retries, rule := range map[bool]aggregate.Rule{true: aggregate.RuleGuest, false: ""} {
		d := &workspace{users: map[string]slackapi.User{"U0": {Team: "T1", Guest: true}}}
		p := &People{Slack: d, Now: time.Now}
		by, policy, err := p.Who(t.Context(), Want{User: "U0", Withdraws: true, Retries: retries},
			aggregate.Origin{Team: "T1", User: "U0", Channel: "C1"}, tenancy.DefaultSettings())
		expect.NoError(t, err)
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](policy.Request(by))
		expect.That(t, refused.Rule == rule && len(d.asked) == 0, "tries again: %v: %q, asked for %v", retries, refused.Rule,
			d.asked)
	}
}

// each has a user group in every workspace, whose only member is named after the workspace.
type each struct{ workspace }

func (e *each) User(ctx context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: slackapi.Tenant(ctx)}, nil
}

func (e *each) UsergroupMembers(ctx context.Context, _ string) ([]string, error) {
	return []string{"U" + slackapi.Tenant(ctx)}, nil
}

func TestAUserGroupIsItsWorkspacesOwn(t *testing.T) {
	p := &People{Slack: &each{}, Now: time.Now}
	s := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Usergroups: []string{"S1"}}}
	for _, team := range []string{"T1", "T2"} {
		o := aggregate.Origin{Team: team, User: "U0", Channel: "C1"}
		by, policy, err := p.Who(slackapi.For(t.Context(), team), Want{User: "U" + team}, o, s)
		expect.NoError(t, err)
		err = policy.Approve(by, "U0")
		expect.That(t, err == nil, "the member of %s: %v", team, err)
	}
}

func TestARequesterIsRememberedForAMinute(t *testing.T) {
	var q Requesters
	now, slack := time.Now(), &workspace{silent: errors.New("timeout")}
	asked := func(want int, team string) {
		t.Helper()
		by, err := q.Requester(t.Context(), slack, team, "U1", now)
		expect.That(t, int(slack.looked.Load()) == want && (err != nil) == (slack.silent != nil) && by.ID == "U1" &&
			(err != nil || by.Team == "T1"), "asked %d times, want %d: %+v, %v", slack.looked.Load(), want, by, err)
	}
	asked(1, "T1")
	asked(2, "T1") // what failed is asked again
	slack.silent = nil
	asked(3, "T1")
	asked(4, "T2") // another workspace's token may be told something else
	now = now.Add(knownFor - time.Second)
	asked(4, "T1")
	now = now.Add(time.Second)
	asked(5, "T1")
}

func TestPeopleSeeTheirOwnRequestsAndThoseOfTheirChannels(t *testing.T) {
	d := &workspace{channels: []string{"C1", "D9"}}
	p := &People{Slack: d, Now: time.Now}
	r, err := p.Sight(t.Context(), "T1", "U1")
	expect.NoError(t, err)
	for o, want := range map[aggregate.Origin]bool{
		{User: "U1", Channel: "C2"}:                    true,
		{User: "U1", Channel: "D1", ChannelType: "im"}: true,
		{User: "U2", Channel: "C1"}:                    true,
		{User: "U2", Channel: "C2"}:                    false,
		{User: "U2", Channel: "D9", ChannelType: "im"}: false,
		{User: "U2"}: false,
		{}:           false,
	} {
		expect.That(t, r.Sees(o) == want, "%+v is seen: %v", o, !want)
	}
	expect.That(t, !(Reach{}).Sees(aggregate.Origin{}) && !(Reach{}).Decides(aggregate.Origin{}),
		"nobody reaches something")
	expect.Same(t, map[string]string{"C1": "name of C1", "D9": "name of D9"}, r.Channels())
	if _, err := p.Sight(t.Context(), "T1", "U1"); err != nil || len(d.asked) != 1 {
		t.Errorf("a person's channels were listed %d times within a minute: %v", len(d.asked), err)
	}
	_, err = p.Sight(t.Context(), "T1", "U2")
	expect.That(t, err == nil && len(d.asked) == 2, "one person's channels were taken for another's: %v", err)
}

func TestWhileSlackIsSilentPeopleSeeTheirOwnRequestsOnly(t *testing.T) {
	p := &People{Slack: &workspace{silent: errors.New("timeout")}, Now: time.Now}
	r, err := p.Reach(t.Context(), "T1", "U1", tenancy.DefaultSettings())
	expect.That(t, errors.Is(err, explain.ErrUnverified), "%v", err)
	own, others := aggregate.Origin{User: "U1", Channel: "C1"}, aggregate.Origin{User: "U2", Channel: "C1"}
	expect.That(t, r.Sees(own) && !r.Sees(others) && !r.Decides(others), "sees own: %v, others: %v, decides: %v",
		r.Sees(own), r.Sees(others), r.Decides(others))
}

func TestNamesAreKeptAndAPageAsksForAFewOnly(t *testing.T) {
	var n Names
	slack, now := &workspace{lost: "UGONE"}, time.Now()
	got := n.Of(t.Context(), slack, "T1", now, "U1", "U2", "U1", "", "UGONE")
	expect.Same(t, map[string]string{"U1": "name of U1", "U2": "name of U2", "UGONE": "UGONE"}, got)
	n.Of(t.Context(), slack, "T1", now.Add(namedFor-time.Second), "U1", "U2")
	expect.That(t, slack.looked.Load() == 3, "%d calls", slack.looked.Load())
	n.Of(t.Context(), slack, "T2", now, "U1")
	n.Of(t.Context(), slack, "T1", now.Add(namedFor), "U1")
	expect.That(t, slack.looked.Load() == 5, "another workspace's name, or one too old, was taken")
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprint("UMANY", i))
	}
	slack.looked.Store(0)
	first := n.Of(t.Context(), slack, "T1", now, many...)
	expect.That(t, first["UMANY0"] == "name of UMANY0" && first["UMANY49"] == "UMANY49" &&
		slack.looked.Load() == mostAsked,
		"%d calls, the first is %q, the last %q", slack.looked.Load(), first["UMANY0"], first["UMANY49"])
	for range 2 {
		first = n.Of(t.Context(), slack, "T1", now, many...)
	}
	expect.That(t, first["UMANY49"] == "name of UMANY49", "the next pages do not name the others")
}

// A stage waits for those of its people who have not stamped; a channel's stage for full members who ask for nothing.
func TestAListSaysWhoOwesAStage(t *testing.T) {
	d := &workspace{channels: []string{"C1"}, users: map[string]slackapi.User{
		"UA": {Team: "T1"}, "UB": {Team: "T1"}, "UASKS": {Team: "T1"}, "UGUEST": {Team: "T1",
			Guest: true}, "USTRANGER": {Team: "T9"},
	}}
	listed := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"UB"}},
		AllowSelfApproval: true}
	at := time.Now()
	a, b := circulation.Person{User: "UA"}, circulation.Person{User: "UB"}
	stage := circulation.Stage{Name: "課長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{a}}
	second := circulation.Stage{Name: "部長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{b}}
	of := func(stages ...circulation.Stage) aggregate.Gate {
		return aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &at, AskedSum: "hash",
			Terms:  aggregate.Terms{ApprovalHours: 1, Rule: &circulation.Rule{ID: "r"}},
			Askers: []circulation.Person{{User: "UASKS"}}, Route: &circulation.Route{Form: circulation.Form, Stages: stages}}
	}
	people := of(stage, second)
	stamped := expect.Value(people.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: a,
		Principal: a, At: at, Stage: 1, Hash: "hash"}))(t)
	over, unknown := people, of(stage)
	over.Status, unknown.Route.Form = aggregate.Cancelled, circulation.Form+1
	here := aggregate.Origin{Team: "T1", User: "UASKS", Channel: "C1", ChannelType: "channel"}
	elsewhere, direct := here, aggregate.Origin{Team: "T1", User: "UASKS", Channel: "D1", ChannelType: "im"}
	elsewhere.Channel = "C2"
	opened := here
	opened.User = "UB"
	channel := of(circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})
	for name, c := range map[string]struct {
		gate *aggregate.Gate
		of   aggregate.Origin
		who  string
	}{
		"its people, wherever they are": {&people, elsewhere, "UA"}, "the next stage": {&stamped, here,
			"UB"}, "over": {&over, here, ""},
		"no route that can be walked": {&unknown, here, ""},
		"a channel":                   {&channel, here, "UA UB"}, "another channel": {&channel, elsewhere, ""},
		"a direct message": {&channel, direct, ""}, "of who opened it and doesn't ask": {&channel, opened, "UA UB"},
	} {
		var owe []string
		for _, user := range []string{"UA", "UB", "UASKS", "UGUEST", "USTRANGER"} {
			p := &People{Slack: d, Now: time.Now}
			r := expect.Value(p.Reach(t.Context(), "T1", user, listed))(t)
			if r.Owes(c.gate, c.of) {
				owe = append(owe, user)
			}
		}
		expect.That(t, strings.Join(owe, " ") == c.who, "%s: %v", name, owe)
	}
	expect.That(t, !(Reach{}).Owes(&people, here), "nobody owes")
}
