package conversation

import (
	"fmt"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// wrote is a conversation in which an action wrote files, and nobody waits.
func wrote(t *testing.T, c FilesChanged) (*table, *Action) {
	t.Helper()
	tb, x := executing(t, CodeGenerate)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "v1", Changed: &c}, tb.now)
	})
	expect.NoError(t, tb.answer(nil))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Rest(a.Head.Run, tb.now) })
	return tb, tb.load().Actions[0]
}

func (tb *table) send(x *Action, by string) error {
	return tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.SendFiles(x.ActionID, person(by), policy, tb.now)
	})
}

func TestFilesAreSentOnce(t *testing.T) {
	tb, x := wrote(t, FilesChanged{Files: 2, Written: 2})
	expect.That(t, tb.load().Next(tb.now).State == aggregate.StateFinish, "something is left to do")
	for range 2 { // a double click
		expect.NoError(t, tb.send(x, "U2"))
	}
	a := tb.load()
	expect.That(t, a.Actions[0].Sending.State == SendingWanted && a.Actions[0].Sending.By == "U2" &&
		a.Effects(tb.now).Begin != nil,
		"%+v", a.Actions[0].Sending)
	expect.NoError(t, tb.begin())
	expect.That(t, tb.load().Next(tb.now).State == StateAnswer, "the run goes elsewhere")
	move := func(f func(a *Aggregate) (aggregate.Change, error)) error { return tb.do(f) }
	sent := func(a *Aggregate) (aggregate.Change, error) { return a.Sent(a.Head.Run, x.ActionID, tb.now) }
	up := func(a *Aggregate) (aggregate.Change, error) {
		return a.Uploaded(a.Head.Run, x.ActionID, []SentFile{{"a", "F1"}}, tb.now)
	}
	expect.Fails(t, move(func(a *Aggregate) (aggregate.Change, error) {
		return a.Uploaded(a.Head.Run-1, x.ActionID, nil, tb.now)
	}), aggregate.ErrSuperseded, "an upload of a run that is over")
	expect.NoError(t, move(up))
	expect.Fails(t, move(up), aggregate.ErrMoved, "a second upload, whose files would be shared beside the first")
	expect.NoError(t, move(sent))
	expect.That(t, tb.load().Head.Resting, "the run goes on with nothing to do, so the next message waits for the sweeper")
	expect.Fails(t, move(sent), aggregate.ErrSuperseded, "the end of what has ended")
	expect.NoError(t, tb.send(x, "U2"))
	a = tb.load()
	expect.That(t, a.Actions[0].Sending.State == SendingDone && a.Sending() == nil, "%+v", a.Actions[0].Sending)
}

func TestWhatMayHaveBeenSharedIsLookedForFirst(t *testing.T) {
	for _, tt := range []struct {
		why  aggregate.Reason
		then SendingState
	}{{ReasonNotShared, SendingUploaded}, {ReasonNotSent, SendingWanted}} {
		tb, x := wrote(t, FilesChanged{Files: 1, Written: 1})
		expect.NoError(t, tb.send(x, "U2"))
		expect.NoError(t, tb.begin())
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Uploaded(a.Head.Run, x.ActionID, []SentFile{{"a", "F1"}}, tb.now)
		})
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			if tt.why == ReasonNotShared {
				return a.GiveUp(a.Head.Run, ReasonRunFailed, tb.now)
			}
			return a.NotSent(a.Head.Run, x.ActionID, tt.why, tb.now)
		})
		expect.That(t, tb.load().Actions[0].Sending.State == SendingFailed, "%+v", tb.load().Actions[0].Sending)
		expect.NoError(t, tb.send(x, "U3"))
		s := tb.load().Actions[0].Sending
		expect.That(t, s.State == tt.then && s.By == "U3" && (len(s.Files) > 0) == (tt.then == SendingUploaded),
			"%s: %+v", tt.why, s)
	}
}

func TestFilesThatCantBeSent(t *testing.T) {
	for _, c := range []FilesChanged{{}, {Files: 3}, {Files: 11, Written: 11}, {Files: 1, Written: 1, Large: true}} {
		tb, x := wrote(t, c)
		expect.Fails(t, tb.send(x, "U2"), aggregate.ErrMoved, fmt.Sprintf("%+v", c))
	}
	tb, x := wrote(t, FilesChanged{Files: 1, Written: 1})
	expect.NoError(t, tb.send(x, "U2"))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.close(person("U1"), ReasonClosed, tb.now) })
	a := tb.load()
	expect.That(t, a.Sending() == nil && a.Actions[0].Sending.State == SendingFailed, "%+v", a.Actions[0].Sending)
	expect.Fails(t, tb.send(x, "U2"), aggregate.ErrMoved, "a closed conversation's files")

	tree := treeOf(t, map[string]string{"kept": "1", "moved": "1", "run": "1"})
	after := treeOf(t, map[string]string{"kept": "2", "run": "!1", "empty": "", "link": "→kept",
		"new/big": string(make([]byte, MaxSentBytes+1))})
	sum := SumOf(Difference(tree, after), after)
	expect.That(t, sum.Written == 2 && sum.Large, "%+v", sum)
}
