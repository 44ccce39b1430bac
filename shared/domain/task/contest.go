package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
)

// Contest is what a version of the policy knows of the contest that drafts it.
type Contest struct {
	ExecutionID string             `json:"execution_id"`
	File        string             `json:"file"`            // the orchestrator file that its teams come from
	Order       aggregate.JSON     `json:"order,omitempty"` // what the contest begins with, until it is there
	Budget      aggregate.MicroUSD `json:"budget_micro_usd"`
	Reserved    aggregate.MicroUSD `json:"reserved_micro_usd,omitempty"` // what the day of AskedAt counts for it until it has ended
	MostOfDay   aggregate.MicroUSD `json:"-"`                            // what that day may come to with the budget; 0: anything
	AskedAt     time.Time          `json:"asked_at"`
	Until       time.Time          `json:"until"` // by when it was to have ended
	EndedAt     *time.Time         `json:"ended_at,omitempty"`
	As          string             `json:"status,omitempty"`  // how it ended: a contest.SummaryStatus, of one without a summary a contest.Status, else one of those below
	Entries     []Entry            `json:"entries,omitempty"` // the best of each team that has one, the best first
	Failed      int                `json:"failed_teams,omitempty"`
	// Failures say of the teams without a submission why they have none: of the first of them, as many as a card names.
	Failures []contest.FailedTeam `json:"failures,omitempty"`
}

// MaxFailures is how many teams a version names that failed.
const MaxFailures = 5

// Entry is a team's best submission.
type Entry struct {
	TeamID   string  `json:"team_id"`
	TeamName string  `json:"team_name"`
	Round    int     `json:"round_number"`
	Score    float64 `json:"score"` // 0 to 100, with two digits
	Hash     string  `json:"hash"`  // of its text, as HashOf has it

	Exit contest.ExitReason `json:"exit_reason,omitempty"` // why the team stopped there
}

// How a contest ended of which nothing was heard; and of a version that was not left to one, why not.
const (
	ContestLost     = "lost"
	ContestTooLong  = "request_too_long" // for teams
	ContestNoBudget = "budget_too_small" // to divide among them
)

// makingFor is longer than the relay and the sweeper, which make contests, may take: their functions end within a
// minute.
const makingFor = 2 * time.Minute

// contestLateBy is how long a contest that was to have ended is waited for: its own sweeper ends it long before.
const contestLateBy = time.Hour

// Over reports whether the contest has ended; it is not there, or not heard of, before.
func (c *Contest) Over() bool { return c != nil && c.EndedAt != nil }

// Contesting is the version that a contest drafts now, nil when none does.
func (a *Aggregate) Contesting() *Prompt {
	p := a.Prompt()
	if a.Head.Ended != nil || p == nil || p.Status != aggregate.Generating || p.Contest == nil || p.Contest.Over() {
		return nil
	}
	return p
}

// Awaits reports whether a run that waits at the row with this key has to go on waiting: for a person's decision, or
// for a contest.
func (a *Aggregate) Awaits(key string) bool {
	if open, waits := a.OpenGate(); waits {
		return open.Key == key
	}
	p := a.Contesting()
	return p != nil && p.Key() == key
}

// AskContest leaves the newest version to a contest. The day counts the contest's whole budget until it has ended, so
// that two requests at the same time never both spend the last of the day's budget. It is no change when that version
// is not generating, or was left to a contest before.
func (a *Aggregate) AskContest(run int, asked Contest, now time.Time) (aggregate.Change, error) {
	p := a.Prompt()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || p.Contest != nil || a.Head.Parked != nil {
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

// SkipContest notes on the newest version why it is not left to a contest. It is no change where AskContest is none.
func (a *Aggregate) SkipContest(run int, file, why string, now time.Time) (aggregate.Change, error) {
	at := now.UTC().Truncate(time.Millisecond)
	return a.AskContest(run, Contest{File: file, Until: at, EndedAt: &at, As: why}, now)
}

// contestMade notes that the contest of a version is there.
func (a *Aggregate) contestMade(key string) (aggregate.Change, error) {
	p := aggregate.Find(a.Prompts, key)
	if p == nil || p.Contest == nil || p.Contest.Order == "" {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	c.Put(p.contested(func(x *Contest) { x.Order = "" }))
	return c.done()
}

// dropContest ends the contest of a version whose task has ended before it began, and gives back what the day counts
// for it. It returns ErrNotDue while one that is about to be made may still come.
func (a *Aggregate) dropContest(key string, now time.Time) (aggregate.Change, error) {
	p := aggregate.Find(a.Prompts, key)
	if p == nil || p.Contest == nil || p.Contest.Order == "" || p.Contest.Over() || !a.makesNone(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.endContest(p, contest.Outcome{Status: contest.Cancelled}, a.begin(now))
}

// makesNone reports whether nobody who read the task before it ended can still make what it asked for.
func (a *Aggregate) makesNone(now time.Time) bool {
	return a.Head.Ended != nil && !now.Before(a.Head.Ended.At.Add(makingFor))
}

// contestWithdrawn notes that a lost contest was told so.
func (a *Aggregate) contestWithdrawn(execution string) (aggregate.Change, error) {
	if !slices.Contains(a.Head.LostContests, execution) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	c.Head.LostContests = slices.DeleteFunc(slices.Clone(a.Head.LostContests), func(x string) bool { return x == execution })
	return c.done()
}

// contested is the row with another state of its contest.
func (p *Prompt) contested(edit func(*Contest)) *Prompt {
	n, x := *p, *p.Contest
	edit(&x)
	n.Contest = &x
	return &n
}

// ContestEnded records on the row that asked for a contest how it ended and what it cost, whichever run is the head's.
// A version that still waits for it goes on. A contest's cost is charged even when the task no longer waits for it. It returns ErrNotDue when that was recorded before, ErrNotFound when the row did not ask for it.
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
		for _, e := range o.Summary.Places {
			x.Entries = append(x.Entries, Entry{e.TeamID, e.TeamName, e.RoundNumber, contest.Round2(e.Score * 100), e.Hash, e.ExitReason})
		}
	})
	c.Put(n)
	c.Made = n
	return c.done()
}

// loseContest ends the wait for a contest of which nothing is heard. It returns ErrNotDue while there is still hope.
func (a *Aggregate) loseContest(now time.Time) (aggregate.Change, error) {
	p := a.Contesting()
	if p == nil || now.Before(p.Contest.Until.Add(contestLateBy)) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Head.LostContests = append(slices.Clone(a.Head.LostContests), p.Contest.ExecutionID)
	return a.endContest(p, contest.Outcome{Status: ContestLost}, c)
}

// FinishContest opens the gate of a version with a team's submission under these settings, on which it relies. It is no
// change when the newest version is not generating, or its contest goes on. It returns ErrNotFound for a team without a
// submission.
func (a *Aggregate) FinishContest(run int, team, content string, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
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

// judging reports whether people are asked about a contest's draft.
func (a *Aggregate) judging() bool {
	open, waits := a.OpenGate()
	p := a.Prompt()
	return waits && open.Terms.ApprovalRequired && p != nil && p.Entry != nil && p.Key() == open.Key
}

// Entry is a team's submission, nil when it has none.
func (c *Contest) Entry(team string) *Entry {
	if c == nil {
		return nil
	}
	if i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.TeamID == team }); i >= 0 {
		return &c.Entries[i]
	}
	return nil
}

// Others are the submissions of the other teams, the best first; none where no contest drafted the version.
func (p *Prompt) Others() (out []Entry) {
	if p.Entry == nil || p.Contest == nil {
		return nil
	}
	for _, e := range p.Contest.Entries {
		if e.TeamID != p.Entry.TeamID {
			out = append(out, e)
		}
	}
	return out
}

// contests are what has to happen because of contests that versions asked for: they begin, and are withdrawn with the
// task; one of a task that has ended does not begin, and is withdrawn in case it was just made. So is one that is lost,
// once: a team of it that enters late would be paid for beside the version that took its place.
func (a *Aggregate) contests(now time.Time) (begin []aggregate.Making, withdraw []aggregate.Telling) {
	self := a.Ref()
	for _, p := range a.Prompts {
		if p.Contest == nil || p.Contest.Over() {
			continue
		}
		ref, key := contest.Ref(a.Head.TenantID, p.Contest.ExecutionID), p.Key()
		over := aggregate.Telling{Ref: ref, Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
			return x.(*contest.Aggregate).Withdraw(self, now)
		}}
		switch {
		case p.Contest.Order != "" && a.Head.Ended != nil:
			if over.Absent = true; a.makesNone(now) {
				over.Told = func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).dropContest(key, now) }
			}
			withdraw = append(withdraw, over)
		case p.Contest.Order != "":
			begin = append(begin, aggregate.Making{Ref: ref, Order: p.Contest.Order, Made: func(x aggregate.Aggregate) (aggregate.Change, error) {
				return x.(*Aggregate).contestMade(key)
			}})
		case a.Head.Ended != nil:
			withdraw = append(withdraw, over)
		}
	}
	for _, lost := range a.Head.LostContests {
		withdraw = append(withdraw, aggregate.Telling{Ref: contest.Ref(a.Head.TenantID, lost), Absent: true,
			Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
				return x.(*contest.Aggregate).Withdraw(self, now)
			},
			Told: func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).contestWithdrawn(lost) },
		})
	}
	return begin, withdraw
}

// awaitContest is where a run goes while a contest drafts.
func awaitContest(p *Prompt, now time.Time) aggregate.Next {
	left := max(time.Minute, p.Contest.Until.Sub(now))
	return aggregate.Next{State: StateAwaitContest, Gate: p.Key(), TimeoutSeconds: int((left + contestLateBy + fuse).Seconds())}
}
