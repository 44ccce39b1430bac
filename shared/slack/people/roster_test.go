package people_test

import (
	"errors"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

func TestOnlyMembersAndGroupsThatAreThereCanBeChosen(t *testing.T) {
	slack := ringitest.StartSlack(t)
	var r people.Roster
	m := expect.Value(r.Of(t.Context(), slack.Client, ringitest.Team, time.Now()))(t)
	got := expect.Value(m.Refused(t.Context(), slack.Client,
		[]string{webapi.Sato, webapi.Guest, webapi.Stranger, webapi.Bot, "U0NOBODY"},
		[]string{webapi.Approvers, "S0GONE"}))(t)
	expect.Same(t, map[string]string{
		webapi.Guest: "guest", webapi.Stranger: "outsider", webapi.Bot: "bot", "U0NOBODY": "outsider",
		"S0GONE": "no_group",
	}, got)
}

func TestWhatSlackCantSayIsRefused(t *testing.T) {
	slack := ringitest.StartSlack(t)
	for _, method := range []string{"users.list", "usergroups.list"} {
		slack.Faults.Add(webapi.Fault{Method: method, Kind: webapi.Unavailable})
		_, err := (&people.Roster{}).Of(t.Context(), slack.Client, ringitest.Team, time.Now())
		expect.That(t, errors.Is(err, explain.ErrUnverified), "%s is away: %v", method, err)
	}
	m := expect.Value((&people.Roster{}).Of(t.Context(), slack.Client, ringitest.Team, time.Now()))(t)
	slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Unavailable})
	_, err := m.Refused(t.Context(), slack.Client, []string{"U0NOBODY"}, nil)
	expect.That(t, errors.Is(err, explain.ErrUnverified), "users.info is away: %v", err)
}

func TestMembersAreListedOnceAMinute(t *testing.T) {
	slack, now := ringitest.StartSlack(t), time.Now()
	var r people.Roster
	for _, after := range []time.Duration{0, 59 * time.Second, 61 * time.Second} {
		expect.Value(r.Of(t.Context(), slack.Client, ringitest.Team, now.Add(after)))(t)
	}
	expect.Is(t, len(slack.Calls("users.list")), 2, "calls")
}

// A text names people and channels, also one that the person isn't in, and its code is as it was written.
func TestATextNamesWhatItRefersTo(t *testing.T) {
	var n people.Names
	slack, code := ringitest.StartSlack(t).Client, "`<@"+webapi.Tanaka+">`\n```\n<#"+webapi.HR+">\n```"
	expect.Is(t, n.Written(t.Context(), slack, ringitest.Team, webapi.Sato,
		"<@"+webapi.Tanaka+"> に <#"+webapi.HR+"> と <#C0ELSEWHERE> の件 "+code, time.Now()),
		"@田中 恵 に #人事 と #チャンネル の件 "+code)
	expect.Is(t, n.Written(t.Context(), slack, ringitest.Team, webapi.Sato, "Ask <#C0ELSEWHERE> about it", time.Now()),
		"Ask #channel about it")
}
