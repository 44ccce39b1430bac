package card_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// read returns the dialog of the last action, and whether it can be approved there.
func (c *onThread) read() (text string, submits bool) {
	c.t.Helper()
	view, ok := card.DialogsOf(c.Aggregate).Review(card.Review{Type: conversation.CardAction, ID: c.last().ActionID,
		TaskID: c.Head.SessionID}, "ja")
	expect.Must(c.t, ok, "no dialog")
	return expect.JSON(view.Blocks), view.Submit != nil
}

// A difference of as many lines as a dialog holds is drawn to its last line, with the button; of a longer one there is
// the beginning, without it.
func TestADifferenceIsDrawnWholeWhereItIsApproved(t *testing.T) {
	for _, most := range []int{600, files.MaxChangedLines} {
		var list []files.File
		for i := range files.MaxChanges {
			var text strings.Builder
			for n := range most / files.MaxChanges {
				fmt.Fprintf(&text, "%d/%d\u202e%s\n", i, n, strings.Repeat("漢", 8))
			}
			list = append(list, files.File{Path: fmt.Sprintf("src/%d.txt", i), Content: text.String()})
		}
		c := begunConversation(t).says("", changing(t, nil, conversation.Payload{Files: list}))
		whole, submits := c.read()
		expect.Is(t, submits, most == 600, "%d lines", most)
		for i := range files.MaxChanges {
			for n := range most / files.MaxChanges {
				expect.Must(t, !submits || strings.Contains(whole, fmt.Sprintf("+%d/%d⟨U+202E⟩", i, n)),
					"line %d of file %d is nowhere", n, i)
			}
		}
		m := c.shown(conversation.CardAction, "ja")
		expect.That(t, offers(m, "review_action") && !offers(m, card.ApproveAction), "the card shows it whole")
	}
}

// What is over the limits has no button anywhere, and says why.
func TestADifferenceOverTheLimitsHasNoButton(t *testing.T) {
	text := strings.Repeat("x", files.MaxChangedLine+1)
	c := begunConversation(t).says("", proposed(conversation.CodeGenerate, conversation.Payload{
		Stamped: conversation.Stamped{Base: new(string), Changes: []files.Change{{Path: "a",
			Is:    &files.Side{Mode: files.ModeFile, SHA256: aggregate.HashOf(text)},
			Hunks: []files.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}}))
	for locale, says := range map[string]string{"ja": "承認できません", "en": "can't be approved"} {
		m := c.shown(conversation.CardAction, locale)
		expect.That(t, !offers(m, card.ApproveAction) && !offers(m, "review_action") && offers(m, card.RejectAction),
			"%+v", m)
		expect.Has(t, expect.JSON(m), says)
	}
	_, submits := c.read()
	expect.That(t, !submits, "the dialog has the button")
}

// Each kind of change has its words, links and modes before all others.
func TestEachKindOfChangeIsDrawnInItsWords(t *testing.T) {
	side := func(mode, target string) *files.Side {
		return &files.Side{Mode: mode, SHA256: mode + target, Target: target}
	}
	for want, c := range map[string]files.Change{
		"a file becomes a link":              {Was: side("100644", ""), Is: side("120000", "b")},
		"link: (none) → b":                   {Is: side("120000", "b")},
		"link: a → b":                        {Was: side("120000", "a"), Is: side("120000", "b")},
		"link: a → (none)":                   {Was: side("120000", "a")},
		"executable · new file":              {Is: side("100755", "")},
		"no longer executable":               {Was: &files.Side{Mode: "100755"}, Is: &files.Side{Mode: "100644"}},
		"new empty folder":                   {Is: side("040000", "")},
		"folder deleted":                     {Was: side("040000", "")},
		"a folder becomes a file":            {Was: side("040000", ""), Is: side("100644", "")},
		"deleted · not text, so its content": {Was: side("100644", ""), Unshown: files.UnshownBinary},
		"changed · +3 −1 lines · too large": {Was: side("100644", "1"), Is: side("100644", "2"),
			Unshown: files.UnshownLarge, Added: 3, Removed: 1},
	} {
		got := explain.Became(c, "en", language.OneLine)
		expect.That(t, strings.Contains(got, want), "%q, want %q", got, want)
	}
}

// writing proposes new files, each with this many lines.
func writing(t *testing.T, lines ...int) *conversation.Proposal {
	var list []files.File
	for i, n := range lines {
		list = append(list, files.File{Path: fmt.Sprintf("src/%d.txt", i+1), Content: strings.Repeat("漢字を書く行\n", n)})
	}
	return changing(t, nil, conversation.Payload{Files: list})
}

// sections returns the texts of a message's sections but for the one that says whose turn it is.
func sections(blocks []slack.Block) (out []string) {
	for _, b := range blocks {
		if s, is := b.(*slack.SectionBlock); is && s.Text != nil && !strings.HasPrefix(s.Text.Text, "*👉") {
			out = append(out, s.Text.Text)
		}
	}
	return out
}

var (
	name    = regexp.MustCompile("(?m)^\\*`src/([0-9])\\.txt`\\* ")
	heading = regexp.MustCompile("^\\*(ファイルの変更|File changes|`src/[0-9]\\.txt`\\* )")
)

// Each section that begins within a file's lines names the file.
func TestWhatGoesOnIsNamedAgain(t *testing.T) {
	for locale, again := range map[string]string{"ja": "*`src/%d.txt` (続き)*\n```\n",
		"en": "*`src/%d.txt` (continued)*\n```\n"} {
		c := begunConversation(t).says("", writing(t, 300, 900, 1))
		// in the reader's language, whatever the conversation's is
		c.Aggregate.Conversation.Locale = map[string]string{"ja": "en", "en": "ja"}[locale]
		at, of, n := card.Review{Type: conversation.CardAction, ID: c.last().ActionID, TaskID: c.Head.SessionID}, 0, 0
		view, ok := card.DialogsOf(c.Aggregate).Review(at, locale)
		expect.Must(t, ok, "no dialog")
		for _, s := range sections(view.Blocks.BlockSet) {
			expect.That(t, len([]rune(s)) <= 3000, "a section of %d characters", len([]rune(s)))
			switch {
			case strings.HasPrefix(s, fmt.Sprintf(again, of)):
				n++
			case !heading.MatchString(s):
				t.Errorf("nothing says whose lines these are: %.80q", s)
			}
			for _, m := range name.FindAllStringSubmatch(s, -1) {
				of = int(m[1][0] - '0')
			}
		}
		expect.That(t, n >= 10, "%s: only %d sections go on with a file", locale, n)
	}
}

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
			Called: conversation.Called{Access: aggregate.Write,
				ToolVersion: strings.Repeat("a", map[bool]int{false: 64}[tool == "Bash"])}},
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

// How much a call moves leads on its card.
func TestACallsAmountLeads(t *testing.T) {
	order := orderSteps(1)[0]
	x := askedFor(t, order.Tool, string(order.ToolInput), func(x *call.Proposal) {
		x.Content.ToolVersion, x.Content.Mark = order.ToolVersion, order.Mark
	})
	expect.Has(t, expect.JSON(x.shown("en")), `"text":"*¥298,000 — Runs place_order on rooms*`)
}

// callViews draws a call's card in each of its states, and its dialogs.
func callViews(t *testing.T, locale string) map[string]any {
	dm := `{"recipient":"U_MORI","text":"請求書を送りました","details":[]}`
	sent := askedFor(t, "send_slack_dm", dm, nil)
	run := askedFor(t, "Bash", `{"command":"rm -rf build\nmake # `+"`x`"+`\u202e","description":"Clean","timeout":60}`,
		nil)
	ruled := aggregate.Opening{Rule: circulation.Rule{ID: "01KS000000000000000000000A", Name: "外部の書き込み", Revision: 2,
		Numbered: true},
		Askers: []circulation.Person{{User: "U_SATO"}}, Route: circulation.Route{Form: circulation.Form, Tells: "C0GENERAL",
			LeftOut: []string{"*経理*", ""}, Stages: []circulation.Stage{
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
	onward, _ := card.DialogsOf(onRoute.Aggregate).Review(card.Review{ID: onRoute.Head.CallID,
		TaskID: onRoute.Head.CallID}, locale)
	told := func(o *outside) card.Message {
		return copyOf(o.Aggregate, &aggregate.Card{CardType: task.CardOutcome, Subject: card.OutcomeCopy, User: "U_SATO"}, at,
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
		"dialog":    card.DialogsOf(sent.Aggregate).Rejection(of, locale), "whole": review, "whole_on_route": onward,
		"ending": card.DialogsOf(sent.Aggregate).Ending(card.Cancellation{TaskID: of.TaskID}, "",
			tenancy.Settings{Locale: locale}),
		"more": card.DialogsOf(sent.Aggregate).More(of, true, true, locale),
		"copy": copyOf(onRoute.Aggregate, &aggregate.Card{CardType: call.Card, Subject: call.Key, User: "U_TANAKA",
			Stage: 1, Channel: "D1"}, at, "https://example.slack.com/archives/C1/p1", onRoute.now),
		"copy_settled": copyOf(granted.Aggregate, &aggregate.Card{CardType: call.Card, Subject: call.Key, User: "U_TANAKA"},
			at, "", granted.now),
	}
	return all
}
