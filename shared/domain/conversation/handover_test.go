package conversation

import (
	"fmt"
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
	expect.Must(t, said != nil && said.TaskID != "" && strings.Contains(said.Content, "became task "+said.TaskID), "%+v", said)
}
