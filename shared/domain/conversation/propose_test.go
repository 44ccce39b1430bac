package conversation

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
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
	list := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "src/a.py", Content: "x\n"},
		{Path: "Read.me", Content: ""}, {Path: "photo", Content: "\xff"}}))(t)
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
		_, faults := o.ReadBeside(def, On{Base: "v1"}, list)
		expect.Must(t, len(faults) == 1, "%s: %+v", want, faults)
		expect.Has(t, faults[0].Sentence("en"), want)
		for _, locale := range language.All {
			expect.That(t, !strings.Contains(faults[0].Sentence(locale), "%!"), "%s", faults[0].Sentence(locale))
		}
	}
	p, faults := Own{Type: CodeGenerate, Path: "src/a.py", Content: "y\n", Summary: "replaces"}.ReadBeside(def,
		On{Base: "v1"}, list)
	expect.That(t, faults == nil && strings.Contains(string(p.Payload.JSON), `"-x\n","+y\n"`), "%+v %s", faults,
		p.Payload.JSON)
}

// What a person types is checked as an agent's proposal is, and each fault names its field and the limit.
func TestWhatAPersonTypesIsChecked(t *testing.T) {
	all := agent.Definition{ID: "a", Capabilities: agent.Capabilities}
	script := Own{Type: ShellCommand, Content: "make", Summary: "builds it"}
	test := Own{Type: TestRun, Content: `go test "./a b"`, Seconds: "30", Summary: "tests"}
	file := Own{Type: CodeGenerate, Path: " src/a.py ", Content: "x\n", Summary: "writes"}
	with := func(o Own, change func(*Own)) Own { change(&o); return o }
	for about, tt := range map[string]struct {
		own  Own
		want string // the payload, or the fields that are wrong with a part of the sentence
	}{
		"a script": {script, `{"script":"make","timeout_seconds":60,"base":""}`},
		"a test":   {test, `{"argv":["go","test","./a b"],"timeout_seconds":30,"base":""}`},
		"a file": {file,
			`{"base":"","changes":[{"path":"src/a.py","is":{"mode":"100644",` +
				`"sha256":"73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"},"hunks":[{"from":1,"to":1,` +
				`"lines":["+x\n"]}]}]}`},
		"an empty file": {with(file, func(o *Own) { o.Content = "" }),
			`{"base":"","changes":[{"path":"src/a.py","is":{"mode":"100644",` +
				`"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}]}`},
		"nothing":               {Own{}, "type Choose"},
		"no script, no purpose": {Own{Type: ShellCommand}, "content required, summary required"},
		"a blank purpose":       {with(script, func(o *Own) { o.Summary = "\u200b " }), "summary required"},
		"a long purpose": {with(script, func(o *Own) { o.Summary = strings.Repeat("目", 301) }),
			"summary 300 characters (now 301)"},
		"a long script": {with(script, func(o *Own) { o.Content = strings.Repeat("字", 16_001) }),
			"content 16000 characters (now 16001)"},
		"a large file": {with(file, func(o *Own) { o.Content = strings.Repeat("x", 33_000) }),
			"content 32768 bytes"},
		"no text":               {with(script, func(o *Own) { o.Content = "a\x00b" }), "content can’t be read"},
		"a path that leads out": {with(file, func(o *Own) { o.Path = "../x" }), "path inside the work folder"},
		"no path":               {with(file, func(o *Own) { o.Path = " " }), "path required"},
		"no seconds":            {with(test, func(o *Own) { o.Seconds = "soon" }), "seconds from 1 to 600"},
		"too many seconds":      {with(test, func(o *Own) { o.Seconds = "601" }), "seconds from 1 to 600"},
		"an option":             {with(test, func(o *Own) { o.Content = "-c x" }), "content name of a program"},
		"many words": {with(test, func(o *Own) { o.Content = strings.Repeat("a ", 65) }),
			"content 64 words (now 65)"},
	} {
		t.Run(about, func(t *testing.T) {
			p, faults := tt.own.Read(all, On{}, true)
			if faults == nil {
				expect.That(t, string(p.Payload.JSON) == tt.want && p.Payload.Bytes == len(tt.want) && p.Summary != "",
					"%s", p.Payload.JSON)
				_, problems := ReadKept(p.Type, []byte(p.Payload.JSON))
				expect.That(t, problems == nil, "%v", problems)
				return
			}
			wants := strings.Split(tt.want, ", ")
			expect.Must(t, len(faults) == len(wants), "%+v", faults)
			for i, want := range wants {
				field, part, _ := strings.Cut(want, " ")
				said := faults[i].Sentence("en")
				expect.That(t, string(faults[i].Field) == field && strings.HasPrefix(said, faults[i].Field.Called("en")+": ") &&
					strings.Contains(said, part), "%s", said)
				for _, locale := range language.All {
					expect.That(t, !strings.Contains(faults[i].Sentence(locale), "%!"), "%s", faults[i].Sentence(locale))
				}
			}
		})
	}
	_, faults := script.Read(agent.Definition{ID: "a", Capabilities: []agent.Capability{agent.Code}}, On{}, true)
	expect.That(t, len(faults) == 1 && faults[0].Field == OwnType, "an agent that may not: %+v", faults)
}

// A form that is sent twice makes one proposal; another one waits until that is over; the agent is told what it is.
func TestAPersonsProposalIsMadeOnce(t *testing.T) {
	tb := opened(t)
	own, _ := Own{Type: ShellCommand, Content: "make",
		Summary: "builds it"}.Read(agent.Definition{Capabilities: agent.Capabilities}, On{}, true)
	own.Terms = terms(tb.now)
	by := person("U7")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Propose(own, by, policy, tb.now) })
	x := tb.load().Current()
	expect.Must(t, x != nil && x.RequestedBy == RequestedByUser && fmt.Sprint(x.Askers) == "[U7]" &&
		x.Status == ActionPending, "%+v", x)
	c, err := tb.load().Propose(own, by, policy, tb.now)
	expect.That(t, err == nil && c.Empty(), "twice: %+v, %v", c, err)
	for _, other := range []struct {
		by  aggregate.Actor
		own Proposal
	}{{person("U8"), own}, {by, Proposal{Type: own.Type, Payload: aggregate.Blob{JSON: "{}"}, Terms: own.Terms}}} {
		_, err := tb.load().Propose(other.own, other.by, policy, tb.now)
		expect.That(t, errors.Is(err, ErrPending) && errors.Is(err, aggregate.ErrInFlight), "%v", err)
	}
	self := policy
	self.AllowSelf = false
	_, err = tb.load().Approve(x.ActionID, by, self, tb.now)
	expect.That(t, errors.As(err, new(aggregate.ErrNotAllowed)), "their own is approved: %v", err)
}

// A person's first file is kept as the same proposal of an agent's is, and no other file by that shorter way.
func TestTheFirstFileIsKeptAsAnyOther(t *testing.T) {
	for _, content := range []string{"a\nb\n", "no end of line", "", strings.Repeat("x", 5000) + "\n"} {
		p := Payload{Files: []files.File{{Path: "src/app.py", Content: content}}}
		whole, problems := p.Complete(CodeGenerate, On{}, &files.Tree{})
		first, faults := p.First(CodeGenerate, On{})
		expect.Same(t, problems, faults)
		expect.Is(t, first.JSON(), whole.JSON(), "%.20q", content)
	}
	one := []files.File{{Path: "a", Content: "1"}}
	for name, p := range map[string]Payload{
		"two": {Files: append(one, files.File{Path: "b"})}, "none": {}, "an edit": {Files: one,
			Edits: []files.Edit{{Path: "a"}}},
		"a path outside": {Files: []files.File{{Path: "../a", Content: "1"}}},
	} {
		_, faults := p.First(CodeGenerate, On{})
		expect.That(t, faults != nil, "%s is taken", name)
	}
	_, faults := Payload{Files: one}.First(CodeGenerate, On{Base: "v1"})
	expect.That(t, faults != nil, "a file beside those that are there is taken")
}
