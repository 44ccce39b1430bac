package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

var begunAt = time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)

// onThread is a conversation that Sato began. Decisions on it are applied as by the store.
type onThread struct {
	t *testing.T
	card.Conversation
	now      time.Time
	messages []*conversation.Message
}

func begunConversation(t *testing.T) *onThread {
	t.Helper()
	in := conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: "1776675599.000100",
		TS: "1776675599.000100", User: "U_SATO", Text: "テストを直して"}
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "claude", IdleDays: 14}, begunAt))(t)
	return &onThread{t: t, Conversation: card.Conversation{Aggregate: (&conversation.Aggregate{}).After(c).(*conversation.Aggregate)}, now: begunAt}
}

func (c *onThread) do(change aggregate.Change, err error) *onThread {
	c.t.Helper()
	expect.NoError(c.t, err)
	for _, l := range change.Beside {
		if m, ok := l.Row.(*conversation.Message); ok {
			c.messages = append(c.messages, m)
		}
	}
	c.Aggregate = c.After(change).(*conversation.Aggregate)
	c.now = c.now.Add(10 * time.Second)
	return c
}

// says adds an answer of the agent, with the proposal p unless that is nil.
func (c *onThread) says(text string, p *conversation.Proposal) *onThread {
	c.t.Helper()
	return c.do(c.Answered(c.Head.Run, c.Waiting(), conversation.Answer{Text: text, Proposal: p}, c.now))
}

// wants adds an answer after which a person may make a request.
func (c *onThread) wants(request string) *onThread {
	c.t.Helper()
	return c.do(c.Answered(c.Head.Run, c.Waiting(), conversation.Answer{Text: "読みました", HandOver: request, ByButton: true},
		c.now))
}

func proposed(t conversation.ActionType, p conversation.Payload) *conversation.Proposal {
	if p.Base == nil {
		p.Base = new("")
	}
	text := p.JSON()
	by := begunAt.Add(24 * time.Hour)
	return &conversation.Proposal{
		Type: t, Payload: aggregate.Blob{JSON: aggregate.JSON(text),
			Bytes: len(text)}, Seconds: p.Seconds(), Plan: len(p.Commands), Summary: "失敗しているテストを確かめます",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by},
	}
}

// changing proposes changes of files.
func changing(t *testing.T, base *conversation.Tree, p conversation.Payload) *conversation.Proposal {
	t.Helper()
	if base == nil {
		base = &conversation.Tree{}
	}
	kept, problems := p.Complete(conversation.CodeGenerate, conversation.On{}, base)
	expect.Must(t, problems == nil, "%v", problems)
	return proposed(conversation.CodeGenerate, kept)
}

// difference proposes an edit that hides something, and a deletion.
func difference(t *testing.T) *conversation.Proposal {
	t.Helper()
	base := expect.Value((&conversation.Tree{}).Apply([]conversation.File{
		{Path: "src/a.go", Content: "\ufeffpackage a\r\n\r\nfunc A() {\r\n\treturn\r\n}\r\n\r\n// 1\r\n// 2\r\n// 3\r\n// 4\r\n// 5"},
		{Path: "old.txt", Content: "gone  \nsoon"}}))(t)
	return changing(t, base, conversation.Payload{Delete: []string{"old.txt"}, Edits: []conversation.Edit{
		{Path: "src/a.go", Old: "\treturn\n", New: "\tgo A() // `now` \u202e<!channel>\n"}, {Path: "src/a.go", From: 11,
			To: 11, New: "// five \n"}}})
}

func shell(script string) *conversation.Proposal {
	return proposed(conversation.ShellCommand, conversation.Payload{Script: script, TimeoutSeconds: 60})
}

// commands proposes several commands.
func commands() *conversation.Proposal {
	return proposed(conversation.ShellCommand, conversation.Payload{Commands: []conversation.Command{
		{Script: "npm ci", TimeoutSeconds: 120}, {Script: "npm test\u200b # `1` <!channel>\nnode a.js", TimeoutSeconds: 300},
		{Script: "npm run report > report.txt", TimeoutSeconds: 60}}})
}

// ran are the first commands of several, the last of which has not ended.
func (c *onThread) ran(n int) (all []conversation.Ran) {
	for i := range n {
		r := conversation.Ran{StartedAt: c.now, From: 12*i + 1}
		if code := 0; i < n-1 {
			r.Over, r.ExitCode, r.Millis, r.Lines = true, &code, 2_340, 12
		}
		all = append(all, r)
	}
	return all
}

var anyMember = aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}

func member(id string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T1", Member: true}
}

func (c *onThread) last() *conversation.Action { return c.Actions[len(c.Actions)-1] }

func (c *onThread) approved() *onThread {
	c.t.Helper()
	return c.do(decide.Approve(c, c.last().ActionID, member("U_SUZUKI"), anyMember, c.now))
}

// wrote ends an action that wrote some files, which somebody wants in Slack unless s is nil.
func (c *onThread) wrote(n int, s *conversation.Sending) {
	c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1",
		Changed: &conversation.FilesChanged{Files: n, Written: n, Added: 20, Names: []string{"a.go"}}})
	c.last().Sending, c.MaySend, c.Console = s, true, "https://ringi.example/console"
}

func (c *onThread) executing() *onThread {
	c.t.Helper()
	c.approved().do(c.StartRun(c.now))
	c.do(c.Claim(c.Head.Run, "i1", c.now.Add(time.Minute), c.now))
	for i := range 12 {
		c.Log = append(c.Log, conversation.LogEntry{Order: 600 + i,
			Text: fmt.Sprintf("\x1b[32mok\x1b[0m  pkg/%d `x` <!channel>", i)})
	}
	return c
}

// tooled is a proposal of a tool's call as answer-message completes it.
func tooled(name, arguments string, access aggregate.Access, with conversation.Called) *conversation.Proposal {
	with.ToolVersion, with.Access = strings.Repeat("a1", 32), access
	p := proposed(conversation.ToolCall, conversation.Payload{Tool: name, Arguments: arguments,
		Stamped: conversation.Stamped{Base: new(string), Called: with}})
	p.Tool, p.Access = name, access
	return p
}

// calling is executing for calls of tools.
func (c *onThread) calling() *onThread {
	c.t.Helper()
	c.approved().do(c.StartRun(c.now))
	return c.do(c.ClaimCall(c.Head.Run, "i1", c.now.Add(time.Minute), c.now))
}

func (c *onThread) ended(r conversation.Result) *onThread {
	c.t.Helper()
	return c.do(c.Finish(c.last().ActionID, "i1", r, c.now))
}

var conversationStates = []struct {
	name string
	card aggregate.CardType
	in   func(c *onThread)
}{
	{"action_shell", conversation.CardAction, func(c *onThread) {
		c.says("", shell("cd src\nfor f in *.go; do\n\tgofmt -l \"$f\" # `x`\u200b\ndone"))
	}},
	{"action_argv", conversation.CardAction, func(c *onThread) {
		c.says("", proposed(conversation.TestRun,
			conversation.Payload{Argv: []string{"go", "test", "./... ", "-run", "", "a\nb"}, TimeoutSeconds: 300}))
	}},
	{"action_files", conversation.CardAction, func(c *onThread) {
		c.says("", changing(c.t, nil, conversation.Payload{Files: []conversation.File{{Path: "src/main.go", Content: "package main\n"}, {Path: "src/<!here>`.go"}}}))
	}},
	{"action_difference", conversation.CardAction, func(c *onThread) { c.says("", difference(c.t)) }},
	{"action_changed", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1",
			Changed: &conversation.FilesChanged{Files: 7, Added: 20, Removed: 3, Names: []string{"a.go", "src/<!here>`.go", "c"}}})
	}},
	{"action_deleted", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make clean")).executing().ended(conversation.Result{
			Status: conversation.ActionSucceeded, Version: "v1",
			Changed: &conversation.FilesChanged{Files: 4, Removed: 3, Names: []string{"a.go", "out/a.o", "out/b.o"},
				Deleted: 3, DeletedNames: []string{"out/a.o", "out/b.o"}}})
	}},
	{"files_offered", conversation.CardAction, func(c *onThread) { c.wrote(2, nil) }},
	{"files_too_many", conversation.CardAction, func(c *onThread) { c.wrote(11, nil) }},
	{"files_wanted", conversation.CardAction, func(c *onThread) {
		c.wrote(2, &conversation.Sending{By: "U_TANAKA", At: c.now, State: conversation.SendingUploaded})
	}},
	{"files_sent", conversation.CardAction, func(c *onThread) {
		c.wrote(2, &conversation.Sending{By: "U_TANAKA", At: c.now, State: conversation.SendingDone, Ended: &c.now})
	}},
	{"files_not_sent", conversation.CardAction, func(c *onThread) {
		c.wrote(2, &conversation.Sending{By: "U_TANAKA", At: c.now, State: conversation.SendingFailed,
			Error: conversation.ReasonNotShared, Ended: &c.now})
	}},
	{"files_no_scope", conversation.CardAction, func(c *onThread) {
		c.wrote(2, nil)
		c.MaySend = false
	}},
	{"action_not_taken", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.do(c.Crashed(c.now.Add(time.Hour)))
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1"})
	}},
	{"action_source_deleted", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make"))
		x := c.last()
		x.Status, x.CancelReason, x.CompletedAt = conversation.ActionCancelled, conversation.ReasonDeleted, &c.now
	}},
	{"action_source_edited", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make"))
		c.last().EditedAt = &c.now
	}},
	{"action_call", conversation.CardAction, func(c *onThread) {
		c.Aggregate.Conversation.Provider = "anthropic"
		c.says("", tooled("list_employees", `{"department":"営業部","status":"all"}`, aggregate.Read,
			conversation.Called{Unseen: true}))
	}},
	{"action_call_server", conversation.CardAction, func(c *onThread) {
		c.says("", tooled("rooms.book_room", `{"room":"A <!channel> `+"`x`"+`","people":["a@example.com"]}`, aggregate.Write,
			conversation.Called{LeftOut: `{"notify":true}`}))
	}},
	{"action_call_returned", conversation.CardAction, func(c *onThread) {
		c.says("", tooled("list_employees", `{"department":null,"status":"active"}`, aggregate.Read,
			conversation.Called{})).calling().
			ended(conversation.Result{Status: conversation.ActionSucceeded,
				Call: &aggregate.Blob{S3Key: "talks/x", Bytes: 12345}})
	}},
	{"action_call_refused", conversation.CardAction, func(c *onThread) {
		c.says("", tooled("list_employees", `{"department":null,"status":"active"}`, aggregate.Read,
			conversation.Called{})).calling().
			ended(conversation.Result{Status: conversation.ActionFailed, Error: "tool_failed",
				ErrorDetail: "freee <!channel> は使えません"})
	}},
	{"action_call_unknown", conversation.CardAction, func(c *onThread) {
		c.says("", tooled("send_slack_dm", `{"recipient":"U_SATO","text":"hi","details":[]}`, aggregate.Write,
			conversation.Called{})).calling()
		c.do(c.Crashed(c.now.Add(time.Hour)))
	}},
	{"action_call_cancelled", conversation.CardAction, func(c *onThread) {
		c.says("", tooled("send_slack_dm", `{"recipient":"U_SATO","text":"hi","details":[]}`, aggregate.Write,
			conversation.Called{})).calling()
		c.do(c.Cancel(c.last().ActionID, member("U_SATO"), anyMember, c.now))
	}},
	{"action_long", conversation.CardAction, func(c *onThread) {
		c.says("",
			shell(strings.Repeat("echo 漢字🎉 & <x>\n", 900)))
	}},
	{"action_changed_before", conversation.CardAction, func(c *onThread) {
		base := expect.Value((&conversation.Tree{}).Apply([]conversation.File{{Path: "a", Content: "1\n"},
			{Path: "b", Content: "1\n"}}))(c.t)
		kept, _ := conversation.Payload{Files: []conversation.File{{Path: "a", Content: "2\n"},
			{Path: "b", Content: "2\n"}}}.Complete(
			conversation.CodeGenerate, conversation.On{}, base)
		conversation.MadeBefore(kept.Changes, conversation.Made{Paths: map[string][]conversation.Maker{
			"a": {{Action: 1, Seen: true}, {Action: 2}}}, Unknown: true})
		c.says("", proposed(conversation.CodeGenerate, kept))
	}},
	{"action_changed_again", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v2",
			Changed: &conversation.FilesChanged{Files: 7, Added: 12, Removed: 3, Names: []string{"a", "b"},
				Makers: [][]conversation.Maker{{{Action: 3, Seen: true}}, nil}}})
	}},
	{"action_commands", conversation.CardAction, func(c *onThread) { c.says("", commands()) }},
	{"action_commands_executing", conversation.CardAction, func(c *onThread) {
		c.says("", commands()).executing()
		c.do(c.Began(c.last().ActionID, c.last().Claim.Invocation, c.ran(2), c.now))
	}},
	{"action_commands_failed", conversation.CardAction, func(c *onThread) {
		c.says("", commands()).executing()
		two, ran := 2, c.ran(2)
		ran[1].Over, ran[1].ExitCode, ran[1].Millis, ran[1].Lines = true, &two, 61_240, 3
		c.ended(conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonExit, Commands: ran,
			Lines: 15})
	}},
	{"action_commands_unknown", conversation.CardAction, func(c *onThread) {
		c.says("", commands()).executing()
		c.do(c.Began(c.last().ActionID, c.last().Claim.Invocation, c.ran(2), c.now))
		c.do(c.Crashed(c.now.Add(time.Hour)))
	}},
	{"action_approved", conversation.CardAction, func(c *onThread) { c.says("", shell("make")).approved() }},
	{"action_auto", conversation.CardAction, func(c *onThread) {
		p := proposed(conversation.TestRun, conversation.Payload{Argv: []string{"go", "test"}, TimeoutSeconds: 30})
		p.Rule = "go test"
		c.says("", p)
	}},
	{"action_executing", conversation.CardAction, func(c *onThread) { c.says("", shell("make")).executing() }},
	{"action_succeeded", conversation.CardAction, func(c *onThread) {
		code := 0
		c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionSucceeded,
			Tests: &conversation.Tests{Passed: 12}, ExitCode: &code, Lines: 612, Dropped: 112,
			Missing: []conversation.Lines{{From: 1, To: 112}}})
	}},
	{"action_flooded", conversation.CardAction, func(c *onThread) {
		c.says("", shell("seq 10000")).executing()
		for i := range c.Log {
			c.Log[i].Order, c.Log[i].Text = 10_000-len(c.Log)+i, fmt.Sprint(10_000-len(c.Log)+i+1)
		}
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, Lines: 10_000, Dropped: 9500,
			Missing: []conversation.Lines{{From: 1, To: 9500}}})
	}},
	{"action_failed", conversation.CardAction, func(c *onThread) {
		code := 2
		c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionFailed,
			Error: conversation.ReasonExit, ErrorDetail: "make: *** [all] <!channel>", ExitCode: &code})
	}},
	{"action_files_lost", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.ended(conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonFilesLost, Gone: true})
	}},
	{"action_source_lost", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.Aggregate.Conversation.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7,
			Commit: strings.Repeat("c0", 20), State: conversation.SourceThere}
		c.ended(conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonFilesLost, Gone: true})
	}},
	{"action_unknown", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.do(c.Crashed(c.now.Add(time.Hour)))
	}},
	{"action_rejected", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make"))
		c.do(decide.Reject("本番は *だめ* です")(c, c.last().ActionID, member("U_SUZUKI"), anyMember, c.now))
	}},
	{"action_expired", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make"))
		c.do(c.Expire(begunAt.Add(25 * time.Hour)))
	}},
	{"action_cancelled", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.do(c.Cancel(c.last().ActionID, member("U_SATO"), anyMember, c.now))
	}},
	{"action_late", conversation.CardAction, func(c *onThread) {
		c.says("", shell("make")).executing()
		c.do(c.Cancel(c.last().ActionID, member("U_SATO"), anyMember, c.now))
		c.ended(conversation.Result{Status: conversation.ActionSucceeded})
	}},
	{"said", conversation.CardMessage, func(c *onThread) {
		c.says("# 直しました\n\n**2 件** のテスト:\n\n```go\nif a < b && c {\n}\n```\n<!channel> <@U_SATO> と @here に伝えます。", nil)
	}},
	{"said_by_system", conversation.CardMessage, func(c *onThread) {
		c.do(c.Aggregate.Refused(c.Head.Run, c.Waiting(), conversation.Refusal{Reason: conversation.ReasonRunFailed}, c.now))
	}},
	{"said_of_task", conversation.CardMessage, func(c *onThread) {
		c.do(c.Answered(c.Head.Run, c.Waiting(), conversation.Answer{HandOver: "ノート PC を 3 台購入する。"}, c.now))
		c.messages = nil
		c.do(c.TaskEnded(c.Handed[0].TaskID, task.Ended{As: task.TaskFailed, Reason: task.ReasonToolUnknown, At: c.now},
			c.now))
	}},
	{"said_of_typed", conversation.CardMessage, func(c *onThread) {
		c.do(c.Answered(c.Head.Run, c.Waiting(), conversation.Answer{}, c.now))
		own := conversation.Own{Type: conversation.CodeGenerate, Path: "a.txt", Content: "<x>", Summary: "x"}
		c.do(c.Aggregate.Type("form", own, member("U_SATO"), anyMember, c.now))
		c.do(c.StartRun(c.now))
		c.do(c.RefuseTyped(c.Head.Run, c.WaitingTyped(), []string{"内容: *3,001* 行あります <!here>。"}, "", c.now))
	}},
	{"request", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。\u200b <!channel>\n- 予算: `30 万円`")
	}},
	{"request_long", conversation.CardOffered, func(c *onThread) { c.wants(strings.Repeat("行\n", 2000)) }},
	{"request_made", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.do(c.MakeRequest(c.OpenOffer().ID, member("U_SATO"), anyMember, c.now))
	}},
	{"request_closed", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.do(c.End(member("U_SATO"), anyMember, c.now))
	}},
	{"request_gone", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.Aggregate.Offered = nil
	}},
	{"session_closed", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
	}},
	{"session_idle", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.CloseIdle(c.now.Add(15 * 24 * time.Hour)))
	}},
	{"session_forgotten", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
		c.now = *c.Head.ForgottenAt
	}},
	{"session_reopened", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
		c.do(c.Reopen(member("U_SATO"), anyMember, c.now))
	}},
}

// shown draws the newest card of a type with all of its contents.
func (c *onThread) shown(typ aggregate.CardType, locale string) card.Message {
	c.t.Helper()
	s := tenancy.DefaultSettings()
	s.Locale = locale
	c.Aggregate.Conversation.Locale = locale
	for i := len(c.Cards) - 1; i >= 0; i-- {
		if c.Cards[i].CardType != typ {
			continue
		}
		t := c.Conversation
		if typ == conversation.CardMessage {
			t.Message = c.messages[0]
		}
		return card.RenderConversation(t, c.Cards[i], s, c.now)
	}
	c.t.Fatalf("there is no card %s among %d", typ, len(c.Cards))
	return card.Message{}
}

// What a person proposes stands on its card as that person's words, not as the agent's.
func TestAPersonsOwnProposalHasThatPersonsWords(t *testing.T) {
	for _, locale := range language.All {
		c := begunConversation(t)
		c.says("はい", nil)
		c.do(c.Propose(*shell("make"), member("U_SATO"), anyMember, c.now))
		text := string(expect.Value(json.Marshal(c.shown(conversation.CardAction, locale)))(t))
		expect.That(t, strings.Contains(text, "失敗しているテスト") && strings.Contains(text, `@U_SATO`) &&
			!strings.Contains(text, "claude"),
			"%s: %s", locale, text)
	}
}

// An action that one click approves is complete on its card: nothing is cut, and invisible characters are spelled out.
func TestAnActionThatIsNotShownWholeIsApprovedInItsDialog(t *testing.T) {
	has := func(m card.Message, action string) bool {
		return strings.Contains(string(expect.Value(json.Marshal(m))(t)), `"action_id":"`+action+`"`)
	}
	short := begunConversation(t).says("", shell("echo a\u200bb"))
	m := short.shown(conversation.CardAction, "ja")
	if !has(m, card.ApproveAction) || has(m, card.OpenActionReview) ||
		!strings.Contains(string(expect.Value(json.Marshal(m))(t)), "⟨U+200B⟩") {
		t.Errorf("%+v", m)
	}
	script := ""
	for i := range 1200 {
		script += fmt.Sprintf("echo %d\n", i)
	}
	c := begunConversation(t).says("", shell(script))
	if m := c.shown(conversation.CardAction, "ja"); has(m, card.ApproveAction) || !has(m, card.OpenActionReview) {
		t.Errorf("%+v", m)
	}
	s, seen, last := tenancy.DefaultSettings(), "", card.Review{Type: conversation.CardAction, ID: c.last().ActionID,
		TaskID: c.Head.SessionID}
	for page := 0; ; page++ {
		last.Page = page
		view, ok := c.Review(last, s)
		expect.Must(t, ok, "no dialog")
		text := string(expect.Value(json.Marshal(view.Blocks))(t))
		seen += text
		if view.Submit != nil {
			break
		}
		expect.Must(t, page <= 50, "the dialog has no end")
	}
	for _, i := range []int{0, 599, 1199} {
		expect.That(t, strings.Contains(seen, fmt.Sprintf("echo %d\\n", i)), "line %d is nowhere", i)
	}
}

// Whether a card has changed follows from its rows and from the output of a running action.
func TestAConversationsCardIsDrawnAnewOnlyWhenItShowsSomethingElse(t *testing.T) {
	c := begunConversation(t).says("", shell("make")).executing()
	before := card.Hash(c.shown(conversation.CardAction, "ja"))
	c.Log = append(c.Log, conversation.LogEntry{Order: 612, Text: "more"})
	expect.That(t, card.Hash(c.shown(conversation.CardAction, "ja")) != before, "a new line of output changes nothing")
}

func TestWhoeverEndsAConversationUnderARunningActionIsToldWhatToDoFirst(t *testing.T) {
	c := begunConversation(t).says("", shell("make")).executing()
	_, err := c.End(member("U_SATO"), anyMember, c.now)
	said := card.DialogsOf(c.Aggregate).Refused(err, tenancy.Settings{Locale: "ja"})
	expect.Has(t, said, "先に操作を取り消してください")
}

// endDialog is the dialog that ends a conversation.
func endDialog(locale string) slack.ModalViewRequest {
	at := card.Cancellation{TaskID: "53336444-3f36-80ce-9171-c57cbb83b9a6"}
	return card.DialogsOf(&conversation.Aggregate{}).Ending(at, "", tenancy.Settings{Locale: locale})
}

// Whoever ends a conversation is told who can read it, and what becomes of it.
func TestTheDialogThatEndsAConversationSaysWhoReadsIt(t *testing.T) {
	for _, kept := range []bool{false, true} {
		c := begunConversation(t)
		c.Aggregate.Conversation.Locale, c.Aggregate.Conversation.IsCached = "en", kept
		view := card.DialogsOf(c.Aggregate).Ending(card.Cancellation{TaskID: c.Head.SessionID}, "", tenancy.Settings{})
		text := string(expect.Value(json.Marshal(view))(t))
		expect.Has(t, text, "Only administrators can see what was sent to AI models")
		expect.Is(t, strings.Contains(text, "gone 35 days later"), !kept, "kept: %t", kept)
	}
}
