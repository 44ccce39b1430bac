package task

import (
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// numbering returns an opening by a rule whose decisions get a number.
func numbering(o aggregate.Opening) aggregate.Opening {
	o.Rule.Numbered = true
	return o
}

// toBegin returns a task that may begin to run: Suzuki settled its steps by a rule with numbers.
func toBegin(t testing.TB) *story {
	s := waitingPrompt(t)
	s.do(s.approvePrompt, s.finishOn(numbering(along(1, desk(1, suzuki)))))
	return s.do(s.does(circulation.Stamp, suzuki))
}

func (s *story) startAs(of Series) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.StartNumbered(s.head.Run, of, now)
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
	lack, ok := s.load().Unnumbered()
	settled := lack.Settled
	expect.That(t, ok && settled.Equal(*s.load().Process().ApprovedAt), "%v, %v", lack, ok)

	c := expect.Value(s.startAs(Series{Year: 2026, Last: 122})(s.load(), s.now))(t)
	expect.That(t, len(c.Beside) == 1 && c.Beside[0].List == NumbersList && c.Beside[0].Of == "2026", "%+v", c.Beside)
	x := c.Beside[0].Row.(*Numbered)
	expect.That(t, x.Key() == "000123" && x.String() == "2026-000123" && x.TaskID == s.head.TaskID && x.Round == 1 &&
		x.GateKey == ProcessKey(1) && x.Rule.ID == "r1" && x.SettledAt.Equal(settled) && x.BegunAt.Equal(c.Now), "%+v", x)
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

// documented returns a task that may begin to run, of a tenant with a register: Suzuki settled its steps.
func documented(t testing.TB, numbered bool) *story {
	s := begin(t)
	s.do(s.into(0, takenOn()["accepted"]), s.extract, s.finishPrompt)
	o := along(1, desk(1, suzuki))
	if numbered {
		o = numbering(o)
	}
	return s.do(s.approvePrompt, s.finishOn(o), s.does(circulation.Stamp, suzuki))
}

// A document has the next number of its department, given by the commit that gives the decision's.
func TestWhatPeopleStampedBeginsWithTheNextNumberOfItsDepartment(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		s := documented(t, numbered)
		lack, ok := s.load().Unnumbered()
		expect.That(t, ok && lack.Document == "営業部" && lack.Decision == numbered, "%+v", lack)
		of := Series{Year: 2026, Last: 122}
		with := func(name string, last int) Series {
			of := of
			of.Documents = &Series{Name: name, Year: 2026, Last: last}
			return of
		}
		s.refused(s.start, ErrNumber)
		s.refused(s.startAs(of), ErrNumber)
		s.refused(s.startAs(with("総務部", 11)), ErrNumber)
		s.refused(s.startAs(with("営業部", MostNumbers)), ErrNumbersGone)
		c := expect.Value(s.startAs(with("営業部", 11))(s.load(), s.now))(t)
		last := c.Beside[len(c.Beside)-1]
		x := last.Row.(*Numbered)
		series := with("営業部", 0).Documents.Of()
		expect.That(t, (len(c.Beside) == 2) == numbered && last.List == NumbersList && last.Of == series,
			"%+v", c.Beside)
		expect.That(t, x.String() == "営業部-2026-0012" && x.TaskID == s.head.TaskID && x.GateKey == ProcessKey(1), "%+v", x)
		expect.Fails(t, last.Err, ErrNumber)
		said := saying(t, c, AuditExecutionStarted)
		expect.That(t, said["document"] == any("営業部-2026-0012") && (said["number"] != nil) == numbered, "%v", said)

		s.do(s.startAs(with("営業部", 11)), s.fail, s.retry)
		_, ok = s.load().Unnumbered()
		expect.That(t, !ok && s.load().Head.Document == "営業部-2026-0012", "%+v", s.load().Head)
		s.do(s.start) // which needs none
		c = expect.Value(s.fail(s.load(), s.now))(t)
		expect.Is(t, saying(t, c, AuditExecutionFailed)["document"], any("営業部-2026-0012"))
	}
}

// What nobody stamped is no document, nor what was cancelled before it began; whose department nobody knows is of the
// whole company, and what is asked in a channel with its own series is of that.
func TestOnlyStampedRequestsOfARegisterAreDocuments(t *testing.T) {
	plain, cancelled := waitingProcess(t), documented(t, false)
	plain.do(plain.approveProcess)
	_, ok := plain.load().Unnumbered()
	c := expect.Value(cancelled.cancel(cancelled.load(), cancelled.now))(t)
	expect.That(t, !ok && len(c.Beside) == 0, "%+v", c.Beside)
	unasked := begin(t)
	unasked.do(unasked.into(0, takenOn()["accepted"]))
	expect.Is(t, unasked.load().Head.Series, "営業部")
	r := &Register{Settings: tenancy.DefaultSettings(), Of: Series{Year: unasked.ofDay()}}
	taken := func() string {
		s := begin(t)
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return takenOn()["accepted"](a.Registering(r), now)
		})
		return s.load().Head.Series
	}
	expect.Is(t, taken(), "全社")
	here := unasked.load().Request.Channel
	r.Department, r.Settings.ChannelSeries = "営業部", []tenancy.ChannelSeries{{Channel: "C0OTHER", Name: "人事"}}
	expect.Is(t, taken(), "営業部")
	r.Settings.ChannelSeries = append(r.Settings.ChannelSeries, tenancy.ChannelSeries{Channel: here, Name: "契約"})
	expect.Is(t, taken(), "契約")
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
	for text, series := range map[string]string{"総務部-2026-0012": "総務部", " コンピューター課－２０２６－００１２ ": "コンピューター課",
		"A-1-2026-0012": "A-1", "総務部-2026-12345": ""} {
		x, ok := ParseNumber(text)
		expect.That(t, ok && x.Year == 2026 && (x.N == 12 && x.Series == series || x.N == 12345), "%q: %+v", text, x)
	}
	for _, text := range []string{"", "2026-123", "2026-000000", "2026-0000123", "2026-000123 を送って",
		"２０２６年の売上", "2026--00123", "総務部-2026-12", "-2026-0012", "総務部-2026-0000", "総務部-026-0012"} {
		_, ok := ParseNumber(text)
		expect.That(t, !ok, "%q is a number", text)
	}
}

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
