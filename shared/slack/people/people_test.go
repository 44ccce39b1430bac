package people

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// directory is a workspace in which a person is in many channels, each with many members.
type directory struct {
	channels []string
	asked    []string // types that each listing asked for
	seen     int      // number of channels that were examined
}

func (d *directory) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: "T1"}, nil
}

func (d *directory) Channels(_ context.Context, _ string, types ...string) iter.Seq2[slackapi.Channel, error] {
	d.asked = append(d.asked, fmt.Sprint(types))
	return func(yield func(slackapi.Channel, error) bool) {
		for _, c := range d.channels {
			ids := strings.Fields(c) // the first that it had, and the others
			if d.seen++; !yield(slackapi.Channel{ID: ids[0], Name: "name of " + ids[0], Also: ids[1:]}, nil) {
				return
			}
		}
	}
}

func (d *directory) Members(context.Context, string, int) ([]string, bool, error) {
	return nil, true, nil
}

func (d *directory) UsergroupMembers(context.Context, string) ([]string, error) { return nil, nil }

// A person's membership is found even in a huge channel: their own channels are searched for it, and the result is
// cached for a minute.
func TestAMemberOfAHugeChannelIsFoundByTheirOwnChannels(t *testing.T) {
	d := &directory{}
	for n := range 2500 {
		d.channels = append(d.channels, fmt.Sprintf("C%d", n))
	}
	now := time.Now()
	p := &People{Slack: d, Now: func() time.Time { return now }}
	who := func(user, channel, kind string) bool {
		t.Helper()
		by, _, err := p.Who(t.Context(), Want{User: user, Team: "T1"},
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

// vouching is a directory that knows people's workspaces.
type vouching struct {
	directory
	users map[string]slackapi.User
}

func (v *vouching) User(_ context.Context, id string) (slackapi.User, error) { return v.users[id], nil }

// The workspace that a click names doesn't count: it may be an organization, the person's home workspace, or missing.
func TestSlackSaysWhoseAPersonIs(t *testing.T) {
	d := &vouching{directory{channels: []string{"C1"}}, map[string]slackapi.User{
		"UOURS": {Team: "T1"}, "UGRID": {Team: "T2", Teams: []string{"T1", "T2"}}, "USTRANGER": {Team: "T9"}, "UGUEST": {Team: "T1", Guest: true},
		"ULEFT": {Team: "T1", Gone: true},
	}}
	p := &People{Slack: d, Now: time.Now}
	for _, tt := range []struct {
		user, team string // from the click
		rule       aggregate.Rule
	}{
		{"UOURS", "T1", ""}, {"UOURS", "E1", ""}, {"UOURS", "", ""}, {"UGRID", "T2", ""}, {"UGRID", "E1", ""}, {"UGUEST", "T1", aggregate.RuleGuest},
		{"USTRANGER", "", aggregate.RuleForeign}, {"USTRANGER", "T1", aggregate.RuleForeign}, {"USTRANGER", "T9", aggregate.RuleForeign}, {"UUNKNOWN", "T1", aggregate.RuleForeign},
		{"ULEFT", "T1", aggregate.RuleForeign},
	} {
		r := aggregate.Origin{Team: "T1", User: "U0", Channel: "C1", ChannelType: "channel"}
		by, policy, err := p.Who(t.Context(), Want{User: tt.user, Team: tt.team}, r, tenancy.DefaultSettings())
		expect.NoError(t, err)
		var refused aggregate.ErrNotAllowed
		if err := policy.Approve(by, "U0"); (err != nil) != (tt.rule != "") ||
			errors.As(err, &refused) && refused.Rule != tt.rule {
			t.Errorf("%s, whose click says %q: %v", tt.user, tt.team, err)
		}
	}
}

// listless is a Slack without the method that lists a person's channels.
type listless struct{ directory }

func (listless) Channels(context.Context, string, ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) {
		yield(slackapi.Channel{}, slackapi.Refused{Code: slackapi.CodeUnknownMethod})
	}
}

// A person who clicked in a channel is in it; a person on a page may be anywhere.
func TestWhereChannelsCantBeListedAPageVouchesForNobody(t *testing.T) {
	p := &People{Slack: &listless{}, Now: time.Now}
	for surface, member := range map[aggregate.Surface]bool{"": true, aggregate.SurfaceConsole: false} {
		by, _, err := p.Who(t.Context(), Want{User: "U1", Team: "T1", Surface: surface},
			aggregate.Origin{Team: "T1", User: "U0", Channel: "C1", ChannelType: "channel"}, tenancy.DefaultSettings())
		expect.NoError(t, err)
		expect.That(t, by.Member == member && by.Surface == surface, "%q: %+v", surface, by)
	}
}

// each has a user group in every workspace, whose only member is named after the workspace.
type each struct{ directory }

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
		if err := policy.Approve(by, "U0"); err != nil {
			t.Errorf("the member of %s: %v", team, err)
		}
	}
}

// counted gives one answer, and counts the calls that ask who a person is.
type counted struct {
	n    int
	user slackapi.User
	err  error
}

func (c *counted) User(context.Context, string) (slackapi.User, error) {
	c.n++
	return c.user, c.err
}

func TestARequesterIsRememberedForAMinute(t *testing.T) {
	var q Requesters
	now, slack := time.Now(), &counted{err: errors.New("timeout")}
	asked := func(want int, team string) {
		t.Helper()
		by, err := q.Requester(t.Context(), slack, team, "U1", now)
		if slack.n != want || (err != nil) != (slack.err != nil) || by.ID != "U1" || err == nil && by.Team != "T1" {
			t.Errorf("asked %d times, want %d: %+v, %v", slack.n, want, by, err)
		}
	}
	asked(1, "T1")
	asked(2, "T1") // what failed is asked again
	slack.user, slack.err = slackapi.User{ID: "U1", Team: "T1"}, nil
	asked(3, "T1")
	asked(4, "T2") // another workspace's token may be told something else
	now = now.Add(knownFor - time.Second)
	asked(4, "T1")
	now = now.Add(time.Second)
	asked(5, "T1")
}
