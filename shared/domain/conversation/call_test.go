package conversation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
	return tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.ClaimCall(a.Head.Run, invocation, tb.now.Add(2*time.Minute), tb.now)
	})
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
	expect.NoError(t, tb.claimCall("i1"))
	expect.Fails(t, tb.claimCall("i2"), aggregate.ErrInFlight)

	command, _ := pending(t, ShellCommand)
	expect.NoError(t, errors.Join(command.approve(command.load().Current(), suzuki), command.begin()))
	expect.Fails(t, command.claimCall("i1"), aggregate.ErrMoved)
}

func TestACrashedReadDidNothing(t *testing.T) {
	tb, x := calling(t)
	tb.now = tb.now.Add(time.Hour)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Crashed(tb.now) })
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Status == ActionFailed && is.Outcome == "", "%+v", is)
}

// Nobody is asked about an agent's calls, and none of them writes, whatever a row or a caller says.
func TestAnAgentCallsListedReadsAlone(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(listedRead()))
	expect.Is(t, tb.load().Current().ApprovedBy, ApprovedByAuto)
	for name, p := range map[string]*Proposal{"a write": call(aggregate.Write, ""), "a listed write": call(aggregate.Write,
		"listed"), "a read that nobody listed": call(aggregate.Read, "")} {
		expect.That(t, errors.As(opened(t).answer(p), new(ErrType)), "%s is proposed", name)
		own := opened(t).do(func(a *Aggregate) (aggregate.Change, error) {
			return a.Propose(*p, person(sato), policy, start)
		})
		expect.That(t, errors.As(own, new(ErrType)), "%s is proposed by a person", name)
	}
	for name, change := range map[string]func(x *Action){
		"it writes":         func(x *Action) { x.Access = aggregate.Write },
		"a person approved": func(x *Action) { x.ApprovedBy = ApprovedByUser },
		"nobody listed it":  func(x *Action) { x.Rule = "" },
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
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i", Result{Status: ActionSucceeded}, tb.now)
		})
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
