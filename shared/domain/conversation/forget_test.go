package conversation

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// talked returns a proposal whose payload stands in the bucket, beside the conversation's other objects.
func talked(p *Proposal) *Proposal {
	p.Payload = aggregate.Blob{S3Key: TalksPrefix + "t/s/" + p.Payload.Hash() + ".json", Bytes: 5000}
	return p
}

// What people stamped lives as long as the audit log; what they didn't goes with the conversation.
func TestAStampMovesThePayloadToWhatStays(t *testing.T) {
	for name, tt := range map[string]struct {
		rule   string
		decide func(tb *table, x *Action) (aggregate.Change, error)
		stays  bool
	}{
		"a person's": {"", func(tb *table, x *Action) (aggregate.Change, error) {
			return tb.load().Approve(x.ActionID, person(suzuki), policy, tb.now)
		}, true},
		"a rejection": {"", func(tb *table, x *Action) (aggregate.Change, error) {
			return tb.load().Reject(x.ActionID, "no", person(suzuki), policy, tb.now)
		}, false},
		"a rule's": {"rule", nil, true},
	} {
		tb := opened(t)
		p := talked(proposal(TestRun, tb.now, tt.rule))
		c, err := tb.load().Answered(tb.head.Run, tb.load().Waiting(), Answer{Text: "ok", Proposal: p}, tb.now)
		expect.NoError(t, err)
		if tt.decide != nil {
			expect.Is(t, len(c.Copies), 0, "%s: copies before it", name)
			tb.apply(c, tb.head)
			c, err = tt.decide(tb, tb.load().Current())
			expect.NoError(t, err)
		}
		x := c.Written(ActionKey(1)).(*Action)
		to := strings.Replace(p.Payload.S3Key, TalksPrefix, StampedPrefix, 1)
		stays := len(c.Copies) == 1 && c.Copies[0] == aggregate.Copy{From: p.Payload.S3Key, To: to} && x.Payload.S3Key == to
		expect.That(t, stays == tt.stays && x.Payload.Hash() == p.Payload.Hash(), "%s: %+v names %s", name, c.Copies,
			x.Payload.S3Key)
	}
}

// The sweeper comes when the day is over, and again when nobody writes any more; then never.
func TestAConversationThatIsNotKeptIsForgottenInTwoCommits(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	tb.tell("still there?")
	expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.forgetNow(tb.now) }),
		aggregate.ErrNotDue)
	at := *tb.head.ForgottenAt
	due := tb.load().DueAt(tb.now)
	expect.That(t, due != nil && !due.After(at), "due at %v, to be forgotten at %v", due, at)
	tb.now = at
	_, err := tb.load().Reopen(person(sato), policy, tb.now)
	expect.Fails(t, err, aggregate.ErrNotFound, "begun anew")
	for key := range tb.rows { // they may have expired
		delete(tb.rows, key)
	}
	expect.That(t, tb.load().DueAt(tb.now).Equal(at) && tb.load().Effects(tb.now).Erased == nil,
		"due at %v", tb.load().DueAt(tb.now))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.forgetNow(tb.now) })
	expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.forgetNow(tb.now) }),
		aggregate.ErrNotDue, "twice")
	a := tb.load()
	late := a.Head.ForgettingAt.Add(lastWrite)
	expect.That(t, a.DueAt(tb.now).Equal(late) && a.Effects(late.Add(-time.Second)).Erased == nil,
		"due at %v", a.DueAt(tb.now))
	expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.erased(late.Add(-time.Second)) }),
		aggregate.ErrNotDue, "too early")
	c, err := a.Effects(late).Erased(a)
	expect.That(t, err == nil && len(c.Audit) == 1 && c.Audit[0].Action == AuditForgotten && len(c.Rows) == 0,
		"%+v, %v", c, err)
	expect.NoError(t, tb.commit(a.Head, c))
	a = tb.load()
	expect.That(t, a.Head.ErasedAt != nil && a.DueAt(late) == nil && a.Effects(late.Add(time.Hour)).Erased == nil,
		"%+v", a.Head)
}

// The cards' rows wait for Slack to show the cards without the button to begin anew, for an hour at most.
func TestCardsAreDrawnOnceMoreBeforeTheyAreDeleted(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	expect.That(t, tb.load().Conversation.DeleteAfter > tb.head.ForgottenAt.Unix(), "nothing is left to draw them from")
	tb.head.ShownRev = tb.load().Head.Rev
	tb.now = *tb.head.ForgottenAt
	expect.That(t, !tb.load().Effects(tb.now).Cards, "cards are drawn before anything happened")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.forgetNow(tb.now) })
	a, at := tb.load(), *tb.head.ForgettingAt
	for after, tt := range map[time.Duration]struct{ drawn, erased bool }{
		0: {true, false}, lastWrite + time.Minute: {true, false}, time.Hour: {false, true},
	} {
		then := a.Effects(at.Add(after))
		expect.That(t, then.Cards == tt.drawn && (then.Erased != nil) == tt.erased, "after %s: %+v", after, then)
	}
	expect.Is(t, a.DueAt(at).Sub(at), 5*time.Minute, "the sweeper comes again after")
	expect.Is(t, a.DueAt(at.Add(59*time.Minute)).Sub(at), time.Hour, "in the end it comes after")
	a.Head.ShownRev = a.Head.Rev
	late := at.Add(lastWrite)
	then := a.Effects(late)
	expect.That(t, !then.Cards && then.Erased != nil && a.DueAt(at).Equal(late),
		"once they are shown: %+v, due %v", then, a.DueAt(at))
	a.Head.ErasedAt, a.Head.ShownRev = &late, 0
	then = a.Effects(late.Add(time.Minute))
	expect.That(t, !then.Cards && then.Erased == nil, "cards of which nothing is left: %+v", then)
}

// Nothing is decided on a conversation that is being forgotten, whatever was under way.
func TestNothingIsDecidedWhileAConversationIsForgotten(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.head.ForgettingAt = &tb.now
	for name, decide := range map[string]func(a *Aggregate) (aggregate.Change, error){
		"a result": func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
		},
		"a cost":      func(a *Aggregate) (aggregate.Change, error) { return a.Overtaken(tb.used(), tb.now) },
		"a new start": func(a *Aggregate) (aggregate.Change, error) { return a.Reopen(person(sato), policy, tb.now) },
		"an end":      func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) },
	} {
		expect.That(t, tb.do(decide) != nil, "%s is taken", name)
	}
	expect.That(t, tb.load().Effects(tb.now).Run == nil, "a run is opened")
}
