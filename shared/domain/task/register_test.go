package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// ofDay is the fiscal year of the stories' days.
func (s *story) ofDay() int { return tenancy.DefaultSettings().FiscalYear(s.now) }

// into has a decision made by a tenant with a register, of which so many numbers are given.
func (s *story) into(last int, do decision) decision {
	r := &Register{Settings: tenancy.DefaultSettings(), Of: Series{Year: s.ofDay(), Last: last}, Department: "営業部"}
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return do(a.Registering(r), now) }
}

// takenOn are the decisions that take a request on, or refuse it.
func takenOn() map[string]decision {
	return map[string]decision{
		"accepted": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Accept(a.Head.Run, person(requester), tenancy.DefaultSettings(), now)
		},
		"a guest's": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			guest := person(requester)
			guest.Guest = true
			return a.RefuseOutsider(a.Head.Run, guest, now)
		},
		"a guest's, looked at last": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			guest := person(requester)
			guest.Guest = true
			return a.Accept(a.Head.Run, guest, tenancy.DefaultSettings(), now)
		},
		"undecidable": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RefuseUndecidable(a.Head.Run, aggregate.RuleSelf, now)
		},
		"too many": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RefuseFull(a.Head.Run, aggregate.ErrFull{Count: aggregate.Count{Reason: ReasonOpenPerson, Most: 3}}, now)
		},
		"by a rule": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			no := Refusal{Why: ReasonRuleRefuses, Rule: circulation.Rule{ID: "r1", Name: "rule"}}
			return a.RefuseByRule(a.Head.Run, no, tenancy.DefaultSettings(), now)
		},
	}
}

func TestWhatIsTakenOnOrRefusedGetsTheNextNumber(t *testing.T) {
	for name, do := range takenOn() {
		s := begin(t)
		c := expect.Value(s.into(86, do)(s.load(), s.now))(t)
		expect.Must(t, len(c.Beside) == 1 && c.Beside[0].List == RequestsList, "%s: %+v", name, c.Beside)
		x := c.Beside[0].Row.(*Requested)
		expect.That(t, x.Key() == "000087" && x.TaskID == s.head.TaskID && x.Department == "営業部" &&
			x.TakenAt.Equal(c.Now) && c.Head.(*Head).RequestNumber == x.String(), "%s: %+v", name, x)
		expect.Fails(t, c.Beside[0].Err, ErrNumber)
		for _, e := range c.Audit {
			expect.Is(t, saying(t, c, e.Action)["request_number"], any(x.String()), name)
		}
		s.do(s.into(86, do))
		again, _ := s.into(87, do)(s.load(), s.now)
		expect.That(t, len(again.Beside) == 0 && again.Empty(), "%s, a second time: %+v", name, again)
	}
}

func TestANumberIsOfTheDayOfItsChange(t *testing.T) {
	for name, do := range takenOn() {
		s := begin(t)
		for of, want := range map[Series]error{{}: ErrNumber, {Year: s.ofDay() - 1}: ErrNumber,
			{Year: s.ofDay() + 1, Last: MostNumbers}: ErrNumber, {Year: s.ofDay(), Last: MostNumbers}: ErrNumbersGone} {
			r := &Register{Settings: tenancy.DefaultSettings(), Of: of}
			_, err := do(s.load().Registering(r), s.now)
			expect.Fails(t, err, want, name)
		}
	}
}

func TestWithoutARegisterNothingIsNumbered(t *testing.T) {
	for name, do := range takenOn() {
		s := begin(t)
		c := expect.Value(do(s.load(), s.now))(t)
		expect.That(t, len(c.Beside) == 0 && c.Head.(*Head).RequestNumber == "", "%s: %+v", name, c.Beside)
	}
}

// What ends before anybody takes it on has no number, and leaves no gap. Nor has what is of no tenant.
func TestWhatIsNotTakenOnHasNoNumber(t *testing.T) {
	s := begin(t)
	foreign := func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RefuseWorkspace(a.Head.Run, now) }
	for name, do := range map[string]decision{"cancelled": s.cancel, "of another workspace": foreign} {
		c := expect.Value(s.into(86, do)(s.load(), s.now))(t)
		expect.That(t, !c.Empty() && len(c.Beside) == 0 && c.Head.(*Head).RequestNumber == "", "%s: %+v", name, c.Beside)
	}
}

func TestTheEntryOfATaskHasItsNumber(t *testing.T) {
	s := begin(t)
	s.do(s.into(122, takenOn()["accepted"]))
	c := expect.Value(s.extract(s.load(), s.now))(t)
	expect.Is(t, saying(t, c, AuditTaskCreated)["request_number"], any((&Requested{Year: s.ofDay(), N: 123}).String()))
}
