package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Contest is what a policy version records about the contest that drafts it.
type Contest struct {
	ExecutionID string             `json:"execution_id"`
	File        string             `json:"file"`            // the contest's file, which names its teams
	Order       aggregate.JSON     `json:"order,omitempty"` // input for creating the contest; empty once it exists
	Budget      aggregate.MicroUSD `json:"budget_micro_usd"`
	// reserved on AskedAt's day until the contest ends
	Reserved  aggregate.MicroUSD `json:"reserved_micro_usd,omitempty"`
	MostOfDay aggregate.MicroUSD `json:"-"` // that day's cost limit with the budget; 0: none
	AskedAt   time.Time          `json:"asked_at"`
	Until     time.Time          `json:"until"` // when the contest should end
	EndedAt   *time.Time         `json:"ended_at,omitempty"`
	// As says how it ended: a contest.SummaryStatus, without a summary a contest.Status, or a constant below.
	As      string          `json:"status,omitempty"`
	Detail  string          `json:"detail,omitempty"`  // with ContestFiles: the file, the field and what is wrong with it
	Entries []contest.Place `json:"entries,omitempty"` // each team's best submission, best first
	Failed  int             `json:"failed_teams,omitempty"`
	// Failures says why teams have no submission; at most MaxFailures of them.
	Failures []contest.FailedTeam `json:"failures,omitempty"`
}

// MaxFailures is how many failed teams a version records, which is as many as a card names.
const MaxFailures = 5

// Values of Contest.As for a contest that stopped reporting, and for versions without a contest.
const (
	ContestLost     = "lost"
	ContestTooLong  = "request_too_long" // too long for the teams
	ContestNoBudget = "budget_too_small" // too small to divide among the teams
	ContestFiles    = "files_unusable"   // the contest's files can't be read or are invalid
)

// maxContestDetail bounds Contest.Detail, in characters.
const maxContestDetail = 1000

// makingFor is longer than the relay or the sweeper may take to create a contest. These functions end within a minute.
const makingFor = 2 * time.Minute

// contestLateBy is how long to wait for an overdue contest. Normally its own sweeper ends it long before.
const contestLateBy = time.Hour

// Over reports whether the contest has ended. It is false while the contest has not been created.
func (c *Contest) Over() bool { return c != nil && c.EndedAt != nil }

// Contesting returns the version that a contest is drafting, or nil.
func (a *Aggregate) Contesting() *Prompt {
	p := a.Prompt()
	if a.Head.Ended != nil || p == nil || p.Status != aggregate.Generating || p.Contest == nil || p.Contest.Over() {
		return nil
	}
	return p
}

// Awaits reports whether a run that waits at the row with this key must keep waiting, for a person's decision or for a
// contest.
func (a *Aggregate) Awaits(key string) bool {
	if open, waits := a.OpenGate(); waits {
		return open.Key == key && a.LooksAgain() == nil
	}
	p := a.Contesting()
	return p != nil && p.Key() == key
}

// AskContest hands the newest version to a contest. It reserves the contest's full budget for the day, so that two
// concurrent requests can't both spend the rest of the day's budget. It changes nothing if that version is not
// generating or already had a contest.
func (a *Aggregate) AskContest(run int, asked Contest, now time.Time) (aggregate.Change, error) {
	p := a.Prompt()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || p.Contest != nil ||
		a.Head.Parked != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	n := *p
	asked.AskedAt = c.Now
	if !asked.Over() && asked.Budget > 0 {
		asked.Reserved, c.Counts = asked.Budget, tenancy.Reserve(asked.Budget, asked.MostOfDay, c.Now)
	}
	n.Contest = &asked
	c.Put(&n)
	return c.done()
}

// SkipContest records why the newest version is drafted without a contest. It changes nothing in the cases where
// AskContest doesn't.
func (a *Aggregate) SkipContest(run int, file, why, detail string, now time.Time) (aggregate.Change, error) {
	at := now.UTC().Truncate(time.Millisecond)
	detail = language.Beginning(detail, maxContestDetail)
	return a.AskContest(run, Contest{File: file, Until: at, EndedAt: &at, As: why, Detail: detail}, now)
}

// contestMade records that the version's contest was created.
func (a *Aggregate) contestMade(key string) (aggregate.Change, error) {
	p := aggregate.Find(a.Prompts, key)
	if p == nil || p.Contest == nil || p.Contest.Order == "" {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	c.Put(p.contested(func(x *Contest) { x.Order = "" }))
	return c.done()
}

// dropContest ends a contest that was never created because the task had ended, and releases the reserved budget. It
// returns ErrNotDue while somebody could still create it.
func (a *Aggregate) dropContest(key string, now time.Time) (aggregate.Change, error) {
	p := aggregate.Find(a.Prompts, key)
	if p == nil || p.Contest == nil || p.Contest.Order == "" || p.Contest.Over() || !a.makesNone(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.endContest(p, contest.Outcome{Status: contest.Cancelled}, a.begin(now))
}

// makesNone reports whether it is too late for anybody who read the task before it ended to create a contest.
func (a *Aggregate) makesNone(now time.Time) bool {
	return a.Head.Ended != nil && !now.Before(a.Head.Ended.At.Add(makingFor))
}

// contestWithdrawn records that a lost contest has been withdrawn.
func (a *Aggregate) contestWithdrawn(execution string) (aggregate.Change, error) {
	if !slices.Contains(a.Head.LostContests, execution) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	c.Head.LostContests = slices.DeleteFunc(slices.Clone(a.Head.LostContests),
		func(x string) bool { return x == execution })
	return c.done()
}

// contested returns a copy of the row with an edited contest.
func (p *Prompt) contested(edit func(*Contest)) *Prompt {
	n, x := *p, *p.Contest
	edit(&x)
	n.Contest = &x
	return &n
}

// ContestEnded records how a contest ended and what it cost, on the row that asked for it, whichever run the head
// names. The cost is charged even if the task no longer waits for the contest. It returns ErrNotDue if this was already
// recorded, and ErrNotFound if the row did not ask for the contest.
func (a *Aggregate) ContestEnded(key string, o contest.Outcome, now time.Time) (aggregate.Change, error) {
	p := aggregate.Find(a.Prompts, key)
	if p == nil || p.Contest == nil || p.Contest.ExecutionID != o.Execution {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c, err := Charge(o.Usage, now, func(a *Aggregate) (aggregate.Change, error) {
		if p.Contest.Over() {
			return aggregate.Change{}, nil
		}
		return a.endContest(p, o, a.begin(now))
	})(a)
	if err == nil && c.Empty() {
		err = aggregate.ErrNotDue
	}
	return c, err
}

func (a *Aggregate) endContest(p *Prompt, o contest.Outcome, c *change) (aggregate.Change, error) {
	if a.Contesting() == p {
		c.progress()
	}
	c.Counts = tenancy.Settle(p.Contest.Reserved, 0, p.Contest.AskedAt)
	n := p.contested(func(x *Contest) {
		x.EndedAt, x.Order, x.As, x.Reserved = &c.Now, "", string(o.Status), 0
		if o.Summary == nil {
			return
		}
		x.As, x.Failed = string(o.Summary.Status), len(o.Summary.FailedTeams)
		x.Failures = o.Summary.FailedTeams[:min(x.Failed, MaxFailures)]
		x.Entries = o.Summary.Places
	})
	c.Put(n)
	c.Made = n
	return c.done()
}

// loseContest stops waiting for a contest that is overdue by contestLateBy; before that it returns ErrNotDue.
func (a *Aggregate) loseContest(now time.Time) (aggregate.Change, error) {
	p := a.Contesting()
	if p == nil || now.Before(p.Contest.Until.Add(contestLateBy)) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Head.LostContests = append(slices.Clone(a.Head.LostContests), p.Contest.ExecutionID)
	return a.endContest(p, contest.Outcome{Status: ContestLost}, c)
}

// FinishContest opens the version's gate with a team's submission. It relies on the settings s. It changes nothing if
// the newest version is not generating or its contest goes on, and returns ErrNotFound if the team has no such
// submission.
func (a *Aggregate) FinishContest(run int, team, content string, s tenancy.Settings, now time.Time) (aggregate.Change,
	error) {
	p := a.Prompt()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || !p.Contest.Over() {
		return aggregate.Change{}, err
	}
	entry := p.Contest.Entry(team)
	if entry == nil || entry.Hash != aggregate.HashOf(content) {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	return a.openGate(p, a.asksForPolicy(s), s, now, func(row Gated) {
		n := row.(*Prompt)
		n.Content, n.Entry = content, entry
		if limit := s.MaxCost(); a.CostReached(limit) {
			n.CostLimit = limit
		}
	})
}

// judging reports whether people are being asked about a contest's draft.
func (a *Aggregate) judging() bool {
	open, waits := a.OpenGate()
	p := a.Prompt()
	return waits && open.Terms.ApprovalRequired && p != nil && p.Entry != nil && p.Key() == open.Key
}

// Entry returns a team's submission, or nil.
func (c *Contest) Entry(team string) *contest.Place {
	if c == nil {
		return nil
	}
	if i := slices.IndexFunc(c.Entries, func(e contest.Place) bool { return e.TeamID == team }); i >= 0 {
		return &c.Entries[i]
	}
	return nil
}

// Others returns the other teams' submissions, best first; none if no contest drafted the version.
func (p *Prompt) Others() []contest.Place {
	if p.Entry == nil || p.Contest == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Contest.Entries),
		func(e contest.Place) bool { return e.TeamID == p.Entry.TeamID })
}

// contests returns the contests to create and to withdraw. A contest is withdrawn when its task has ended; if it was
// not created yet, in case somebody is just creating it. A lost contest is withdrawn too, because otherwise a late team
// would cost money besides the version that replaced the contest.
func (a *Aggregate) contests(now time.Time) (begin []aggregate.Making, withdraw []aggregate.Telling) {
	self := a.Ref()
	over := func(execution string) aggregate.Telling {
		return aggregate.Telling{Ref: contest.Ref(a.Head.TenantID, execution),
			Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
				return x.(*contest.Aggregate).Withdraw(self, now)
			}}
	}
	for _, p := range a.Prompts {
		if p.Contest == nil || p.Contest.Over() {
			continue
		}
		key, tell := p.Key(), over(p.Contest.ExecutionID)
		switch {
		case p.Contest.Order != "" && a.Head.Ended != nil:
			if tell.Absent = true; a.makesNone(now) {
				tell.Told = func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).dropContest(key, now) }
			}
			withdraw = append(withdraw, tell)
		case p.Contest.Order != "":
			begin = append(begin, aggregate.Making{Ref: tell.Ref, Order: p.Contest.Order,
				Made: func(x aggregate.Aggregate) (aggregate.Change, error) {
					return x.(*Aggregate).contestMade(key)
				}})
		case a.Head.Ended != nil:
			withdraw = append(withdraw, tell)
		}
	}
	for _, lost := range a.Head.LostContests {
		tell := over(lost)
		tell.Absent, tell.Told = true, func(x aggregate.Aggregate) (aggregate.Change, error) {
			return x.(*Aggregate).contestWithdrawn(lost)
		}
		withdraw = append(withdraw, tell)
	}
	return begin, withdraw
}

// awaitContest returns the state in which a run waits for a contest.
func awaitContest(p *Prompt, now time.Time) aggregate.Next {
	left := max(time.Minute, p.Contest.Until.Sub(now))
	return aggregate.Next{State: StateAwaitContest, Gate: p.Key(),
		TimeoutSeconds: int((left + contestLateBy + fuse).Seconds())}
}
