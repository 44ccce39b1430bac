package card_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
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
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "claude"}, begunAt))(t)
	a := (&conversation.Aggregate{}).After(c).(*conversation.Aggregate)
	return &onThread{t: t, Conversation: card.Conversation{Aggregate: a}, now: begunAt}
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
	return c.do(c.Answered(c.Head.Run, c.Waiting(), conversation.Answer{Text: "読みました", Request: request}, c.now))
}

func proposed(t conversation.ActionType, p conversation.Payload) *conversation.Proposal {
	if p.Base == nil {
		p.Base = new("")
	}
	text := p.JSON()
	by := begunAt.Add(24 * time.Hour)
	return &conversation.Proposal{Type: t, Payload: aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)},
		Seconds: p.TimeoutSeconds, Summary: "失敗しているテストを確かめます",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by}}
}

// changing proposes changes of files.
func changing(t *testing.T, base *files.Tree, p conversation.Payload) *conversation.Proposal {
	t.Helper()
	if base == nil {
		base = &files.Tree{}
	}
	kept, problems := p.Complete(conversation.CodeGenerate, conversation.On{}, base)
	expect.Must(t, problems == nil, "%v", problems)
	return proposed(conversation.CodeGenerate, kept)
}

// difference proposes an edit that hides something, and a deletion.
func difference(t *testing.T) *conversation.Proposal {
	t.Helper()
	base := expect.Value((&files.Tree{}).Apply([]files.File{
		{Path: "src/a.go", Content: "\ufeffpackage a\r\n\r\nfunc A() {\r\n\treturn\r\n}\r\n\r\n// 1\r\n// 2\r\n// 3\r\n// " +
			"4\r\n// 5"},
		{Path: "old.txt", Content: "gone  \nsoon"}}))(t)
	return changing(t, base, conversation.Payload{Delete: []string{"old.txt"}, Edits: []files.Edit{
		{Path: "src/a.go", Old: "\treturn\n", New: "\tgo A() // `now` \u202e<!channel>\n"}, {Path: "src/a.go", Old: "// 5",
			New: "// five \n"}}})
}

func shell(script string) *conversation.Proposal {
	return proposed(conversation.ShellCommand, conversation.Payload{Script: script, TimeoutSeconds: 60})
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

// wrote ends an action that wrote some files.
func (c *onThread) wrote(n int) {
	c.says("", shell("make")).executing().ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1",
		Changed: &conversation.FilesChanged{Files: n, Added: 20, Names: []string{"a.go"}}})
	c.Console = "https://ringi.example/console"
}

// asks proposes a command; cancels cancels the newest action.
func (c *onThread) asks() *onThread { return c.says("", shell("make")) }

func (c *onThread) cancels() *onThread {
	return c.do(c.Cancel(c.last().ActionID, member("U_SATO"), anyMember, c.now))
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

// lists has the agent make a listed read.
func (c *onThread) lists(arguments string) *onThread {
	called := conversation.Called{ToolVersion: strings.Repeat("a1", 32), Access: aggregate.Read}
	p := proposed(conversation.ToolCall, conversation.Payload{Tool: "list_employees", Arguments: arguments,
		Stamped: conversation.Stamped{Base: new(string), Called: called}})
	p.Tool, p.Access, p.Rule = "list_employees", aggregate.Read, "listed"
	return c.says("", p)
}

// calling is executing for a listed read.
func (c *onThread) calling() *onThread {
	c.t.Helper()
	return c.do(c.ClaimCall(c.Head.Run, "i1", c.now.Add(time.Minute), c.now))
}

func (c *onThread) ended(r conversation.Result) *onThread {
	c.t.Helper()
	return c.do(c.Finish(c.last().ActionID, "i1", r, c.now))
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
		return card.Render(t, c.Cards[i], s, card.Around{}, c.now)
	}
	c.t.Fatalf("there is no card %s among %d", typ, len(c.Cards))
	return card.Message{}
}

// An action that one click approves is complete on its card: nothing is cut, and invisible characters are spelled out.
func TestAnActionThatIsNotShownWholeIsApprovedInItsDialog(t *testing.T) {
	short := begunConversation(t).says("", shell("echo a\u200bb"))
	m := short.shown(conversation.CardAction, "ja")
	expect.That(t, offers(m, card.ApproveAction) && !offers(m, "review_action") &&
		strings.Contains(expect.JSON(m), "⟨U+200B⟩"), "%+v", m)
	script := ""
	for i := range 1200 {
		script += fmt.Sprintf("echo %d\n", i)
	}
	c := begunConversation(t).says("", shell(script))
	m = c.shown(conversation.CardAction, "ja")
	expect.That(t, !offers(m, card.ApproveAction) && offers(m, "review_action"), "%+v", m)
	seen, submits := c.read()
	expect.Must(t, submits, "a dialog without a button")
	for _, i := range []int{0, 599, 1199} {
		expect.That(t, strings.Contains(seen, fmt.Sprintf("echo %d\\n", i)), "line %d is nowhere", i)
	}
}

// An action that nobody can read is approved neither on its card nor by a click that is older.
func TestAnActionThatNobodyCanReadIsNotApproved(t *testing.T) {
	c := begunConversation(t).says("", shell("make"))
	x := c.last()
	x.Payload.JSON = `{"script":["make"]}`
	x.Gate.AskedSum = x.Sum()
	m := c.shown(conversation.CardAction, "ja")
	expect.That(t, !offers(m, card.ApproveAction), "the card approves it")
	_, err := decide.Approve(c.Aggregate, x.ActionID, member("U_SUZUKI"), anyMember, c.now)
	expect.That(t, errors.Is(err, aggregate.ErrNotAllowed{Rule: aggregate.RuleUnread}), "a click approves it: %v", err)
}

// Whether a card has changed follows from its rows and from the output of a running action.
func TestAConversationsCardIsDrawnAnewOnlyWhenItShowsSomethingElse(t *testing.T) {
	c := begunConversation(t).says("", shell("make")).executing()
	before := card.Hash(c.shown(conversation.CardAction, "ja"))
	c.Log = append(c.Log, conversation.LogEntry{Order: 612, Text: "more"})
	expect.That(t, card.Hash(c.shown(conversation.CardAction, "ja")) != before, "a new line of output changes nothing")
}

// pulling returns a conversation of a source in which a pull request waits.
func pulling(t *testing.T, ci tenancy.CI) *onThread {
	t.Helper()
	c := begunConversation(t)
	commit := strings.Repeat("c0", 20)
	c.Aggregate.Conversation.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7,
		Commit: commit, State: conversation.SourceThere}
	was := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a.py", Content: "1\n"}}))(t)
	is := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a.py", Content: "2\u202e\n"}}))(t)
	base := ""
	p := conversation.Payload{Tool: "open_pull_request",
		Arguments: `{"title":"Mend it","body":"*why* <@U1>\n` + "```" + `"}`}
	p.Base, p.Changes = &base, conversation.Commit{}.Changes(was, is)
	sh := aggregate.HashOf("x")
	p.Changes = append([]files.Change{{Path: "run.sh", Was: &files.Side{Mode: "100644", SHA256: sh},
		Is: &files.Side{Mode: "100755", SHA256: sh}}}, p.Changes...)
	p.Push = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, Into: "main",
		CI: ci}
	p.Called = conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}
	proposal := proposed(conversation.ToolCall, p)
	proposal.Tool, proposal.Access, proposal.Push = p.Tool, p.Access, p.Push
	return c.says("", proposal)
}

// The message about where the files are from names the repository once, as a link.
func TestTheSourceIsNamedOnce(t *testing.T) {
	c := begunConversation(t).says("x", nil)
	c.Aggregate.Conversation.Source = pulling(t, tenancy.CISkip).Aggregate.Conversation.Source
	c.messages[0] = &conversation.Message{Sender: conversation.FromSystem, Reason: conversation.ReasonSourceThere,
		Content: "ファイル:\n" + c.Aggregate.Conversation.Source.String()}
	expect.Is(t, strings.Count(c.shown(conversation.CardMessage, "ja").Text, "acme/shop@"), 1)
}

// pulled ends the pull request that pulling has.
func pulled(change func(x *conversation.Action)) func(c *onThread) {
	return func(c *onThread) {
		*c = *pulling(c.t, tenancy.CIRun)
		x := c.Actions[0]
		x.CompletedAt = &begunAt
		change(x)
	}
}

// lost is a pull request of which nobody knows whether it is there.
func lost(x *conversation.Action) {
	x.Status, x.Outcome, x.Error = conversation.ActionFailed, conversation.OutcomeUnknown, conversation.ReasonUnknown
	x.Pushed.Commit = strings.Repeat("d", 40)
}
