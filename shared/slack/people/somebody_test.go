package people

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

func newListing() *workspace {
	return &workspace{
		channels: []string{"C1"}, users: map[string]slackapi.User{
			"UASKS": {Team: "T1"}, "UOURS": {Team: "T1"}, "UOTHER": {Team: "T1"}, "UGUEST": {Team: "T1",
				Guest: true}, "USTRANGER": {Team: "T9"}, "ULEFT": {Team: "T1", Gone: true}, "UBOT": {Team: "T1", Bot: true},
		},
		inC1: []string{"UASKS", "UOURS", "UOTHER", "UGUEST", "USTRANGER", "ULEFT", "UBOT"},
		groups: map[string][]string{"SASKS": {"UASKS"}, "SOURS": {"UOURS", "ULEFT"}, "SGUESTS": {"UGUEST"},
			"SOTHER": {"UOTHER"}},
	}
}

// For any settings, place and requesters, something begins if and only if somebody's click could approve it, and a list
// shows that a person may decide if and only if their click would.
func TestWhatIsBegunHasSomebodyWhoMayApproveIt(t *testing.T) {
	approvers := []tenancy.Approvers{{Mode: aggregate.ApproversChannel}, {Mode: aggregate.ApproversList}}
	for _, users := range [][]string{nil, {"UASKS"}, {"UOURS"}, {"UASKS", "UOURS"}, {"UGUEST", "ULEFT", "USTRANGER"}} {
		for _, groups := range [][]string{nil, {"SASKS"}, {"SOURS"}, {"SGUESTS", "SGONE"}, {"SASKS", "SOURS"}} {
			approvers = append(approvers, tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups})
		}
	}
	places := []aggregate.Origin{
		{Team: "T1", User: "UASKS", Channel: "C1", ChannelType: "channel"}, {Team: "T1", User: "UASKS",
			Channel: "C1"}, // as a mention says it
		{Team: "T1", User: "UASKS", Channel: "D1", ChannelType: "im"},
		{Team: "T1", User: "UASKS", Channel: "GGROUP", ChannelType: "group"}, {Team: "T1", User: "UASKS", Channel: "CGROUP",
			ChannelType: "channel"},
		{Team: "T1", User: "UASKS", Channel: "CGROUP", ChannelType: "mpim"},
	}
	begun, lists := map[string]int{}, map[bool]int{}
	for _, a := range approvers {
		for _, self := range []bool{true, false} {
			for _, o := range places {
				for _, askers := range [][]string{{"UASKS"}, {"UASKS", "UOURS"}} {
					s, d := tenancy.Settings{Approvers: a, AllowSelfApproval: self}, newListing()
					p, somebody := &People{Slack: d, Now: time.Now}, ""
					for user := range d.users {
						by, policy, err := p.Who(t.Context(), Want{User: user, Surface: aggregate.SurfaceConsole}, o, s)
						expect.NoError(t, err)
						may := policy.Approve(by, o.User) == nil
						reach := expect.Value(p.Reach(t.Context(), "T1", user, s))(t)
						expect.That(t, reach.Decides(o) == may, "%s in %s under %+v: the list says %v", user, o.Channel, s, !may)
						lists[may]++
						if policy.ApproveAll(by, askers) == nil {
							somebody = user
						}
					}
					err := p.asking.Somebody(t.Context(), d, o, s, time.Now(), askers...)
					refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
					expect.That(t, (err == nil) == (somebody != ""),
						"%v ask in %s under %+v, self-approval %t: %v, but %q may approve it", askers, o.Channel, a, self, err, somebody)
					begun[fmt.Sprintf("%s %s %s", a.Mode, o.ChannelType, refused.Rule)]++
				}
			}
		}
	}
	expect.That(t, lists[true] >= 10 && lists[false] >= 10, "%v tells nothing", lists)
	for _, kind := range []string{"channel channel ", "channel im ", "channel im self_approval", "list channel ",
		"list im ", "list im no_approvers", "list channel no_approvers", "channel group place_not_listed",
		"channel channel place_not_listed", "channel mpim place_not_listed", "list group "} {
		expect.That(t, begun[kind] != 0, "no %q among %v", kind, begun)
	}
}

// A missing answer of Slack's is no refusal, a long list is not read to its end, and nobody is looked up without need.
func TestWhoIsListedIsAskedOfSlack(t *testing.T) {
	o := aggregate.Origin{Team: "T1", User: "UASKS", Channel: "D1", ChannelType: "im"}
	s := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Usergroups: []string{"SOURS"}}}
	d := newListing()
	d.silent = slackapi.Unknown{Cause: "timeout"}
	err := (&Requesters{}).Somebody(t.Context(), d, o, s, time.Now(), "UASKS")
	expect.That(t, errors.Is(err, explain.ErrUnverified), "Slack says nothing of a group: %v", err)
	d.silent = nil
	for n := range 3 * mostLooked {
		s.Approvers.Users = append(s.Approvers.Users, fmt.Sprintf("UGONE%d", n))
	}
	err = (&Requesters{}).Somebody(t.Context(), d, o, s, time.Now(), "UASKS")
	expect.That(t, err == nil && d.looked.Load() == mostLooked, "%d were looked up: %v", d.looked.Load(), err)
	d.looked.Store(0)
	s.Approvers.Users = []string{"UASKS"}
	var q Requesters
	for range 3 {
		expect.NoError(t, q.Somebody(t.Context(), d, o, s, time.Now(), "UASKS"))
	}
	expect.That(t, d.looked.Load() == 1, "%d were looked up", d.looked.Load())
}

// If nobody may approve their own requests, a channel without anybody else counts as a direct message. A missing answer
// of Slack's, or a large channel, is no refusal. The check costs at most one listing and a few look-ups.
func TestAChannelOfNobodyElseHasNobody(t *testing.T) {
	crowd := []string{"UASKS"}
	for n := range 3 * mostMembers {
		crowd = append(crowd, fmt.Sprintf("UGONE%d", n))
	}
	for name, tt := range map[string]struct {
		members []string
		askers  []string
		self    bool
		silent  error
		rule    aggregate.Rule
		looked  int32
	}{
		"alone":          {[]string{"UASKS"}, []string{"UASKS"}, false, nil, aggregate.RuleNotMember, 1},
		"alone, and may": {[]string{"UASKS"}, []string{"UASKS"}, true, nil, "", 1},
		"all have left":  {[]string{"UBOT"}, []string{"UASKS"}, true, nil, aggregate.RuleNotMember, 1},
		"with Ringi and those who may not": {[]string{"UBOT", "UGUEST", "UASKS", "ULEFT", "USTRANGER"}, []string{"UASKS"},
			false, nil, aggregate.RuleNotMember, 5},
		"with another": {[]string{"UASKS", "UOURS", "UOTHER"}, []string{"UASKS"}, false, nil, "", 2},
		"with another who asks, too": {[]string{"UASKS", "UOURS"}, []string{"UASKS", "UOURS"}, false, nil,
			aggregate.RuleNotMember, 2},
		"Slack says nothing":      {nil, []string{"UASKS"}, false, slackapi.Unknown{Cause: "timeout"}, "", 0},
		"many, who are not known": {crowd, []string{"UASKS"}, false, nil, "", mostLooked},
	} {
		d := newListing()
		d.inC1, d.silent = tt.members, tt.silent
		o := aggregate.Origin{Team: "T1", User: "UASKS", Channel: "C1", ChannelType: "channel"}
		s := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversChannel}, AllowSelfApproval: tt.self}
		var q Requesters
		for range 2 { // within a minute nobody is looked up again
			refused, _ := errors.AsType[aggregate.ErrNotAllowed](q.Somebody(t.Context(), d, o, s, time.Now(), tt.askers...))
			expect.That(t, refused.Rule == tt.rule && d.looked.Load() == tt.looked,
				"%s: %q after %d looks, want %q after %d", name, refused.Rule, d.looked.Load(), tt.rule, tt.looked)
		}
	}
}

// If people may approve their own requests, it only matters whether Slack lists the place, and the answer is cached.
func TestAPlaceIsLookedUpOnceInAWhile(t *testing.T) {
	l, q, now := newListing(), &Requesters{}, time.Now()
	settings := tenancy.DefaultSettings()
	settings.AllowSelfApproval = true
	asks := func(channel string, now time.Time) error {
		return q.Somebody(t.Context(), l,
			aggregate.Origin{Team: "T1", Channel: channel, ChannelType: "channel", User: "UASKS"}, settings, now, "UASKS")
	}
	for range 3 {
		expect.NoError(t, asks("C1", now))
	}
	expect.Is(t, l.listed.Load(), 1, "members were asked for")
	expect.NoError(t, asks("C1", now.Add(remembered)))
	for range 2 { // a scope may be granted meanwhile
		err := asks("CGROUP", now)
		expect.That(t, errors.Is(err, aggregate.ErrNotAllowed{Rule: aggregate.RuleUnlisted}),
			"a group direct message: %v", err)
	}
	expect.Is(t, l.listed.Load(), 4, "members were asked for")
}

// company has n people.
type company struct{ n, seen int }

func (c *company) User(context.Context, string) (slackapi.User, error) { return slackapi.User{}, nil }

func (c *company) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		for i := range c.n {
			if c.seen++; !yield(slackapi.User{ID: fmt.Sprintf("U%05d", i), Team: "T1", Name: fmt.Sprintf("佐藤 %d", i)}, nil) {
				return
			}
		}
	}
}

func (c *company) Usergroups(context.Context) ([]slackapi.Group, error) {
	return []slackapi.Group{{ID: "S1", Name: "人事部 承認者", Handle: "hr"}, {ID: "S2", Name: "佐藤会", Disabled: true}}, nil
}

func TestAPersonIsFoundAmongThousands(t *testing.T) {
	c := &company{n: MaxListed + 500}
	m := expect.Value((&Roster{}).Of(t.Context(), c, "T1", time.Now()))(t)
	expect.That(t, len(m.People) == MaxListed && m.More && c.seen == MaxListed+1,
		"%d are listed of %d that were read, more: %v", len(m.People), c.seen, m.More)
	for text, want := range map[string]string{
		"佐藤 4321": "U04321", "佐藤4321": "U04321", "＠佐藤　4321": "U04321", "u00007": "U00007", "佐藤会": "", "nobody": "",
	} {
		u, found := m.Find(text)
		expect.That(t, u.ID == want && found == (want != ""), "%q finds %q, want %q", text, u.ID, want)
	}
}
