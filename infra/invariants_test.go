package infra_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	trees "ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// The invariants of agents' actions, walked over all types of actions: a type that is not in typesWalked fails.

// walked is what the invariants have to know of a type of action.
type walked struct {
	byRule bool // a rule of the settings may approve it
	// proposals are payloads as an agent proposes them, each of another form.
	proposals []string
	// tooMuch is a kept payload that can't be drawn whole in a card and its dialog, or that nobody can read.
	tooMuch conversation.Payload
	called  conversation.Called // what answer-message adds to a call
	push    *conversation.Push  // nil: people are not asked about a call
}

// asks reports whether people may be asked about it.
func (is walked) asks(typ tenancy.ActionType) bool { return typ != tenancy.ToolCall || is.push != nil }

var toShop = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7,
	Commit: strings.Repeat("c0", 20), Into: "main", CI: tenancy.CISkip}

// undrawn is what a card shows by something else: a pull request by its heading, a repository by its name.
var undrawn = map[string]bool{".base": true, ".push.source": true, ".push.repository_id": true, ".push.commit": true}

var typesWalked = map[tenancy.ActionType][]walked{
	tenancy.CodeGenerate: {{
		proposals: []string{
			`{"files":[{"path":"new.txt","content":"one\ntwo\n"}],
				"edits":[{"path":"a.txt","old":"two","new":"2"}],"delete":["b.txt"]}`,
		},
		tooMuch: conversation.Payload{Stamped: conversation.Stamped{Base: new(string), Changes: []trees.Change{{
			Path: "a", Is: &trees.Side{Mode: trees.ModeFile, SHA256: strings.Repeat("a", 64)},
			Hunks: []trees.Hunk{{From: 1, To: 1, Lines: []string{"+" + strings.Repeat("x", trees.MaxChangedLine+1)}}}}}}},
	}},
	tenancy.TestRun: {{byRule: true, proposals: []string{`{"argv":["npm","test","--","a b"],"timeout_seconds":61}`},
		tooMuch: conversation.Payload{Stamped: conversation.Stamped{Base: new(string)}}}},
	tenancy.ShellCommand: {{proposals: []string{`{"script":"make\nmake test","timeout_seconds":62}`},
		tooMuch: conversation.Payload{Stamped: conversation.Stamped{Base: new(string)}}}},
	tenancy.ToolCall: {{byRule: true, proposals: []string{`{"tool":"list_employees","arguments":"{\"status\":\"all\"}"}`},
		tooMuch: conversation.Payload{Stamped: conversation.Stamped{Base: new(string)}},
		called:  conversation.Called{ToolVersion: strings.Repeat("a1", 32), Access: aggregate.Read}}, {
		proposals: []string{`{"tool":"open_pull_request","arguments":"{\"title\":\"A\",\"body\":\"B\"}"}`},
		tooMuch:   conversation.Payload{Stamped: conversation.Stamped{Base: new(string), Push: toShop}},
		called:    conversation.Called{ToolVersion: strings.Repeat("b2", 32), Access: aggregate.Write},
		push:      toShop,
	}, {proposals: []string{`{"tool":"book_room","arguments":"{\"room\":\"A\",\"people\":3}"}`},
		called: conversation.Called{ToolVersion: strings.Repeat("b2", 32), Access: aggregate.Write}}},
}

// eachWalked runs a test for each type of action, and each form of its payload.
func eachWalked(t *testing.T, test func(t *testing.T, typ tenancy.ActionType, is walked, kept conversation.Payload)) {
	base := expect.Value((&trees.Tree{}).Apply([]trees.File{{Path: "a.txt", Content: "one\ntwo\n"},
		{Path: "b.txt", Content: "x\n"}}))(t)
	for _, typ := range tenancy.ActionTypes {
		expect.That(t, len(typesWalked[typ]) != 0,
			"actions of type %s are in no walk: say in typesWalked what they are like", typ)
		for i, is := range typesWalked[typ] {
			for j, text := range is.proposals {
				t.Run(fmt.Sprint(typ, "/", i, "/", j), func(t *testing.T) {
					p, problems := conversation.ReadPayload(typ, []byte(text))
					expect.Must(t, problems == nil, "%v", problems)
					kept, problems := p.Complete(typ, conversation.On{}, base)
					expect.Must(t, problems == nil, "%v", problems)
					kept.Called, kept.Push = is.called, is.push
					test(t, typ, is, kept)
				})
			}
		}
	}
}

// inThread is a conversation whose decisions are applied as by the store.
type inThread struct {
	*testing.T
	*conversation.Aggregate
	now time.Time
}

func newThread(t *testing.T) *inThread {
	t.Helper()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	in := conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: "1775034000.000100",
		TS: "1775034000.000100", User: "U1", Text: "fix it"}
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "codex", Locale: "en"}, now))(t)
	k := &inThread{t, (&conversation.Aggregate{}).After(c).(*conversation.Aggregate), now}
	k.Conversation.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7,
		Commit: strings.Repeat("c0", 20), State: conversation.SourceThere}
	return k
}

func (k *inThread) do(c aggregate.Change, err error) error {
	k.Helper()
	if err == nil && !c.Empty() {
		k.Aggregate = k.After(c).(*conversation.Aggregate)
		k.now = k.now.Add(time.Second)
	}
	return err
}

func (k *inThread) answer(p *conversation.Proposal) error {
	k.Helper()
	return k.do(k.Answered(k.Head.Run, k.Waiting(), conversation.Answer{Text: "ok", Proposal: p}, k.now))
}

// claim starts a run if none is open, and claims the action for it.
func (k *inThread) claim() error {
	k.Helper()
	if k.Head.Resting {
		_ = k.do(k.StartRun(k.now)) // what has nothing to do starts none
	}
	if x := k.Current(); x != nil && x.ActionType == tenancy.ToolCall {
		return k.do(k.ClaimCall(k.Head.Run, "i1", k.now.Add(time.Minute), k.now))
	}
	return k.do(k.Claim(k.Head.Run, "i1", k.now.Add(time.Minute), k.now))
}

func proposing(typ tenancy.ActionType, p conversation.Payload, rule string) *conversation.Proposal {
	text := p.JSON()
	return &conversation.Proposal{Type: typ, Payload: aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)},
		Seconds: p.TimeoutSeconds, On: conversation.On{Base: *p.Base}, Summary: "why",
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}, Rule: rule,
		Tool: p.Tool, Access: p.Access, Push: p.Push}
}

var (
	whoever  = aggregate.Policy{Team: "T1", AllowSelf: true}
	u1       = aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
	stranger = aggregate.Actor{Type: aggregate.ActorUser, ID: "U9", Team: "T9"}
)

// A1: nothing is executed without a person's yes, but for the types that a rule may approve, whatever way a
// conversation takes to the claim.
func TestNothingIsExecutedWithoutAYes(t *testing.T) {
	eachWalked(t, func(t *testing.T, typ tenancy.ActionType, is walked, p conversation.Payload) {
		ways := map[string]func(k *inThread) error{
			"it waits": func(*inThread) error { return nil },
			"rejected": func(k *inThread) error {
				return k.do(decide.Reject("no")(k, k.Current().ActionID, u1, whoever, k.now))
			},
			"withdrawn": func(k *inThread) error { return k.do(k.Cancel(k.Current().ActionID, u1, whoever, k.now)) },
			"expired": func(k *inThread) error {
				k.Current().Gate.Terms.DecideBy = &k.now
				return k.do(k.Expire(k.now))
			},
			"closed": func(k *inThread) error { return k.do(k.End(u1, whoever, k.now)) },
			"closed, anew": func(k *inThread) error {
				return errors.Join(k.do(k.End(u1, whoever, k.now)), k.do(k.Reopen(u1, whoever, k.now)))
			},
			"approved by whoever may not": func(k *inThread) error {
				x := k.Current()
				for _, by := range []aggregate.Actor{stranger, {Type: aggregate.ActorAgent, ID: "codex"}, aggregate.System(), {}} {
					if k.do(decide.Approve(k, x.ActionID, by, whoever, k.now)) == nil {
						return fmt.Errorf("%+v approved it", by)
					}
				}
				return nil
			},
			"its row says that it is approved": func(k *inThread) error {
				k.Current().Status = conversation.ActionApproved
				return nil
			},
			"its row says that a person approved it": func(k *inThread) error {
				k.Current().Status, k.Current().ApprovedBy = conversation.ActionApproved, conversation.ApprovedByUser
				return nil
			},
			"its row says that a rule approved it": func(k *inThread) error {
				k.Current().Status, k.Current().ApprovedBy = conversation.ActionApproved, conversation.ApprovedByAuto
				return nil
			},
		}
		if !is.asks(typ) { // then no way leads to a proposal
			ways = nil
			for name, err := range map[string]error{"an agent": newThread(t).answer(proposing(typ, p, "")),
				"a person": func() error {
					k := newThread(t)
					return k.do(k.Propose(*proposing(typ, p, "a rule"), u1, whoever, k.now))
				}()} {
				expect.That(t, errors.As(err, new(conversation.ErrType)), "%s proposes it: %v", name, err)
			}
		}
		for name, way := range ways {
			for _, byPerson := range []bool{false, true} {
				k := newThread(t)
				if byPerson {
					expect.NoError(t, k.do(k.Propose(*proposing(typ, p, "a rule"), u1, whoever, k.now)))
				} else {
					expect.NoError(t, k.answer(proposing(typ, p, "")))
				}
				expect.NoError(t, way(k))
				expect.That(t, k.claim() != nil, "%s (proposed by a person: %v): it is claimed", name, byPerson)
			}
		}
		k := newThread(t)
		err := k.answer(proposing(typ, p, "a rule"))
		expect.That(t, (err == nil) == is.byRule, "a rule approves it: %v", err)
		expect.That(t, (k.claim() == nil) == is.byRule, "it is claimed by a rule: %v", !is.byRule)
		if !is.asks(typ) {
			return
		}
		k = newThread(t)
		expect.NoError(t, k.answer(proposing(typ, p, "")))
		expect.NoError(t, k.do(decide.Approve(k, k.Current().ActionID, u1, whoever, k.now)))
		expect.NoError(t, k.claim())
	})
}

// eachAsked is eachWalked for what people may be asked about.
func eachAsked(t *testing.T, test func(t *testing.T, typ tenancy.ActionType, is walked, kept conversation.Payload)) {
	eachWalked(t, func(t *testing.T, typ tenancy.ActionType, is walked, kept conversation.Payload) {
		if is.asks(typ) {
			test(t, typ, is, kept)
		}
	})
}

// changedLeaves returns a JSON text with one text, number or bool changed each time, by the place of that.
func changedLeaves(t *testing.T, text string) map[string]string {
	t.Helper()
	var whole any
	expect.NoError(t, json.Unmarshal([]byte(text), &whole))
	out := map[string]string{}
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		changed := func(to any) {
			set(to)
			out[at] = string(expect.Value(json.Marshal(whole))(t))
			set(v)
		}
		switch x := v.(type) {
		case map[string]any:
			for name, inner := range x {
				walk(at+"."+name, inner, func(to any) { x[name] = to })
			}
		case []any:
			for i, inner := range x {
				walk(fmt.Sprint(at, "[", i, "]"), inner, func(to any) { x[i] = to })
			}
		case string:
			changed(x + "~")
		case float64:
			changed(x + 1)
		}
	}
	walk("", whole, func(to any) { whole = to })
	return out
}

// A2: the hash that people stamp covers each part of what is drawn, and the base; what has another payload, or works on
// other files, is not claimed.
func TestAStampCoversAllThatIsDrawn(t *testing.T) {
	eachAsked(t, func(t *testing.T, typ tenancy.ActionType, _ walked, p conversation.Payload) {
		leaves := changedLeaves(t, p.JSON())
		expect.Must(t, len(leaves) >= 3 && leaves[".base"] != "", "%v", leaves)
		shown := draw(t, typ, p)
		for at, text := range leaves {
			k := newThread(t)
			expect.NoError(t, k.answer(proposing(typ, p, "")))
			x := k.Current()
			changed := aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
			expect.That(t, changed.Hash() != x.Payload.Hash(), "%s: the hash is the same", at)
			expect.That(t, k.do(decide.Shown(conversation.CardAction, changed.Hash(), decide.Approve)(k, x.ActionID, u1,
				whoever, k.now)) != nil,
				"%s: another content is approved", at)
			expect.NoError(t, k.do(decide.Approve(k, x.ActionID, u1, whoever, k.now)))
			k.Current().Payload = changed
			expect.That(t, k.claim() != nil, "%s: what was changed after the stamp is claimed", at)
			q, problems := conversation.ReadKept(typ, []byte(text))
			drawn := problems == nil && q.Base != nil && !strings.HasSuffix(at,
				"sha256") && !undrawn[at] && (at != ".tool" || q.Push == nil)
			expect.That(t, !drawn || draw(t, typ, q) != shown, "%s: the card doesn't show the change", at)
		}
		k := newThread(t)
		expect.NoError(t, k.answer(proposing(typ, p, "")))
		expect.NoError(t, k.do(decide.Approve(k, k.Current().ActionID, u1, whoever, k.now)))
		k.Conversation.WorkspaceVersion = strings.Repeat("b", 64)
		expect.Fails(t, k.claim(), conversation.ErrBase)
	})
}

// draw returns the blocks of the action's card.
func draw(t *testing.T, typ tenancy.ActionType, p conversation.Payload) string {
	t.Helper()
	k := newThread(t)
	was := k.Conversation.WorkspaceVersion
	k.Conversation.WorkspaceVersion = *p.Base
	if p.Push != nil {
		k.Conversation.Source.Repository = p.Push.Repository
	}
	expect.NoError(t, k.answer(proposing(typ, p, "")))
	k.Conversation.WorkspaceVersion = was
	text := string(expect.Value(json.Marshal(k.card()))(t))
	return strings.ReplaceAll(text, k.Current().Payload.Hash(), "")
}

func (k *inThread) card() card.Message {
	k.Helper()
	s := tenancy.DefaultSettings()
	for i := len(k.Cards) - 1; i >= 0; i-- {
		if k.Cards[i].CardType == conversation.CardAction {
			return card.Render(card.Conversation{Aggregate: k.Aggregate}, k.Cards[i], s, card.Around{}, k.now)
		}
	}
	k.Fatal("the action has no card")
	return card.Message{}
}

// A5: what can't be shown whole, or not be read, has no button to approve.
func TestWhatCantBeShownWholeHasNoButton(t *testing.T) {
	approves := func(k *inThread) bool {
		return strings.Contains(string(expect.Value(json.Marshal(k.card()))(k.T)), `"action_id":"`+card.ApproveAction+`"`)
	}
	eachAsked(t, func(t *testing.T, typ tenancy.ActionType, is walked, p conversation.Payload) {
		k := newThread(t)
		expect.NoError(t, k.answer(proposing(typ, p, "")))
		expect.That(t, approves(k), "what is shown whole has no button")
		over := newThread(t)
		expect.NoError(t, over.answer(proposing(typ, is.tooMuch, "")))
		expect.That(t, !approves(over), "what can't be read has a button")
	})
}
