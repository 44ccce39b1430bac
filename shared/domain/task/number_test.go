package task

import (
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// toBegin returns a task that may begin to run: Suzuki settled its steps by a rule with numbers.
func toBegin(t testing.TB) *story {
	s := waitingPrompt(t)
	numbered := along(desk(1, suzuki))
	numbered.Rule.Numbered = true
	s.do(s.approvePrompt, s.plan, s.opens(numbered))
	return s.do(s.does(circulation.Stamp, suzuki))
}

func (s *story) startAs(of Series) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.StartExecution(s.head.Run, of, now)
	}
}

// saying returns what the entry of an action in a Change says.
func saying(t testing.TB, c aggregate.Change, action aggregate.Action) (d map[string]any) {
	t.Helper()
	for _, e := range c.Audit {
		if e.Action == action {
			expect.NoError(t, json.Unmarshal([]byte(e.Details), &d))
			return d
		}
	}
	t.Fatalf("no entry %s", action)
	return nil
}

func TestWhatANumberedRuleSettledBeginsWithTheNextNumber(t *testing.T) {
	s := toBegin(t)
	s.refused(s.start, ErrNumber)
	s.refused(s.startAs(Series{Year: 2026, Last: MostNumbers}), ErrNumbersGone)
	settled, ok := s.load().Unnumbered()
	expect.That(t, ok && settled.Equal(*s.load().Process().ApprovedAt), "%v, %v", settled, ok)

	c := expect.Value(s.startAs(Series{Year: 2026, Last: 122})(s.load(), s.now))(t)
	expect.That(t, len(c.Beside) == 1 && c.Beside[0].List == NumbersList && c.Beside[0].Of == "2026", "%+v", c.Beside)
	x := c.Beside[0].Row.(*Numbered)
	expect.That(t, x.Key() == "000123" && x.String() == "2026-000123" && x.TaskID == s.head.TaskID &&
		x.GateKey == ProcessKey(1), "%+v", x)
	expect.Fails(t, c.Beside[0].Err, ErrNumber)
	expect.Is(t, saying(t, c, AuditExecutionStarted)["number"], any("2026-000123"))

	s.do(s.startAs(Series{Year: 2026, Last: 122}))
	_, ok = s.load().Unnumbered()
	expect.That(t, !ok && s.load().NumberOf(1) == "2026-000123", "%+v", s.load().Execution())
	s.do(s.claim, s.finish(done))
}

func TestARetriedExecutionKeepsItsNumber(t *testing.T) {
	s := toBegin(t)
	s.do(s.startAs(Series{Year: 2026}), s.fail)
	c := expect.Value(s.retry(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 0, "%+v", c.Beside)
	s.do(s.retry)
	c = expect.Value(s.startAs(Series{Year: 2026, Last: 7})(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 0, "a second number: %+v", c.Beside)
	s.do(s.start) // which needs none
	expect.Is(t, s.load().Execution().Number, "2026-000001")
	c = expect.Value(s.fail(s.load(), s.now))(t)
	expect.Is(t, saying(t, c, AuditExecutionFailed)["number"], any("2026-000001"))
	c = expect.Value(s.cancelExecution(s.load(), s.now))(t)
	expect.Is(t, saying(t, c, AuditExecutionCancelled)["number"], any("2026-000001"))
}

// What was cancelled before it began leaves no gap.
func TestWhatNeverBeganHasNoNumber(t *testing.T) {
	s := toBegin(t)
	c := expect.Value(s.cancel(s.load(), s.now))(t)
	expect.Must(t, len(c.Beside) == 0, "%+v", c.Beside)
	_, has := saying(t, c, AuditExecutionCancelled)["number"]
	expect.That(t, !has, "it says a number")
}

func TestOnlyNumberedRulesGiveNumbers(t *testing.T) {
	plain, other := waitingProcess(t), onRoute(t)
	plain.do(plain.approveProcess)
	other.do(other.does(circulation.Stamp, suzuki), other.does(circulation.Stamp, tanaka))
	for name, s := range map[string]*story{"without a rule": plain, "another rule": other} {
		_, ok := s.load().Unnumbered()
		c := expect.Value(s.startAs(Series{Year: 2026, Last: 3})(s.load(), s.now))(t)
		_, has := saying(t, c, AuditExecutionStarted)["number"]
		expect.That(t, !ok && len(c.Beside) == 0 && !has, "%s: %+v", name, c.Beside)
	}
}

// No call of what a numbered rule settled is made as long as it has no number, whoever began it.
func TestNothingOfANumberedRuleRunsWithoutItsNumber(t *testing.T) {
	s := toBegin(t)
	s.do(s.startAs(Series{Year: 2026}))
	e := *s.load().Execution()
	e.Number = ""
	s.rows[e.Key()] = &e
	stops(t, s, s.claim, ReasonStepsChanged)
}

// People type a number as it is printed, with an input method on or off; other texts are requests.
func TestANumberIsReadInFullWidth(t *testing.T) {
	for _, text := range []string{"2026-000123", " 2026-000123 ", "２０２６－０００１２３", "２０２６ー０００１２３",
		"2026−000123", "2026‐000123"} {
		x, ok := ParseNumber(text)
		expect.That(t, ok && x.Year == 2026 && x.N == 123, "%q: %+v", text, x)
	}
	for _, text := range []string{"", "2026-123", "2026-000000", "2026-0000123", "2026-000123 を送って",
		"２０２６年の売上", "2026--00123", "総務部-2026-0012"} {
		_, ok := ParseNumber(text)
		expect.That(t, !ok, "%q is a number", text)
	}
}
