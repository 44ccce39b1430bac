package conversation

import (
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// numbered returns a conversation whose action a rule had Suzuki settle, about to be claimed.
func numbered(t *testing.T, with bool) *table {
	o := along(desk(suzuki))
	o.Rule.Numbered = with
	tb := circulating(t, o)
	tb.makes(tb.acting(circulation.Stamp, suzuki), "action.approved")
	expect.NoError(t, tb.begin())
	return tb
}

// claimAs claims by a series of numbers.
func (tb *table) claimAs(of task.Series) (aggregate.Change, error) {
	return tb.load().Numbering(of).Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
}

// numberIn returns the number that the entry of an action in a Change says.
func numberIn(t *testing.T, c aggregate.Change, as aggregate.Action) any {
	t.Helper()
	for _, e := range c.Audit {
		if e.Action == as {
			d := map[string]any{}
			expect.NoError(t, json.Unmarshal([]byte(e.Details), &d))
			return d["number"]
		}
	}
	t.Errorf("no entry %s", as)
	return nil
}

func TestAnActionOfANumberedRuleIsClaimedWithTheNextNumber(t *testing.T) {
	tb := numbered(t, true)
	for of, want := range map[task.Series]error{{}: task.ErrNumber, {Year: 2026, Last: task.MostNumbers}: task.ErrNumbersGone} {
		_, err := tb.claimAs(of)
		expect.Fails(t, err, want)
	}
	settled, ok := tb.load().Unnumbered()
	x := tb.load().Current()
	expect.That(t, ok && settled.Equal(*x.Gate.ApprovedAt), "%v, %v", settled, ok)

	c := expect.Value(tb.claimAs(task.Series{Year: 2026, Last: 122}))(t)
	expect.Must(t, len(c.Beside) == 1 && c.Beside[0].List == task.NumbersList && c.Beside[0].Of == "2026", "%+v", c.Beside)
	n := c.Beside[0].Row.(*task.Numbered)
	expect.That(t, n.Key() == "000123" && n.SessionID == tb.head.SessionID && n.ActionID == x.ActionID && n.TaskID == "" &&
		n.GateKey == x.Key() && n.Rule == *x.Gate.Terms.Rule && n.Round == 1 && n.SettledAt.Equal(settled), "%+v", n)
	expect.Fails(t, c.Beside[0].Err, task.ErrNumber)
	expect.Is(t, numberIn(t, c, AuditStarted), any("2026-000123"))

	as := func(a *Aggregate) (aggregate.Change, error) {
		return a.Numbering(task.Series{Year: 2026, Last: 122}).Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
	}
	expect.NoError(t, tb.do(as))
	_, ok = tb.load().Unnumbered()
	expect.That(t, !ok && tb.load().Current().DecisionNumber == "2026-000123", "%+v", tb.load().Current())
	end := expect.Value(tb.load().Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now))(t)
	expect.Is(t, numberIn(t, end, AuditCompleted), any("2026-000123"))
}

// A claim that was given back, because nothing had begun, is taken again with the same number.
func TestAnActionThatIsClaimedAgainKeepsItsNumber(t *testing.T) {
	tb := numbered(t, true)
	x := tb.load().Current()
	expect.NoError(t, tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Numbering(task.Series{Year: 2026}).Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
	}))
	expect.NoError(t, tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.Release(x.ActionID, "i1", tb.now) }))
	c := expect.Value(tb.claimAs(task.Series{Year: 2026, Last: 7}))(t)
	expect.Must(t, len(c.Beside) == 0, "a second number: %+v", c.Beside)
	expect.NoError(t, tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Claim(tb.head.Run, "i2", tb.now.Add(time.Minute), tb.now)
	}))
	expect.Is(t, tb.load().Current().DecisionNumber, "2026-000001")
}

func TestOnlyActionsOfNumberedRulesHaveNumbers(t *testing.T) {
	tb := numbered(t, false)
	_, ok := tb.load().Unnumbered()
	c := expect.Value(tb.claimAs(task.Series{Year: 2026, Last: 3}))(t)
	expect.That(t, !ok && len(c.Beside) == 0 && numberIn(t, c, AuditStarted) == nil, "%+v", c.Beside)
	plain, x := pending(t, ShellCommand)
	expect.NoError(t, plain.approve(x, suzuki))
	expect.NoError(t, plain.begin())
	c = expect.Value(plain.claimAs(task.Series{Year: 2026, Last: 3}))(t)
	expect.That(t, len(c.Beside) == 0, "%+v", c.Beside)
}
