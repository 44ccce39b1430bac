package conversation

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

var typedFile = Own{Type: CodeGenerate, Path: "src/a.py", Content: "x\n", Summary: "writes"}

// typing returns a resting conversation with files in which a person typed a proposal.
func typing(t *testing.T) *table {
	t.Helper()
	tb := opened(t)
	expect.NoError(t, tb.answer(nil))
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		c := a.begin(tb.now)
		c.Conversation.WorkspaceVersion = "v1"
		return c.done()
	})
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Type("form", typedFile, person(suzuki), policy, tb.now)
	})
	return tb
}

func TestWhatAPersonTypedWaitsForARunOnce(t *testing.T) {
	tb := typing(t)
	a := tb.load()
	of := a.WaitingTyped()
	expect.Must(t, of != nil && of.User == suzuki && reflect.DeepEqual(of.Own, typedFile), "%+v", of)
	expect.That(t, a.Head.Resting && a.Effects(tb.now).Begin != nil && a.Next(tb.now).State == StateAnswer,
		"no run begins")
	again, err := a.Type("form", typedFile, person(suzuki), policy, tb.now)
	expect.That(t, err == nil && again.Empty(), "sent twice: %+v, %v", again, err)
	_, err = a.Type("other", typedFile, aggregate.Actor{Type: aggregate.ActorUser, ID: sato, Team: team, Guest: true},
		policy, tb.now)
	expect.That(t, errors.As(err, new(aggregate.ErrNotAllowed)), "a guest: %v", err)

	expect.NoError(t, tb.begin())
	made := Proposal{Type: CodeGenerate, Payload: aggregate.Blob{JSON: `{}`, Bytes: 2}, On: On{Base: "v1"},
		Summary: "writes", Terms: terms(tb.now)}
	propose := func(a *Aggregate) (aggregate.Change, error) { return a.ProposeTyped(a.Head.Run, of, made, tb.now) }
	tb.must(propose)
	a = tb.load()
	x := a.Current()
	expect.Must(t, x != nil && x.RequestedBy == RequestedByUser && len(x.Askers) == 1 && x.Askers[0] == suzuki &&
		x.Status == ActionPending, "%+v", x)
	expect.That(t, a.Head.Resting && a.WaitingTyped() == nil && reflect.DeepEqual(a.Typed[0].Own, Own{}),
		"%+v", a.Typed[0])
	_, err = propose(&Aggregate{Head: func() Head { h := a.Head; h.Resting = false; return h }(),
		Conversation: a.Conversation, Typed: a.Typed, Actions: a.Actions})
	expect.Fails(t, err, aggregate.ErrMoved, "made twice")
	again, err = a.Type("form", typedFile, person(suzuki), policy, tb.now)
	expect.That(t, err == nil && again.Empty(), "the form comes late: %+v, %v", again, err)
}

func TestAPersonIsToldWhyNothingBecameOfWhatTheyTyped(t *testing.T) {
	tb := typing(t)
	of := tb.load().WaitingTyped()
	expect.NoError(t, tb.begin())
	for err, name := range map[error]string{ErrPending: "another action", ErrBase: "have changed since",
		ErrFilesLost: "were deleted"} {
		expect.Has(t, WhyNotProposed(err, "en"), name)
	}
	_, err := tb.load().ProposeTyped(tb.load().Head.Run, of,
		Proposal{Type: CodeGenerate, On: On{Base: "v0"}, Terms: terms(tb.now)}, tb.now)
	expect.Fails(t, err, ErrBase)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.RefuseTyped(a.Head.Run, of, []string{"the reason"}, "v1", tb.now)
	})
	a := tb.load()
	expect.That(t, a.FilesLost() && a.WaitingTyped() == nil && a.Head.Resting && a.Current() == nil, "%+v", a.Conversation)
	var said *Message
	for _, l := range tb.lists {
		if m, is := l.(*Message); is && m.Typed != nil {
			said = m
		}
	}
	expect.Must(t, said != nil && reflect.DeepEqual(*said.Typed, typedFile) && said.For == suzuki &&
		strings.Contains(said.Content, "the reason"), "%+v", said)
}

// Who closes a conversation ends what waits in it, and its author is told. It does not come back when the conversation
// begins anew.
func TestWhatAPersonTypedEndsWithTheConversation(t *testing.T) {
	tb := typing(t)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	told := 0
	for _, l := range tb.lists {
		if m, is := l.(*Message); is && m.Typed != nil && reflect.DeepEqual(*m.Typed, typedFile) && m.For == suzuki {
			told++
		}
	}
	expect.Is(t, told, 1, "messages to the author")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Reopen(person(sato), policy, tb.now) })
	expect.That(t, tb.load().WaitingTyped() == nil && tb.load().Effects(tb.now).Begin == nil, "it waits again")
}

// A run that dies again and again gives up what waits, and says so: nothing waits for ever.
func TestARunThatDiesGivesUpWhatAPersonTyped(t *testing.T) {
	tb := typing(t)
	expect.NoError(t, tb.begin())
	for range MaxRestarts + 1 {
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, tb.now) })
	}
	a := tb.load()
	expect.That(t, a.WaitingTyped() == nil && a.Head.Resting && len(a.Cards) > 1, "%+v", a.Head)
}

func TestNoMoreThanAFewProposalsWaitAndOldOnesGo(t *testing.T) {
	tb := typing(t)
	for _, form := range []string{"2", "3", "4", "5"} {
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Type(form, typedFile, person(sato), policy, tb.now)
		})
	}
	_, err := tb.load().Type("6", typedFile, person(sato), policy, tb.now)
	expect.Fails(t, err, ErrPending)
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.RefuseTyped(a.Head.Run, a.WaitingTyped(), nil, "", tb.now)
	})
	tb.now = tb.now.Add(typedKnown + time.Minute)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Type("7", typedFile, person(sato), policy, tb.now)
	})
	expect.Is(t, len(tb.load().Typed), 5)
}

// What can't be made beside the conversation's files is said as what it is, with the limit.
func TestWhatCantBeProposedAPersonIsToldAsWhatItIs(t *testing.T) {
	files := expect.Value((&Tree{}).Apply([]File{{"src/a.py", "x\n"}, {"Read.me", ""}, {"photo", "\xff"}}))(t)
	def := agent.Definition{Capabilities: agent.Capabilities}
	for want, o := range map[string]Own{
		"already has this content": typedFile,
		"a folder or link":         {Path: "src", Content: "x"},
		"isn’t text":               {Path: "photo", Content: "x"},
		"only in case":             {Path: "READ.me", Content: "x"},
		"2001 characters. So that": {Path: "b", Content: strings.Repeat("x", 2001)},
		"3001 lines. So that":      {Path: "b", Content: strings.Repeat("\n", 3001)},
		"Can’t be written":         {Path: "src/a.py/b", Content: "x"},
	} {
		o.Type, o.Summary = CodeGenerate, "writes"
		_, faults := o.ReadBeside(def, On{Base: "v1"}, files)
		expect.Must(t, len(faults) == 1, "%s: %+v", want, faults)
		expect.Has(t, faults[0].Sentence("en"), want)
		for _, locale := range language.All {
			expect.That(t, !strings.Contains(faults[0].Sentence(locale), "%!"), "%s", faults[0].Sentence(locale))
		}
	}
	p, faults := Own{Type: CodeGenerate, Path: "src/a.py", Content: "y\n", Summary: "replaces"}.ReadBeside(def,
		On{Base: "v1"}, files)
	expect.That(t, faults == nil && strings.Contains(string(p.Payload.JSON), `"-x\n","+y\n"`), "%+v %s", faults,
		p.Payload.JSON)
}
