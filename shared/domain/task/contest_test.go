package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

const execution = "3f1c2b1e-0000-4000-8000-000000000001"

func (s *story) askContest(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.AskContest(s.head.Run, Contest{ExecutionID: execution, File: "contest.toml", Order: "{}",
		Until: now.Add(5 * time.Minute)}, now)
}

func (s *story) contestMade(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.contestMade(PromptKey(1))
}

// contestEnds ends the contest with two teams that have a submission and one that failed.
func (s *story) contestEnds(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.ContestEnded(PromptKey(1), contest.Outcome{
		Execution: execution, Status: contest.Closed, Usage: aggregate.Usage{ID: execution, Calls: 9, Input: 100, Cost: 700},
		Summary: &contest.Summary{Status: contest.SummaryPartialFailure, FailedTeams: []contest.FailedTeam{{TeamID: "c"}},
			Places: []contest.Place{
				{TeamID: "a", TeamName: "総務", RoundNumber: 2, Score: 0.915, Hash: aggregate.HashOf("総務の案")},
				{TeamID: "b", TeamName: "経理", RoundNumber: 1, Score: 0.8, Hash: aggregate.HashOf("経理の案")},
			}},
	}, now)
}

func (s *story) finishContest(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FinishContest(s.head.Run, "a", "総務の案", s.settings, now)
}

func (s *story) pick(by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.PickDraft(idOf(a.Prompt()), "b", "経理の案", "別の案を選びました", by, s.policy, now)
	}
}

// contested returns a task whose policy was drafted by a contest.
func contested(t testing.TB) *story {
	s := begin(t)
	return s.do(s.extract, s.askContest, s.contestMade, s.contestEnds, s.finishContest)
}

func details(t *testing.T, e aggregate.AuditEntry) (d map[string]any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal([]byte(e.Details), &d))
	return d
}

func TestTheDayCountsAContestByItsBudgetUntilItHasEnded(t *testing.T) {
	for name, end := range map[string]func(s *story) decision{
		"by what it cost": func(s *story) decision { return s.contestEnds },
		"by nothing where its task ended before it began": func(s *story) decision {
			s.do(s.cancel)
			s.now = s.now.Add(makingFor)
			return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				e := a.Effects(now)
				expect.Must(t, len(e.Make) == 0 && len(e.Tell) == 1 && e.Tell[0].Told != nil && a.DueAt(now) != nil, "%+v", e)
				return e.Tell[0].Told(a)
			}
		},
		"by nothing where nothing is heard of it": func(s *story) decision {
			return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.loseContest(now.Add(2 * time.Hour))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, day := begin(t), map[string]int{}
			counting := func(d decision) decision {
				return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					c, err := d(a, now)
					for _, n := range c.Counts {
						day[n.Key] += n.By
					}
					return c, err
				}
			}
			s.do(s.extract, counting(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.AskContest(s.head.Run, Contest{ExecutionID: execution, Order: "{}", Until: now.Add(time.Minute),
					Budget: 5000, MostOfDay: 6000}, now)
			}))
			key := "SPENT#" + s.load().Prompt().Contest.AskedAt.Format(time.DateOnly)
			expect.Same(t, map[string]int{key: 5000}, day)
			s.do(counting(end(s)))
			cost := 700
			if as := s.load().Prompt().Contest.As; as == ContestLost || as == string(contest.Cancelled) {
				cost = 0
			}
			if e := s.load().Effects(s.now); len(e.Make) > 0 || s.load().Head.Ended != nil && len(e.Tell) > 0 {
				t.Errorf("it is not left alone: %+v", e)
			}
			expect.That(t, day[key] == cost && s.load().Prompt().Contest.Reserved == 0, "%v, %s is reserved", day,
				s.load().Prompt().Contest.Reserved)
		})
	}
}

func TestAVersionThatIsLeftToAContestWaitsForItAlone(t *testing.T) {
	s := begin(t)
	s.do(s.extract, s.askContest)
	s.nothing(s.askContest)
	s.nothing(s.finishPrompt) // an invocation that had begun before
	a := s.load()
	if n := a.Next(s.now); n.State != StateAwaitContest || n.Gate != PromptKey(1) || n.TimeoutSeconds < 300+3600 {
		t.Errorf("next is %+v", n)
	}
	e := a.Effects(s.now)
	expect.That(t, e.Run == nil && len(e.Make) == 1 && e.Make[0].Ref == (aggregate.Ref{Tenant: a.Head.TenantID,
		Kind: "contest", ID: execution}) && e.Make[0].Order == "{}", "effects are %+v", e)
	s.do(s.contestMade)
	e = s.load().Effects(s.now)
	expect.That(t, len(e.Make) == 0 && s.load().Prompt().Contest.Order == "", "it is made again: %+v", e.Make)
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.GiveUp(1, ReasonRunFailed, now) })
	s.waits[PromptKey(1)] = aggregate.Wait{Gate: PromptKey(1), Token: "token", Run: 1, Entered: s.now}
	e = s.load().Effects(s.now)
	expect.That(t, len(e.Wake) == 0, "woken too early: %+v", e.Wake)
	// There is nothing to run.
	s.refused(s.restarts(1), aggregate.ErrSuperseded)
}

func TestAContestEndsForTheRowWhicheverRunIsTheHeads(t *testing.T) {
	s := begin(t)
	s.do(s.extract, s.askContest, s.contestMade)
	s.waits[PromptKey(1)] = aggregate.Wait{Gate: PromptKey(1), Token: "token", Run: 1, Entered: s.now}
	s.do(s.contestEnds)
	s.refused(s.contestEnds, aggregate.ErrNotDue)
	a := s.load()
	if e := a.Effects(s.now); len(e.Wake) != 1 || e.Run == nil || a.Next(s.now).State != StateDraftPrompt {
		t.Errorf("nobody goes on: %+v, %+v", e, a.Next(s.now))
	}
	expect.That(t, a.Spent() == 700 && s.spent == 700, "the task cost %s, the day %s", a.Spent(), s.spent)
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishContest(1, "a", "他人の案", s.settings, now)
	}, aggregate.ErrNotFound)
	s.do(s.finishContest, s.approvePrompt)
	d := details(t, s.audit[len(s.audit)-1])
	expect.That(t, d["team"] == "総務" && d["score"] == 91.5, "approved as %v", d)
}

func TestAContestOfATaskThatEndedIsWithdrawnAndPaidFor(t *testing.T) {
	s := begin(t)
	s.do(s.extract, s.askContest, s.cancel)
	if e := s.load().Effects(s.now); len(e.Make) != 0 || len(e.Tell) != 1 || !e.Tell[0].Absent || e.Tell[0].Told != nil {
		t.Errorf("one that may have been made is not withdrawn: %+v", e)
	}
	s.do(s.contestMade)
	a := s.drawn()
	if e := a.Effects(s.now); len(e.Tell) != 1 || a.DueAt(s.now) == nil {
		t.Errorf("nobody tells the contest: %+v, due %v", e, a.DueAt(s.now))
	}
	s.do(s.contestEnds)
	a = s.drawn()
	e := a.Effects(s.now)
	expect.That(t, len(e.Tell) == 0 && a.DueAt(s.now) == nil && e.Run == nil, "it is over, and not left alone: %+v", e)
	expect.Is(t, a.Spent(), 700, "the task cost")
}

func TestAContestThatIsNotHeardOfHoldsUpNothingForEver(t *testing.T) {
	s := begin(t)
	s.do(s.extract, s.askContest, s.contestMade)
	lose := (*Aggregate).loseContest
	s.refused(lose, aggregate.ErrNotDue)
	s.now = s.now.Add(2 * time.Hour)
	s.do(lose, s.finishPrompt)
	c, err := s.try(s.contestEnds) // a late end
	expect.That(t, err == nil && c.Head == nil && s.load().Spent() == 700 && s.load().Prompt().Content == "方針",
		"%v, spent %s, drafted %q", err, s.load().Spent(), s.load().Prompt().Content)
}

// A team that found no capacity at first must not start after the task has given up the contest.
func TestAContestThatIsLostIsToldOnceToStop(t *testing.T) {
	for name, next := range map[string]func(*story) decision{
		"the draft is made": func(s *story) decision { return s.finishPrompt },
		"the run failed":    func(s *story) decision { return s.park },
		"the task ended":    func(s *story) decision { return s.cancel },
	} {
		s := begin(t)
		s.do(s.extract, s.askContest, s.contestMade)
		asked, asker := s.load().Prompt().Contest, s.load().Ref()
		s.now = s.now.Add(2 * time.Hour)
		s.do((*Aggregate).loseContest, next(s))
		a := s.drawn()
		e := a.Effects(s.now)
		if due := a.DueAt(s.now); len(e.Tell) != 1 || !e.Tell[0].Absent || due == nil || due.After(s.now.Add(5*time.Minute)) {
			t.Fatalf("%s: nobody tells the contest: %+v, due %v", name, e, due)
		}
		c, err := contest.Begin(contest.Order{Execution: asked.ExecutionID, Tenant: asker.Tenant, Prompt: "方針",
			Teams: []contest.Entry{{TeamID: "a", TeamName: "A"}}, MaxRounds: 1, TeamTimeoutSeconds: 60,
			TimeoutSeconds: 60, Budget: 100, For: asker, ForRow: PromptKey(1),
			Config: aggregate.Blob{JSON: "{}"}}, s.now)
		expect.NoError(t, err)
		x := (&contest.Aggregate{}).After(c)
		if c, err = e.Tell[0].Decide(x); err != nil || x.After(c).(*contest.Aggregate).Head.OverAt == nil {
			t.Errorf("%s: the contest goes on: %v", name, err)
		}
		told := func(a *Aggregate, _ time.Time) (aggregate.Change, error) { return e.Tell[0].Told(a) }
		s.do(told)
		s.refused(told, aggregate.ErrNotDue)
		if e := s.load().Effects(s.now); len(e.Tell) != 0 {
			t.Errorf("%s: it is told again: %+v", name, e.Tell)
		}
	}
}

// A draft that people are judging isn't withdrawn because its contest cost too much. After their decision nothing more
// is paid for.
func TestADraftOfAContestThatCostTooMuchIsPeoplesToJudge(t *testing.T) {
	limit := aggregate.MicroUSD(700) // the cost in contestEnds
	stop := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.StopForCost(a.Head.Run, limit, now)
	}
	finished := func(t *testing.T, approvals bool) *story {
		s := begin(t)
		s.settings.MaxCostUSD, s.settings.PromptApprovalRequired = 0.0007, approvals
		return s.do(s.extract, s.askContest, s.contestMade, s.contestEnds, s.finishContest)
	}
	for name, decide := range map[string]func(*story) []decision{
		"approved":  func(s *story) []decision { return []decision{s.approvePrompt} },
		"sent back": func(s *story) []decision { return []decision{s.rejectPrompt, s.beginPrompt} },
		"another picked, and stamped": func(s *story) []decision {
			return []decision{s.pick(person(suzuki)), s.approvePrompt}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := finished(t, true)
			for _, d := range decide(s) {
				if _, waits := s.load().OpenGate(); waits {
					s.nothing(stop)
					p := s.load().Prompt()
					expect.That(t, p.CostLimit == limit, "version %d does not say it: %s", p.Version, p.CostLimit)
				}
				s.do(d)
			}
			s.do(stop)
			e := s.load().Head.Ended
			expect.That(t, e != nil && e.Reason == ReasonCostLimit, "ended %+v", e)
		})
	}
	expect.That(t, finished(t, false).do(stop).head.Ended != nil, "nobody judges it, and it goes on")
	p := contested(t).load().Prompt()
	expect.That(t, p.CostLimit == 0, "without a limit it says %s", p.CostLimit)
}

func TestAPickedDraftIsTheNextVersion(t *testing.T) {
	s := contested(t)
	s.settings.MaxVersions = 1
	s.refused(s.pick(person("U_OUTSIDER")), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})
	first := s.load().Prompt()
	s.do(s.pick(person(suzuki)))
	a := s.load()
	old, n := a.Prompts[0], a.Prompt()
	expect.Must(t, old.Status == aggregate.Rejected && old.RejectedBy == suzuki && n.Version == 2 &&
		n.Status == aggregate.PendingApproval && n.Author == suzuki && n.Content == "経理の案" &&
		n.Entry.TeamName == "経理", "%+v\n%+v", old, n)
	expect.That(t, !n.Terms.DecideBy.Before(*first.Terms.DecideBy) && a.Next(s.now).State == StateAwaitPromptApproval,
		"to be decided by %v, next is %+v", n.Terms.DecideBy, a.Next(s.now))
	others := n.Others()
	expect.That(t, len(others) == 1 && others[0].TeamID == "a", "others are %+v", others)
	late := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.PickDraft(old.ID, "a", "総務の案", "別の案を選びました", person(tanaka), s.policy, now)
	}
	s.refused(late, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: suzuki, At: *old.RejectedAt})
	s.policy.AllowSelf = false
	s.refused(s.approves(person(requester)), aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf})
	s.do(s.approves(person(suzuki)))
	d := details(t, s.audit[len(s.audit)-1])
	expect.That(t, d["team"] == "経理" && d["score"] == 80.0 && d["picked_by"] == suzuki, "approved as %v", d)
	_, err := s.try(s.pick(person(suzuki)))
	decided := aggregate.ErrDecided{}
	expect.That(t, errors.As(err, &decided), "picked after the stamp: %v", err)
}

func TestPickedVersionsDontCountTowardsTheMost(t *testing.T) {
	s := contested(t)
	s.do(s.pick(person(suzuki)), s.rejectPrompt)
	expect.Must(t, s.load().Prompts[0].Terms.MaxVersions == 5 && s.head.Ended == nil, "ended: %+v", s.head.Ended)
	expect.Is(t, s.load().Further(s.load().Prompt()), 4)
	s.do(s.beginPrompt)
	p := s.load().Prompt()
	expect.That(t, p.Version == 3 && p.Author == "" && p.Contest == nil, "%+v", p)
}

// leaveToContest starts a contest, or opens the gate with its result. It reports whether the run has nothing else to
// do.
func (w *world) leaveToContest(run int) bool {
	p := w.view().Prompt()
	if p == nil {
		return false
	}
	if !p.Contest.Over() {
		w.decideAs(run, "ask for a contest", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.AskContest(run, Contest{ExecutionID: fmt.Sprint("contest-of-", a.Prompt().version()), Order: "{}",
				Until: now.Add(5 * time.Minute)}, now)
		})
		return !w.calm || w.load().Contesting() != nil
	}
	if len(p.Contest.Entries) == 0 {
		return false
	}
	team := p.Contest.Entries[0].TeamID
	w.decideAs(run, "finish a contest's prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishContest(run, team, "方針", w.settings, now)
	})
	return true
}

func (p *Prompt) version() int {
	if p == nil {
		return 0
	}
	return p.Version
}

// makeContests creates and withdraws contests like the relay.
func (w *world) makeContests() {
	for _, lost := range w.load().Head.LostContests {
		w.decide("relay: contest withdrawn", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.contestWithdrawn(lost)
		})
	}
	for _, p := range w.load().Prompts {
		if p.Contest != nil && p.Contest.Order != "" {
			w.decide("relay: contest made", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.contestMade(p.Key())
			})
		}
	}
}

// contestEnds starts the contest if necessary and ends it. Sometimes it reports the end twice, and sometimes all teams
// fail.
func (w *world) contestEnds() {
	w.makeContests()
	for _, p := range w.load().Prompts {
		if p.Contest == nil {
			continue
		}
		o := contest.Outcome{Execution: p.Contest.ExecutionID, Status: contest.Closed,
			Summary: &contest.Summary{Status: contest.SummaryCompleted}, Usage: w.usage(p.Contest.ExecutionID)}
		for _, team := range []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(w.rt, "teams")] {
			o.Summary.Places = append(o.Summary.Places, contest.Place{TeamID: team, TeamName: team, RoundNumber: 1, Score: 0.9,
				Hash: aggregate.HashOf("方針")})
		}
		w.decide("contest: ended", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.ContestEnded(p.Key(), o, now)
		})
	}
}

// contestsAreOver reports whether every contest has ended and every lost contest was withdrawn.
func (w *world) contestsAreOver(a *Aggregate) bool {
	for _, p := range a.Prompts {
		if p.Contest != nil && !p.Contest.Over() {
			return false
		}
	}
	return len(a.Head.LostContests) == 0
}
