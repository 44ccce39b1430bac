package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// handedOver returns a conversation whose agent made a request, and the task that it became.
func handedOver(t *testing.T) (*table, *task.Aggregate) {
	t.Helper()
	tb := opened(t)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "I make a request", HandOver: "buy it"}, tb.now)
	})
	make := tb.load().Effects(tb.now).Make
	expect.Must(t, len(make) == 1, "%+v", make)
	return tb, (&task.Aggregate{}).After(make[0].Begin).(*task.Aggregate)
}

// saidOf returns what the system said of a task.
func (tb *table) saidOf(id string) (all []*Message) {
	for _, r := range tb.lists {
		if m, is := r.(*Message); is && m.Sender == FromSystem && m.TaskID == id {
			all = append(all, m)
		}
	}
	return all
}

func TestAHandOverStaysInTheHistoryWithItsTask(t *testing.T) {
	tb, made := handedOver(t)
	var said *Message
	for _, r := range tb.lists {
		if m, is := r.(*Message); is && m.Sender == FromAgent {
			said = m
		}
	}
	expect.Must(t, said != nil && said.HandOver != nil, "%+v", said)
	expect.Same(t, Handed{Text: "buy it", TaskID: made.Head.TaskID}, *said.HandOver)
}

func TestAConversationIsToldOnceHowItsTaskEnded(t *testing.T) {
	tb, made := handedOver(t)
	expect.That(t, len(made.Effects(tb.now).Tell) == 0, "told while it is open")
	c, err := made.End(person(sato), policy, tb.now.Add(time.Minute))
	expect.NoError(t, err)
	ended := made.After(c).(*task.Aggregate)
	tell := ended.Effects(tb.now).Tell
	expect.Must(t, len(tell) == 1 && tell[0].Ref == tb.load().Ref() && tell[0].Absent, "%+v", tell)
	expect.That(t, ended.DueAt(tb.now) != nil, "nobody looks again")

	tb.must(func(a *Aggregate) (aggregate.Change, error) { return tell[0].Decide(a) })
	_, err = tell[0].Decide(tb.load())
	expect.Fails(t, err, aggregate.ErrNotDue)
	said := tb.saidOf(made.Head.TaskID)
	expect.Must(t, len(said) == 1 && strings.Contains(said[0].Content, "was cancelled"), "%+v", said)
	a := tb.load()
	expect.Is(t, len(a.Cards), 2, "cards")
	expect.That(t, len(a.Inbox) == 0 && a.Handed[0].EndedAs == task.TaskCancelled, "the agent is asked: %+v", a.Inbox)

	c, err = tell[0].Told(ended)
	expect.NoError(t, err)
	knows := ended.After(c).(*task.Aggregate)
	expect.That(t, len(knows.Effects(tb.now).Tell) == 0, "told again")
	_, err = tell[0].Told(knows)
	expect.Fails(t, err, aggregate.ErrNotDue)
}

func TestEachEndOfAHandedOverTaskHasItsSentence(t *testing.T) {
	at := start.Add(time.Hour)
	seen := map[string]string{}
	for name, x := range map[string]struct {
		e    task.Ended
		says string
	}{
		"done":      {task.Ended{As: task.TaskCompleted, Reason: task.ReasonDone}, "is done"},
		"failed":    {task.Ended{As: task.TaskFailed, Reason: task.ReasonToolFailed}, "failed"},
		"unknown":   {task.Ended{As: task.TaskFailed, Reason: task.ReasonToolUnknown}, "A person needs to check"},
		"rejected":  {task.Ended{As: task.TaskCancelled, Reason: task.ReasonStepRejected}, "was rejected"},
		"too often": {task.Ended{As: task.TaskCancelled, Reason: task.ReasonMaxVersions}, "was rejected"},
		"expired":   {task.Ended{As: task.TaskCancelled, Reason: task.ReasonExpired}, "approved it in time"},
		"cancelled": {task.Ended{As: task.TaskCancelled, Reason: task.ReasonByPerson}, "was cancelled"},
		"answered":  {task.Ended{As: task.TaskAnswered, Reason: task.ReasonHelp}, "nothing to approve"},
		"refused":   {task.Ended{As: task.TaskRefused, Reason: task.ReasonGuest}, "was declined"},
	} {
		tb, made := handedOver(t)
		x.e.At = at
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.TaskEnded(made.Head.TaskID, x.e, at) })
		said := tb.saidOf(made.Head.TaskID)
		expect.Must(t, len(said) == 1 && strings.Contains(said[0].Content, x.says), "%s: %+v", name, said)
		expect.That(t, len(said[0].Pieces()) == 1 && !said[0].Pieces()[0].Quoted, "%s: %+v", name, said[0].Pieces())
		seen[fmt.Sprint(said[0].Content)] = name
		again := x.e
		again.At = at.Add(time.Minute) // after somebody tried it again
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.TaskEnded(made.Head.TaskID, again, at) })
		expect.Is(t, len(tb.saidOf(made.Head.TaskID)), 2, name)
	}
	expect.Is(t, len(seen), 8)
}

func TestNobodyIsToldOfATaskWhereTheConversationIsOver(t *testing.T) {
	at := start.Add(time.Hour)
	for name, end := range map[string]func(a *Aggregate){
		"closed":     func(a *Aggregate) { a.Conversation.Status = Closed },
		"forgotten":  func(a *Aggregate) { a.Head.ForgottenAt = &at },
		"forgetting": func(a *Aggregate) { a.Head.ForgettingAt = &at; a.Conversation = nil },
		"others":     func(a *Aggregate) { a.Handed = nil },
	} {
		tb, made := handedOver(t)
		a := tb.load()
		s := *a.Conversation
		a.Conversation = &s
		end(a)
		_, err := a.TaskEnded(made.Head.TaskID, task.Ended{As: task.TaskCompleted, At: at}, at)
		expect.Fails(t, err, aggregate.ErrNotDue, name)
	}
}

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
	return after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "read", HandOver: text, ByButton: true},
		start.Add(time.Second)))
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
	expect.Must(t, o != nil && o.Text == "buy it" && len(a.Handed) == 0 && len(a.Effects(now).Make) == 0,
		"%+v, handed %+v", o, a.Handed)
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
	_, err := a.MakeRequest("another", person(sato), policy, now)
	expect.Fails(t, err, aggregate.ErrNotFound)

	c, err := a.MakeRequest(o.ID, person(suzuki), policy, now)
	made := after(t, a)(c, err)
	expect.That(t, len(c.Audit) == 1 && c.Audit[0].Action == AuditHandedOver && c.Audit[0].ActorID == suzuki,
		"%+v", c.Audit)
	h := made.Handed[0]
	expect.That(t, h.User == suzuki && h.Text == "buy it" && h.MessageTS == "1775034000.000100" &&
		h.TaskID == made.Offered[0].TaskID && made.OpenOffer() == nil, "%+v", h)
	expect.Is(t, len(made.Effects(now).Make), 1, "tasks that the relay makes")

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
		a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "x", HandOver: text, ByButton: true},
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
	a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "I ask for it", HandOver: "buy it"}, tb.now))
	o := a.OpenOffer()
	expect.Must(t, o != nil && o.Text == "buy it" && o.User == sato && o.MessageTS == "1775034000.000100", "%+v", o)
	expect.Is(t, len(a.Handed), 0)

	a = after(t, a)(a.MakeRequest(o.ID, person(sato), policy, tb.now))
	a.Head.Resting = false
	c, err := a.Answered(a.Head.Run, nil, Answer{Text: "and more", HandOver: "buy two"}, tb.now)
	a = after(t, a)(c, err)
	expect.That(t, a.OpenOffer() == nil, "%+v", a.OpenOffer())
	said := ""
	for _, b := range c.Beside {
		if m, is := b.Row.(*Message); is && m.Sender == FromSystem {
			said = m.Content
		}
	}
	expect.Has(t, said, a.Handed[0].TaskID)
}
