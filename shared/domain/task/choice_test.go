package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// beside returns a waiting prompt.
func beside() ThreadGate {
	return ThreadGate{TaskID: "01OTHER", Title: "勤怠集計", ID: "01PROMPT", Kind: CardPrompt, Version: 1}
}

// asked returns a story whose message was written beside that prompt.
func asked(t testing.TB) *story {
	s := begin(t)
	s.do(asks(1, beside()))
	return s
}

func asRequest(s *story, by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.TakeAsRequest(s.load().Choice.ID, by, s.policy, now)
	}
}

func asReason(s *story, by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.TakeAsReason(s.load().Choice.ID, a.Request.Saying(), by, s.policy, now)
	}
}

func TestNothingIsGeneratedBeforeAPersonChooses(t *testing.T) {
	s := asked(t)
	a, now := s.load(), s.now
	n := a.Next(now)
	expect.That(t, n.State == StateFinish && n.Outcome == "asked", "the run goes to %+v", n)
	e := a.Effects(now)
	expect.That(t, e.Run == nil, "a run is started: %+v", e.Run)
	a.Head.ShownRev = a.Head.Rev
	isDue(t, a, now, now.Add(5*time.Minute))
	a.Choice.GateOver = true
	isDue(t, a, now, *a.Choice.Terms.DecideBy)
	expect.That(t, !a.Stuck(now.Add(time.Hour)), "it counts as stuck")
	s.nothing(asks(1, ThreadGate{}))
}

func TestAMessageBecomesANewRequestByChoice(t *testing.T) {
	s := asked(t)
	stranger := person("U_OTHER")
	s.refused(asRequest(s, stranger), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty})
	s.do(asRequest(s, person(requester)))
	a := s.load()
	n := a.Next(s.now)
	expect.That(t, n.State == StateExtractTask && a.Head.Run == 2, "run %d goes to %+v", a.Head.Run, n)
	at := *a.Choice.DecidedAt
	s.nothing(asRequest(s, person(requester)))
	s.refused(asRequest(s, person(suzuki)), aggregate.ErrDecided{Status: "request", By: requester, At: at})
	s.refused(asReason(s, person(suzuki)), aggregate.ErrDecided{Status: "request", By: requester, At: at})
	s.nothing(asks(2, ThreadGate{}))
}

func TestAMessageBecomesAReasonByChoice(t *testing.T) {
	s := asked(t)
	guest := person(tanaka)
	guest.Guest = true
	s.refused(asReason(s, guest), aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest})
	s.do(asReason(s, person(suzuki)))
	a := s.load()
	e := a.Head.Ended
	expect.That(t, e != nil && e.As == TaskAnswered && e.By == suzuki && e.Reason == ReasonBecameReason &&
		a.Head.Run == 1, "%+v", a.Head)
	s.nothing(asReason(s, person(suzuki)))
	s.refused(asRequest(s, person(requester)), aggregate.ErrDecided{Status: "reason", By: suzuki, At: *a.Choice.DecidedAt})
	expect.That(t, s.audit[len(s.audit)-1].Action == AuditRequestChosen, "%+v", s.audit)
}

// If a run fails while the choice is open, the generation is not parked. The choice stays open and expires in time.
func TestAChoiceOutlivesAFailedRun(t *testing.T) {
	s := asked(t)
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.GiveUp(1, ReasonRunFailed, now) })
	a := s.drawn()
	a.Choice.GateOver = true
	isDue(t, a, s.now, *a.Choice.Terms.DecideBy)
}

func TestAChoiceThatSlackRefusedIsTriedEveryHour(t *testing.T) {
	s := asked(t)
	a := s.drawn()
	refused := *a.Cards[0]
	a.Choice.GateOver = true
	refused.State, refused.TriedAt, refused.TriedRev = aggregate.CardUnreachable, &s.now, a.Head.Rev
	a.Add(&refused)
	hour := s.now.Add(time.Hour)
	due := a.DueAt(s.now)
	expect.That(t, due != nil && due.Equal(hour) && a.Effects(hour).Cards, "due at %v, want in an hour", due)
}

func TestAChoiceExpiresAndCanBeCancelled(t *testing.T) {
	s := asked(t)
	s.refused(s.expire, aggregate.ErrNotDue)
	s.now = s.load().Choice.Terms.DecideBy.Add(time.Second)
	s.do(s.expire)
	if e := s.load().Head.Ended; e.As != TaskCancelled || e.Reason != ReasonExpired || !s.load().Choice.Over {
		t.Errorf("%+v, choice %+v", e, s.load().Choice)
	}
	s.refused(asRequest(s, person(requester)), aggregate.ErrDecided{Status: "cancelled", At: s.load().Head.Ended.At,
		Reason: ReasonExpired})
	s = asked(t)
	s.do(s.cancel)
	if e := s.load().Head.Ended; e.As != TaskCancelled || e.By != requester || !s.load().Choice.Over {
		t.Errorf("%+v, choice %+v", e, s.load().Choice)
	}
}

// A torn read may contain the new head but not the choice that was just opened. Decisions on it must not be committed.
func TestNobodyIsAcceptedOrRefusedWhileTheMessageMayBeNoRequest(t *testing.T) {
	guest := person(requester)
	guest.Guest = true
	for name, d := range map[string]decision{
		"accept": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Accept(1, person(requester), tenancy.DefaultSettings(), now)
		},
		"refuse for quota": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RefuseFull(1, aggregate.ErrFull{}, now)
		},
		"turn away": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RefuseOutsider(1, guest, now)
		},
		"not our workspace": func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RefuseWorkspace(1, now) },
	} {
		t.Run(name, func(t *testing.T) {
			s := asked(t)
			s.nothing(d)
			torn := s.load()
			torn.Choice = nil
			c, err := d(torn, s.now)
			expect.Must(t, err == nil && !c.Empty(), "%v, %v", c, err)
			expect.Fails(t, s.commit(torn.Head, c), aggregate.ErrConflict, "committed beside an open choice")
			s.do(asRequest(s, person(requester)))
			s.refused(d, aggregate.ErrSuperseded) // the run that asked
		})
	}
}

// When the other task's gate is decided, the choice stays open, but the message can only become a request.
func TestAChoiceOutlivesItsGate(t *testing.T) {
	gate := waitingPrompt(t)
	over := func(s *story) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			a.Choice.Gate.ID = gate.load().Prompts[0].ID
			return a.GateOver(gate.load(), now)
		}
	}
	s := asked(t)
	s.refused(over(s), aggregate.ErrNotDue)
	gate.do(gate.rejectPrompt, gate.beginPrompt, gate.finishPrompt) // now another version waits
	s.do(over(s))
	a := s.load()
	expect.That(t, a.Choosing() != nil && a.Choice.GateOver && a.Head.Ended == nil && a.Next(s.now).Outcome == "asked",
		"%+v, %+v", a.Choice, a.Head)
	s.refused(over(s), aggregate.ErrNotDue)
	s.do(asRequest(s, person(requester)))
	s.refused(over(s), aggregate.ErrNotDue)
	s = asked(t)
	// The other task is gone.
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.GateOver(nil, now) })
}

// Whenever a task ends, its choice is closed. While the choice is open, the request can't be accepted or refused.
func TestEveryEndClosesTheChoice(t *testing.T) {
	s := asked(t)
	full := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.RefuseFull(1, aggregate.ErrFull{Count: aggregate.Count{Most: 1, Reason: ReasonOpenPerson}}, now)
	}
	s.nothing(s.accept)
	s.nothing(full)
	key := "ASKED#" + requester + "#" + beside().ID
	n := s.counts[key]
	expect.That(t, n == 1, "%d are counted", n)
	for name, end := range map[string]func(s *story) decision{
		"withdrawn": func(s *story) decision { return s.cancel },
		"a reason":  func(s *story) decision { return asReason(s, person(suzuki)) },
		"a request": func(s *story) decision { return asRequest(s, person(suzuki)) },
		"answered by a run that didn't know": func(s *story) decision {
			return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Extracted(1, Extract{Kind: KindHelp, Sentence: "x"}, now)
			}
		},
	} {
		s := asked(t)
		s.do(end(s))
		row := s.load().Choice
		expect.That(t, (row.As != "" || row.Over) && s.counts[key] == 0, "%s: %+v, counted %v", name, row, s.counts)
	}
	// A decision that ends a request without having seen the new choice must not be committed.
	s = begin(t)
	before := s.load()
	c := expect.Value(full(before, s.now))(t)
	row := &Choice{ID: "01CHOICE", Gate: beside()}
	s.rows[row.Key()] = row.At(1) // from a commit that the read missed
	err := s.commit(before.Head, c)
	expect.That(t, err != nil, "it ended, and people are asked about it for ever")
}

// Beside a gate thanks and an OK ask nothing, and decide nothing. Whatever else a message says is asked about.
func TestACourtesyBesideAGateAsksNothing(t *testing.T) {
	written := func(text string) *Aggregate {
		s := begin(t)
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			a.Request.Text = text
			return a.Ask(1, beside(), tenancy.DefaultSettings(), now)
		})
		return s.load()
	}
	for _, text := range []string{"ありがとう！", "どうもありがとうございます。助かりました", "了解です", "承知いたしました。よろしくお願いします", "ＯＫ",
		"OKです👍", "お疲れ様です、ありがとうございます🙇‍♀️", "わかりました〜", "👍", "👍🏽 🎉", ":+1::skin-tone-2: :arigatou:", "Thanks!", "OK 👍",
		"ok, thank you so much", "Got it. Thanks a lot!", "thx all", "LGTM :tada:", "Looks good to me"} {
		a := written(text)
		e := a.Head.Ended
		expect.That(t, e != nil && e.As == TaskAnswered && e.Reason == ReasonCourtesy && a.Choice == nil && a.Head.Run == 1,
			"%q: %+v, choice %+v", text, e, a.Choice)
	}
	for _, text := range []string{"", "!!", "OK?", "了解？", "これ取り消して", "あ、DMはなしで", "ありがとう。DMはなしで", "お願いします",
		"全員分", "all", "please", "thanks, but only Sales", "OK for Sales", "No thanks", "not great", "👍 営業部だけ",
		"<@U0TANAKA>", "3月", "1", "okonomiyaki"} {
		expect.That(t, written(text).Choosing() != nil, "%q is taken for a courtesy", text)
	}
	with := Request{Text: "ありがとう", Files: []aggregate.SharedFile{{ID: "F1"}}}
	quoting := Request{Text: "OK", Forwarded: []aggregate.Quoted{{Text: "営業部だけ"}}}
	expect.That(t, !with.Courtesy() && !quoting.Courtesy(), "what it encloses is not seen")
}

// A newer message of the same person ends one that nobody decided about; what was decided stays.
func TestAChoiceGivesWayToANewerMessage(t *testing.T) {
	giveWay := func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.GiveWay(now) }
	for name, s := range map[string]*story{"asked about": asked(t), "not asked about yet": begin(t)} {
		s.do(giveWay)
		e, key := s.load().Head.Ended, "ASKED#"+requester+"#"+beside().ID
		expect.That(t, e != nil && e.As == TaskCancelled && e.Reason == ReasonNewerMessage && e.By == requester &&
			s.counts[key] == 0, "%s: %+v, counted %v", name, e, s.counts)
		s.nothing(giveWay)
	}
	s := asked(t)
	s.do(asRequest(s, person(requester)), s.accept)
	s.nothing(giveWay)
}
