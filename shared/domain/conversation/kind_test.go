package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// The test repeats every allowed move, so that a change of the table requires a change here. Those of actions are the
// specification's.
func TestStatusesMoveAsTheyMay(t *testing.T) {
	sessions := map[[2]Status]bool{
		{Open, Executing}: true, {Open, Closed}: true, {Open, Failing}: true, {Executing, Open}: true,
		{Closed, Open}: true, {Failing, Open}: true, {Failing, Executing}: true, {Failing, Closed}: true,
	}
	all := []Status{Open, Executing, Closed, Failing}
	for _, from := range all {
		for _, to := range all {
			expect.Is(t, Moves.Allows(from, to), sessions[[2]Status{from, to}], "session %s → %s", from, to)
		}
	}
	every := []ActionStatus{ActionPending, ActionApproved, ActionExecuting, ActionSucceeded, ActionFailed, ActionCancelled}
	for _, from := range every {
		expect.Is(t, slices.Contains(every[3:], from), from.Over(), "%s is over: %v", from, from.Over())
	}
}

func TestAThreadHasOneConversation(t *testing.T) {
	id := ID("T1", "C1", "1713450000.000100")
	expect.That(t, ValidID(id) && !ValidID("x") && !ValidID(id+"0"), "%s has not the form of an id, or others have", id)
	expect.Is(t, ID("T1", "C1", "1713450000.000100"), id, "made again")
	for _, other := range []string{ID("T2", "C1", "1713450000.000100"), ID("T1", "C11", "713450000.000100"),
		MessageID("T1", "C1", "1713450000.000100")} {
		expect.That(t, other != id, "%s twice", id)
	}
}

// crowded returns a conversation with as many rows as possible: many people write, and many cards are posted.
func crowded(t *testing.T) *Aggregate {
	tb, _ := pending(t, ShellCommand)
	tb.must(tb.load().Reject(tb.load().Current().ActionID, "no", person(suzuki), policy, tb.now))
	tb.must(tb.load().StartRun(tb.now))
	a := tb.load()
	a.Inbox = nil
	for n := range 2 * mostTogether {
		at := tb.now.Add(time.Duration(n) * time.Second)
		a.Inbox = append(a.Inbox, &Inbox{Message: MessageKey(at, fmt.Sprint("m", n)), User: fmt.Sprint("U", n),
			TS: fmt.Sprintf("%d.000100", at.Unix()), CreatedAt: at})
	}
	for n := range mostCards + mostParts {
		subject := MessageSubject(MessageKey(tb.now, fmt.Sprint("shown", n)), 0)
		a.Cards = append(a.Cards, &aggregate.Card{CardType: CardMessage, Subject: subject, State: aggregate.CardPosted,
			Hash: "h", CreatedAt: tb.now})
	}
	return a
}

// A message whose update is under way keeps its row, so that it is drawn again if the update fails.
func TestACardThatIsBeingUpdatedStays(t *testing.T) {
	a := crowded(t)
	posted := a.Cards[len(a.Cards)-mostCards-mostParts:]
	oldest, next := posted[0], posted[1]
	oldest.Hash, oldest.ClaimedBy = "", "01DRAWING"
	c := expect.Value(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok"}, a.Head.ChangedAt.Add(time.Minute)))(t)
	for _, r := range c.Drop {
		expect.That(t, r.Key() != oldest.Key(), "the card is removed")
	}
	expect.That(t, slices.ContainsFunc(c.Drop, func(r aggregate.Row) bool { return r.Key() == next.Key() }),
		"no card is removed")
}

// Even the largest combination of messages, answers and rows fits into one transaction.
func TestWhateverComesTogetherIsOneTransaction(t *testing.T) {
	a := crowded(t)
	now := a.Head.ChangedAt.Add(time.Minute)
	var folded []string
	for _, i := range a.Waiting() {
		folded = append(folded, i.Message)
	}
	long := Answer{Text: strings.Repeat("a", (mostParts+1)*partSize), Usage: aggregate.Usage{ID: "u", Cost: 5},
		Proposal: proposal(ShellCommand, now, ""), Request: "do it", Summary: "so far", Through: MessageKey(now, "x"),
		Folded: folded, Read: []Attachment{{FileID: "F1"}}}
	closed := *a
	over := *a.Conversation
	over.Status, closed.Conversation = Closed, &over
	for n := range 120 {
		closed.Cards = append(closed.Cards, &aggregate.Card{CardType: CardSession,
			Subject: fmt.Sprint(SessionSubject, "#", n), State: aggregate.CardPosted})
	}
	for name, decide := range map[string]Decision{
		"after its end": func(*Aggregate) (aggregate.Change, error) { return closed.TurnAway(now) },
		"an answer": func(a *Aggregate) (aggregate.Change, error) {
			return a.Answered(a.Head.Run, a.Waiting(), long, now)
		},
		"a sentence":    func(a *Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, now) },
		"a failed try":  func(a *Aggregate) (aggregate.Change, error) { return a.Tried(a.Head.Run, "x", long, now) },
		"the end of it": func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, now) },
	} {
		c, err := decide(a)
		// answer-message additionally counts the messages of each author.
		// the actions of a Change's transaction, including the head: DynamoDB allows 100
		n := 1 + len(c.Rows) + len(c.Drop) + len(c.Rely) + len(c.Owned) + len(c.Audit) + len(c.Beside) + len(c.Counts) +
			mostTogether
		expect.That(t, err == nil && n <= 100, "%s: %d writes, %v", name, n, err)
	}
}

// Each line of a conversation has the four fields, and an error's a code and a text.
func TestEachLineOfTheLogHasItsFields(t *testing.T) {
	var b bytes.Buffer
	was := slog.Default()
	defer slog.SetDefault(was)
	slog.SetDefault(slog.New(slog.NewJSONHandler(&b, nil)))
	for _, event := range Events {
		for _, failed := range []bool{false, true} {
			b.Reset()
			if failed {
				LogError(t.Context(), event, "s", "a", "x", CodeValidation, "why")
			} else {
				Log(t.Context(), event, "s", "a", "")
			}
			var line map[string]any
			expect.NoError(t, json.Unmarshal(b.Bytes(), &line))
			action, known := line["actionId"]
			expect.That(t, known && (action == "x") == failed, "%v", line)
			expect.That(t, line["sessionId"] == "s" && line["agentId"] == "a" && line["event"] == string(event), "%v", line)
			expect.That(t, !failed || line["errorCode"] == string(CodeValidation) && line["errorMessage"] == "why", "%v", line)
		}
	}
}

// makes asserts that what a person does on the newest action writes these audit entries, and commits it.
func (tb *table) makes(do act, who string, entries ...string) {
	tb.t.Helper()
	a := tb.load()
	c, err := do(tb, aggregate.Last(a.Actions), person(who), policy)
	expect.NoError(tb.t, err)
	var got []string
	for _, e := range c.Audit {
		got = append(got, string(e.Action))
	}
	expect.Same(tb.t, got, entries)
	expect.NoError(tb.t, tb.commit(a.Head, c))
}

// The agent has a turn for the reason of what is sent back.
func TestAnActionIsSentBack(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	said := len(tb.lists)
	tb.makes(rejecting, tanaka, "action.rejected")
	a := tb.load()
	x := a.Actions[0]
	expect.That(t, x.Status == ActionCancelled && x.CancelReason == ReasonRejected && x.CancelledBy == tanaka &&
		x.ErrorDetail == "no" &&
		x.Gate.Status == aggregate.Rejected && x.Gate.RejectedBy == tanaka && a.Current() == nil, "%+v", x)
	expect.Is(t, len(tb.lists), said+1, "messages")
	expect.That(t, len(a.Inbox) > 0 && a.Next(tb.now).State == StateAnswer, "the agent has no turn")
	tb.makes(rejecting, tanaka)
	expect.Fails(t, expect.Err(approving(tb, x, person(tanaka), policy)), aggregate.ErrDecided{Status: "rejected",
		By: tanaka, At: *x.Gate.RejectedAt})
}

func TestNobodyStampsAnotherPayloadThanIsAsked(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	tb.forged(func(x *Action) { x.Payload = proposal(ShellCommand, start.AddDate(0, 0, 1), "").Payload })
	expect.Fails(t, expect.Err(approving(tb, x, person(suzuki), policy)), aggregate.ErrConflict)
	tb.makes(rejecting, suzuki, "action.rejected")
}

// What was looked up is a condition of the commit: the settings, and rows such as a delegation or a tool's permission.
func TestAnActionReliesOnWhatWasLookedUp(t *testing.T) {
	on, settings := aggregate.Owned{Key: "DELEGATE", Rev: 4}, tenancy.SettingsAt(3)
	begun, p, by := opened(t).load(), proposal(ShellCommand, start, ""), person(suzuki)
	tb, x := pending(t, ShellCommand)
	read := opened(t)
	expect.NoError(t, read.answer(listedRead()))
	for name, tt := range map[string]struct {
		c    aggregate.Change
		want aggregate.Owned
	}{
		"proposed by an agent": {expect.Value(begun.Answered(begun.Head.Run, begun.Waiting(), Answer{Text: "ok",
			Proposal: p}, start))(t), settings},
		"proposed by a person": {expect.Value(begun.Propose(*p, by, policy, start))(t), settings},
		"stamped": {expect.Value(tb.load().Act(x.ActionID, x.Gate.Acting(circulation.Stamp, by, ""), by, policy, start,
			on))(t), on},
		"claimed": {expect.Value(read.load().ClaimCall(read.head.Run, "i1", start.Add(time.Minute), start, on))(t), on},
	} {
		expect.That(t, slices.Equal(tt.c.Owned, []aggregate.Owned{tt.want}), "%s, it relies on %+v", name, tt.c.Owned)
	}
}

var version = strings.Repeat("a1", 32)

// call returns a proposal of a tool's call, which the settings approve unless rule is empty.
func call(access aggregate.Access, rule string) *Proposal {
	text := aggregate.JSON(`{"tool":"list_employees","arguments":"{\"status\":\"all\"}","base":"","tool_version":"` +
		version + `","access":"` + string(access) + `"}`)
	return &Proposal{Type: ToolCall, Payload: aggregate.Blob{JSON: text, Bytes: len(text)}, Terms: terms(start),
		Rule: rule, Tool: "list_employees", Access: access}
}

// listedRead is a read that the settings list.
func listedRead() *Proposal { return call(aggregate.Read, "listed") }

func (tb *table) claimCall(invocation string) error {
	return tb.do(tb.load().ClaimCall(tb.load().Head.Run, invocation, tb.now.Add(2*time.Minute), tb.now))
}

// calling returns a conversation with a listed read that executes under the claim of "i1".
func calling(t testing.TB) (*table, *Action) {
	t.Helper()
	tb := opened(t)
	expect.NoError(t, errors.Join(tb.answer(listedRead()), tb.claimCall("i1")))
	return tb, tb.load().Current()
}

func TestACallIsClaimedAndExecutedByItsOwnStateAlone(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(listedRead()))
	expect.Is(t, tb.load().Next(tb.now).State, StateCall)
	expect.Fails(t, tb.claim("i1"), aggregate.ErrMoved)
	expect.Fails(t, expect.Err(tb.load().ClaimCall(tb.head.Run-1, "i1", tb.now, tb.now)), aggregate.ErrSuperseded)
	expect.NoError(t, tb.claimCall("i1"))
	expect.Fails(t, tb.claimCall("i2"), aggregate.ErrInFlight)
	expect.Fails(t, expect.Err(tb.load().Crashed(tb.now)), aggregate.ErrInFlight)

	command, _ := pending(t, ShellCommand)
	expect.NoError(t, errors.Join(command.approve(command.load().Current(), suzuki), command.begin()))
	expect.Fails(t, command.claimCall("i1"), aggregate.ErrMoved)
}

// Nobody is asked about an agent's calls, and none of them writes, whatever a row or a caller says.
func TestAnAgentCallsListedReadsAlone(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(listedRead()))
	expect.Is(t, tb.load().Current().ApprovedBy, ApprovedByAuto)
	for name, p := range map[string]*Proposal{"a write": call(aggregate.Write, ""), "a listed write": call(aggregate.Write,
		"listed"), "a read that nobody listed": call(aggregate.Read, "")} {
		expect.That(t, errors.As(opened(t).answer(p), new(ErrType)), "%s is proposed", name)
		_, own := opened(t).load().Propose(*p, person(sato), policy, start)
		expect.That(t, errors.As(own, new(ErrType)), "%s is proposed by a person", name)
	}
	for name, change := range map[string]func(x *Action){
		"it writes":         func(x *Action) { x.Access = aggregate.Write },
		"a person approved": func(x *Action) { x.ApprovedBy = ApprovedByUser },
		"nobody listed it":  func(x *Action) { x.Rule = "" },
		"a person stamped it": func(x *Action) {
			x.ApprovedBy, x.Gate.Route = ApprovedByUser, new(circulation.BySettings(true))
			x.Gate.AskedSum = x.Sum()
			act := x.Gate.Acting(circulation.Stamp, person(suzuki), "")
			act.Form, act.At, act.Found.Allowed = circulation.Form, start, &circulation.Allowed{As: "channel"}
			x.Gate.Acts = []circulation.Act{act}
			expect.That(t, x.Gate.Stands(x.Sum()), "the stamp doesn't count: %+v", x.Gate)
		},
	} {
		other := opened(t)
		expect.NoError(t, other.answer(listedRead()))
		a := other.load()
		change(a.Current())
		_, err := a.ClaimCall(a.Head.Run, "i1", other.now.Add(time.Minute), other.now)
		expect.That(t, errors.Is(err, aggregate.ErrConflict), "%s: %v", name, err)
	}
	expect.NoError(t, tb.claimCall("i1"))
}

func TestAfterTenReadsInARowAPersonHasToSpeak(t *testing.T) {
	tb := opened(t)
	for range mostUnasked {
		expect.NoError(t, tb.answer(listedRead()))
		x := tb.load().Current()
		expect.NoError(t, tb.claimCall("i"))
		tb.must(tb.load().Finish(x.ActionID, "i", Result{Status: ActionSucceeded}, tb.now))
	}
	expect.That(t, !tb.load().CallsOn(tb.load().Waiting()), "it may go on")
	expect.That(t, errors.As(tb.answer(listedRead()), new(ErrType)), "it goes on")
	tb.tell("go on")
	expect.That(t, tb.load().CallsOn(tb.load().Waiting()), "it may not go on")
	expect.NoError(t, tb.answer(listedRead()))
}

func TestACallsResultIsNamedByItsRow(t *testing.T) {
	tb, x := calling(t)
	got := &aggregate.Blob{Bytes: 3, S3Key: "talks/t/s/reads/" + version + ".json"}
	tb.finishes(x, "i1", Result{Status: ActionSucceeded, Call: got})
	is := tb.load().Action(x.ActionID)
	expect.Same(t, is.CallResult, got)
	expect.Is(t, is.Status, ActionSucceeded)
}

func TestAProposedCallHasLiteralArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{"tool":"list_employees","arguments":"{\"status\":\"all\"}"}`:       "",
		`{"tool":"","arguments":"{}"}`:                                       "tool has 0 bytes",
		`{"tool":"x","arguments":"[]"}`:                                      "arguments must be one JSON object",
		`{"tool":"x","arguments":"{\"a\":[{\"$ref\":\"step-1.result\"}]}"}`:  "arguments.a[0] is a $ref",
		`{"tool":"x","arguments":"{\"$ref\":\"step-1.result\"}"}`:            "arguments is a $ref",
		`{"tool":"x","arguments":"{}","tool_version":"` + version + `"}`:     "unknown field",
		`{"tool":"x","arguments":"{}","mark":{"version":"1"}}`:               "unknown field",
		`{"tool":"` + strings.Repeat("x", MaxTool+1) + `","arguments":"{}"}`: "the limit",
		`{"tool":"x","arguments":"{}","script":"ls"}`:                        "unknown field",
		`{"tool":"x","arguments":{"status":"all"}}`:                          "not of the payload's form",
	} {
		_, problems := ReadPayload(ToolCall, []byte(text))
		said := strings.Join(problems, "; ")
		if want == "the limit" {
			want = "it must have 1 to 200"
		}
		expect.That(t, (want == "") == (said == "") && strings.Contains(said, want), "%s: %q, want %q", text, said, want)
	}
}

func TestAKeptCallIsReadAsItWasStamped(t *testing.T) {
	p, problems := ReadPayload(ToolCall, []byte(`{"tool":"book_room","arguments":"{\"room\":\"<A>\"}"}`))
	expect.Is(t, len(problems), 0, problems)
	p, _ = p.Complete(ToolCall, On{Base: "v1"}, nil)
	p.Called = Called{ToolVersion: version, Access: aggregate.Write, LeftOut: `{"notify":true}`,
		Mark: &rules.Mark{Version: version, How: rules.HowNothing}}
	is, problems := ReadKept(ToolCall, []byte(p.JSON()))
	expect.Is(t, len(problems), 0, problems)
	expect.Same(t, is, p)
	expect.Is(t, is.Proposed().JSON(), `{"tool":"book_room","arguments":"{\"room\":\"\u003cA\u003e\"}"}`)

	p.ToolVersion = "1"
	_, problems = ReadKept(ToolCall, []byte(p.JSON()))
	expect.Has(t, strings.Join(problems, ";"), "tool_version is no version of a tool")
	base := "v1"
	command := Payload{Script: "ls", TimeoutSeconds: 1,
		Stamped: Stamped{Base: &base, Called: Called{Access: aggregate.Read}}}
	_, problems = ReadKept(ShellCommand, []byte(command.JSON()))
	expect.Has(t, strings.Join(problems, ";"), "only a tool_call")
}
