package card_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// outside is a call that an outside agent asks for. Decisions on it are applied as by the store.
type outside struct {
	t *testing.T
	*call.Aggregate
	now time.Time
}

var outsideTerms = aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24,
	DecideBy: new(begunAt.Add(24 * time.Hour))}

// askedFor asks for a call: of Bash it runs elsewhere. change may change what is asked for.
func askedFor(t *testing.T, tool, arguments string, change func(x *call.Proposal)) *outside {
	t.Helper()
	members := expect.Value(call.Members([]byte(arguments)))(t)
	x := call.Proposal{
		Key: tenancy.Key{ID: "k1", TenantID: "01T", Team: "T1", Name: "経理の<!channel>エージェント", Answers: "U_SATO",
			Channel: "C1", Tools: []string{tool}, QuotaDay: 9, ExpiresAt: begunAt.AddDate(1, 0, 0)},
		Content: call.Content{Key: "k1", Answers: "U_SATO", Tool: tool, Elsewhere: tool == "Bash",
			Called: conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}},
		Reason: "締め日なので\n*急いで*ください <!here>", Terms: outsideTerms,
	}
	var err error
	x.Content.Arguments, x.Effect, err = call.Digest(members, call.Idle(tool, tool == "Bash"))
	expect.NoError(t, err)
	if change != nil {
		change(&x)
	}
	c := expect.Value(x.Ask(begunAt))(t)
	return &outside{t, (&call.Aggregate{}).After(c).(*call.Aggregate), begunAt.Add(10 * time.Second)}
}

func (o *outside) do(c aggregate.Change, err error) *outside {
	o.t.Helper()
	expect.NoError(o.t, err)
	return &outside{o.t, o.After(c).(*call.Aggregate), o.now.Add(10 * time.Second)}
}

func (o *outside) act(kind circulation.Kind, user, text string) *outside {
	o.t.Helper()
	others := anyMember
	others.AllowSelf = false
	return o.do(o.Act(o.Head.CallID, o.Call.Gate.Acting(kind, member(user), text), member(user), others, o.now))
}

// again asks for the same call once more.
func (o *outside) again(arguments string) *outside {
	return askedFor(o.t, "send_slack_dm", arguments, func(x *call.Proposal) {
		x.Content.Again, x.Was = o.Head.CallID, call.WasOf(o.Call)
	})
}

func (o *outside) claimed() *outside {
	o.t.Helper()
	s := o.act(circulation.Stamp, "U_TANAKA", "")
	return s.do(s.Claim(s.Head.Run, "i", task.Series{}, s.now.Add(time.Hour), s.now))
}

func (o *outside) shown(locale string) any {
	return card.Render(o.Aggregate, o.Cards[0], tenancy.Settings{Locale: locale}, card.Around{}, o.now)
}

// callViews draws a call's card in each of its states, and its dialogs.
func callViews(t *testing.T, locale string) map[string]any {
	dm := `{"recipient":"U_MORI","text":"請求書を送りました","details":[]}`
	sent := askedFor(t, "send_slack_dm", dm, nil)
	run := askedFor(t, "Bash", `{"command":"rm -rf build\nmake # `+"`x`"+`\u202e","description":"Clean","timeout":60}`,
		nil)
	ruled := aggregate.Opening{Rule: circulation.Rule{ID: "01KS000000000000000000000A", Name: "外部の書き込み", Revision: 2},
		Askers: []circulation.Person{{User: "U_SATO"}}, Route: circulation.Route{Form: circulation.Form,
			Stages: []circulation.Stage{
				{Name: "課長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{{User: "U_TANAKA"}}},
				{Name: "部長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{{User: "U_MORI"}}}}}}
	unrouted := askedFor(t, "send_slack_dm", dm, func(x *call.Proposal) { x.LooksUp = true })
	onRoute := unrouted.do(unrouted.Route(unrouted.Head.Run, call.Routed{Opening: &ruled, Terms: outsideTerms}, begunAt))
	made, lost := sent.claimed(), sent.claimed()
	lost = lost.do(lost.Lost("i", lost.now))
	granted := run.act(circulation.Stamp, "U_TANAKA", "")
	holding := tenancy.Key{ID: "k1", Tools: []string{"Bash"}, ExpiresAt: granted.now.AddDate(1, 0, 0)}
	long := askedFor(t, "Bash", `{"command":"`+strings.Repeat("echo 長い行 && ", 1000)+`true"}`, nil)
	of := card.Review{Type: call.Card, ID: sent.Head.CallID, TaskID: sent.Head.CallID,
		Hash: sent.Asked(sent.Head.CallID).Hash}
	at := tenancy.Settings{Locale: locale}
	review, _ := card.DialogsOf(long.Aggregate).Review(card.Review{ID: long.Head.CallID, TaskID: long.Head.CallID}, locale)
	told := func(o *outside) card.Message {
		return copyOf(o.Aggregate, &aggregate.Card{CardType: task.CardOutcome, Subject: "OUTCOME", User: "U_SATO"}, at,
			"https://example.slack.com/archives/C1/p1", o.now)
	}
	all := map[string]any{
		"told_rejected":  told(sent.act(circulation.SendBack, "U_TANAKA", "予算が<!channel>ありません")),
		"told_cancelled": told(sent.do(sent.End(member("U_TANAKA"), anyMember, sent.now))),
		"told_unrouted": told(unrouted.do(unrouted.Route(unrouted.Head.Run, call.Routed{Refused: &aggregate.Refusal{
			Why: call.ReasonUnrouted, Rule: ruled.Rule}}, unrouted.now))),
		"pending": sent.shown(locale), "runs_elsewhere": run.shown(locale), "long": long.shown(locale),
		"no_reason": askedFor(t, "send_slack_dm", dm, func(x *call.Proposal) { x.Reason = "" }).shown(locale),
		"again": askedFor(t, "send_slack_dm", dm, func(x *call.Proposal) { x.Content.Again = sent.Head.CallID }).
			shown(locale),
		"again_rejected": sent.act(circulation.SendBack, "U_TANAKA", "予算が<!channel>ありません").again(dm).shown(locale),
		"again_made":     granted.do(granted.Take(holding, "use", task.Series{}, granted.now)).again(dm).shown(locale),
		"again_unknown":  lost.again(dm).shown(locale),
		"looked_up":      unrouted.shown(locale),
		"on_route":       onRoute.shown(locale),
		"approved": sent.act(circulation.Stamp, "U_TANAKA",
			"").shown(locale), "stamped_elsewhere": granted.shown(locale),
		"running": made.shown(locale),
		"done": made.do(made.Finish("i", call.Result{Status: conversation.ActionSucceeded,
			Call: &aggregate.Blob{JSON: `{"value":{"message_id":"M-77"}}`}}, made.now)).shown(locale),
		"failed": made.do(made.Finish("i", call.Result{Status: conversation.ActionFailed, Error: "tool_failed",
			ErrorDetail: "404: <!channel>"}, made.now)).shown(locale),
		"unknown":   lost.shown(locale),
		"confirmed": lost.do(lost.Confirm(lost.Call.CallID, approver, policy, lost.now)).shown(locale),
		"granted":   granted.do(granted.Take(holding, "use", task.Series{}, granted.now)).shown(locale),
		"rejected":  sent.act(circulation.SendBack, "U_TANAKA", "予算がありません").shown(locale),
		"cancelled": sent.do(sent.End(member("U_SATO"), anyMember, sent.now)).shown(locale),
		"by_agent":  sent.do(sent.Cancel("k1", sent.now)).shown(locale),
		"expired":   sent.do(sent.Expire(begunAt.Add(24 * time.Hour))).shown(locale),
		"unused":    granted.do(granted.Expire(begunAt.AddDate(0, 1, 0))).shown(locale),
		"dialog":    card.DialogsOf(sent.Aggregate).Rejection(of, locale), "whole": review,
		"more": card.DialogsOf(sent.Aggregate).More(of, true, true, locale),
		"copy": copyOf(onRoute.Aggregate, &aggregate.Card{CardType: call.Card, Subject: call.Key, User: "U_TANAKA",
			Stage: 1, Channel: "D1"}, at, "https://example.slack.com/archives/C1/p1", onRoute.now),
	}
	return all
}

// The button of a call names it with the hash of what is shown; what the card shows only in part has none.
func TestACallIsApprovedOnlyAsItIsShownWhole(t *testing.T) {
	for _, locale := range language.All {
		for name, tt := range map[string]struct {
			o       *outside
			approve bool
		}{
			"short": {askedFor(t, "Bash", `{"command":"make"}`, nil), true},
			"long":  {askedFor(t, "Bash", `{"command":"`+strings.Repeat("echo 長い行 && ", 1000)+`true"}`, nil), false},
		} {
			text := textOf(name, decoded(t, tt.o.shown(locale)))
			expect.Is(t, strings.Contains(text, "approve_call"), tt.approve, name)
			expect.Is(t, strings.Contains(text, "review_call"), !tt.approve, name)
			expect.That(t, strings.Contains(text, "reject_call") && strings.Contains(text, "more_call"), "%s", text)
		}
	}
}

// The agent's words are shown as such, and mention nobody.
func TestAnAgentsReasonIsQuoted(t *testing.T) {
	text := textOf("", decoded(t, askedFor(t, "Bash", `{"command":"make"}`, nil).shown("ja")))
	expect.That(t, strings.Contains(text, "エージェントが述べた理由") && strings.Contains(text, "責任者") &&
		!strings.Contains(text, "<!here>") && !strings.Contains(text, "<!channel>"), "%s", text)
}
