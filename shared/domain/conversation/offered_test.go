package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestARequestThatAPersonMakesIsInTheHistory(t *testing.T) {
	a := offers(t, "buy it")
	c, err := a.MakeRequest(a.OpenOffer().ID, person(sato), policy, start.Add(time.Minute))
	expect.NoError(t, err)
	var said *Message
	for _, l := range c.Beside {
		said, _ = l.Row.(*Message)
	}
	expect.Must(t, said != nil && said.TaskID != "" && strings.Contains(said.Content, "became task "+said.TaskID), "%+v",
		said)
}

// offers returns a conversation whose agent wants to make a request after it has read files.
func offers(t *testing.T, text string) *Aggregate {
	t.Helper()
	a := opened(t).load()
	return after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "read", Request: text}, start.Add(time.Second)))
}

func after(t *testing.T, a *Aggregate) func(aggregate.Change, error) *Aggregate {
	return func(c aggregate.Change, err error) *Aggregate {
		t.Helper()
		expect.NoError(t, err)
		return a.After(c).(*Aggregate)
	}
}

func TestARequestAfterReadingIsMadeByAPersonOnce(t *testing.T) {
	now := start.Add(time.Minute)
	a := offers(t, "buy it")
	o := a.OpenOffer()
	expect.Must(t, o != nil && o.Text == "buy it" && o.TaskID == "" && len(a.Effects(now).Make) == 0, "%+v", o)
	expect.That(t, slices.ContainsFunc(a.Offers(), func(x aggregate.Offer) bool {
		return x.Act == ActMakeRequest && x.ID == o.ID
	}), "%+v", a.Offers())
	for name, by := range map[string]aggregate.Actor{
		"a guest":           {Type: aggregate.ActorUser, ID: sato, Team: team, Guest: true},
		"a stranger":        {Type: aggregate.ActorUser, ID: sato, Team: "T2"},
		"nobody's business": {Type: aggregate.ActorUser, ID: "U_TANAKA", Team: team},
	} {
		_, err := a.MakeRequest(o.ID, by, policy, now)
		_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused, "%s: %v", name, err)
	}
	expect.Fails(t, expect.Err(a.MakeRequest("another", person(sato), policy, now)), aggregate.ErrNotFound)

	c, err := a.MakeRequest(o.ID, person(suzuki), policy, now)
	made := after(t, a)(c, err)
	expect.That(t, len(c.Audit) == 1 && c.Audit[0].Action == AuditRequestMade && c.Audit[0].ActorID == suzuki,
		"%+v", c.Audit)
	o = made.Offered[0]
	expect.That(t, o.MadeBy == suzuki && o.Text == "buy it" && o.MessageTS == "1775034000.000100" && o.TaskID != "" &&
		made.OpenOffer() == nil, "%+v", o)
	makes := made.Effects(now).Make
	expect.Must(t, len(makes) == 1 && made.DueAt(now) != nil, "tasks that the relay makes: %d", len(makes))
	task := (&task.Aggregate{}).After(makes[0].Begin).(*task.Aggregate)
	expect.That(t, task.Head.TaskID == o.TaskID && task.Spoken() && task.Request.User == suzuki, "%+v", task.Request)
	done := after(t, made)(makes[0].Made(made))
	expect.Is(t, len(done.Effects(now).Make), 0, "tasks that are made again")
	expect.Fails(t, expect.Err(makes[0].Made(done)), aggregate.ErrNotDue)

	again, err := made.MakeRequest(o.ID, person(suzuki), policy, now)
	expect.That(t, err == nil && again.Empty(), "%+v, %v", again, err)
	_, err = made.MakeRequest(o.ID, person(sato), policy, now)
	was, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, decided && was.By == suzuki, "%v", err)
}

func TestANewerRequestTakesTheOldOnesPlace(t *testing.T) {
	a := offers(t, "first")
	first := a.OpenOffer()
	a = after(t, a)(a.MakeRequest(first.ID, person(sato), policy, start.Add(time.Minute)))
	for i, text := range []string{"second", "third"} {
		in, err := Tell(inbound("again", "1775034001.00010"+string(rune('0'+i))), Opening{},
			a.Head.ChangedAt.Add(time.Second))
		a = after(t, a)(in, err)
		if a.Head.Resting {
			a = after(t, a)(a.StartRun(a.Head.ChangedAt.Add(time.Second)))
		}
		a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "x", Request: text},
			a.Head.ChangedAt.Add(time.Second)))
	}
	o := a.OpenOffer()
	expect.That(t, o.Text == "third" && o.Number == 3 && len(a.Offered) == 2 && a.Offered[0].MadeAt != nil &&
		o.ID != first.ID, "%+v", a.Offered)
}

func TestAClosedConversationMakesNoRequest(t *testing.T) {
	a := offers(t, "buy it")
	id := a.OpenOffer().ID
	a = after(t, a)(a.End(person(sato), policy, start.Add(time.Minute)))
	_, err := a.MakeRequest(id, person(sato), policy, start.Add(time.Hour))
	_, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, decided && a.OpenOffer() == nil, "%v", err)
}

// Who reads for an answer that is stopped loses what it read, and a try of a later answer doesn't take it over.
func TestWhatWasReadGoesWithItsAnswer(t *testing.T) {
	a := opened(t).load()
	r := Reading{Of: a.Inbox[0].Message, Read: []Read{{Tool: "read_file", Path: "a"}}}
	used := usage
	used.ID = "1"
	a = after(t, a)(a.ReadOn(a.Head.Run, a.Waiting(), r, Answer{Usage: used}, start.Add(time.Second)))
	expect.That(t, a.ReadFor(a.Waiting()) != nil && a.Conversation.Usage.Cost == usage.Cost && len(a.Inbox) == 1,
		"%+v", a.Conversation)
	seen := a.Waiting()
	_, err := a.ReadOn(a.Head.Run+1, seen, r, Answer{}, start.Add(time.Minute))
	expect.Fails(t, err, aggregate.ErrSuperseded)
	a = after(t, a)(a.Stop(person(sato), policy, start.Add(time.Minute)))
	expect.That(t, a.Conversation.Reading == nil && a.ReadFor(seen) == nil, "%+v", a.Conversation.Reading)
	_, err = a.ReadOn(a.Head.Run, seen, r, Answer{Usage: used}, start.Add(time.Hour))
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded) || errors.Is(err, aggregate.ErrMoved), "%v", err)
}

// What an agent wants to make of an action's result is offered to whoever wrote last: nothing vanishes because nobody
// has written since. A message becomes one task, so a second request of the same message has to be asked for.
func TestARequestAfterAnActionIsOfferedToWhoWroteLast(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	expect.NoError(t, tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
	}))
	a := tb.load()
	expect.Must(t, len(a.Waiting()) == 1 && newestOf(a.Waiting()) == nil, "a person has written")
	a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "I ask for it", Request: "buy it"}, tb.now))
	o := a.OpenOffer()
	expect.Must(t, o != nil && o.Text == "buy it" && o.User == sato && o.MessageTS == "1775034000.000100", "%+v", o)

	a = after(t, a)(a.MakeRequest(o.ID, person(sato), policy, tb.now))
	a.Head.Resting = false
	c, err := a.Answered(a.Head.Run, nil, Answer{Text: "and more", Request: "buy two"}, tb.now)
	a = after(t, a)(c, err)
	expect.That(t, a.OpenOffer() == nil, "%+v", a.OpenOffer())
	said := ""
	for _, b := range c.Beside {
		if m, is := b.Row.(*Message); is && m.Sender == FromSystem {
			said = m.Content
		}
	}
	expect.Has(t, said, a.Offered[0].TaskID)
}

// A form that is sent twice makes one proposal; another one waits until that is over; the agent is told what it is.
func TestAPersonsProposalIsMadeOnce(t *testing.T) {
	tb := opened(t)
	own := expect.Value(Own("make", agent.Definition{Capabilities: agent.Capabilities}, On{}, "en"))(t)
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

func TestWhatAPersonTypesIsChecked(t *testing.T) {
	all := agent.Definition{Capabilities: agent.Capabilities}
	for name, c := range map[string]struct {
		command string
		def     agent.Definition
		want    string
	}{
		"a command":         {"make\ngo test ./...", all, ""},
		"as long as may be": {strings.Repeat("あ", MaxScript), all, ""},
		"too long":          {strings.Repeat("あ", MaxScript+1), all, "Use up to 16000 characters."},
		"nothing":           {" \n", all, "This is required."},
		"no text":           {"echo \x00", all, "This has characters that can’t be read as text."},
		"an agent that may not": {"make", agent.Definition{Capabilities: []agent.Capability{agent.Code}},
			"This conversation’s agent isn’t allowed to do that."},
	} {
		p, err := Own(c.command, c.def, On{Base: "v1"}, "en")
		if c.want != "" {
			expect.Is(t, fmt.Sprint(err), OwnCommand+" Command: "+c.want, name)
			continue
		}
		kept, problems := ReadKept(ShellCommand, []byte(p.Payload.JSON))
		expect.That(t, err == nil && problems == nil && kept.Script == c.command && *kept.Base == "v1" && p.Base == "v1",
			"%s: %+v, %v", name, p, err)
	}
}
