package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// Alone is a contest that a person starts directly, not for a task.
type Alone struct {
	Tenant    string             `json:"tenant"`
	Execution string             `json:"execution_id"`
	File      string             `json:"file"` // of those that the tenant may see
	Prompt    string             `json:"user_prompt"`
	Locale    string             `json:"locale"`
	MaxRounds int                `json:"max_rounds"` // of each team, if the file allows as many
	Seconds   int                `json:"timeout_seconds"`
	Budget    aggregate.MicroUSD `json:"budget_micro_usd"`
	By        aggregate.Actor    `json:"by"`
}

// ContestQuery is the input of begin-contest: it begins a contest, or describes the one of the file Check, or lists the
// available ones if both are absent.
type ContestQuery struct {
	Tenant string `json:"tenant"` // who asks what there is
	Check  string `json:"check,omitempty"`
	// Prices are what the tenant's own prices of models become together with the setting that Check is asked for; nil:
	// they stay as they are.
	Prices []tenancy.ModelPrice `json:"prices"`
	// MaxRounds is the most rounds that the file that is checked may be played with; 0: as many as it says.
	MaxRounds int    `json:"max_rounds,omitempty"`
	Begin     *Alone `json:"begin,omitempty"`
	Locale    string `json:"locale,omitempty"` // of what is said of the files; "": English
}

// ContestResult is the output of begin-contest. Begun is true once the contest exists. Otherwise OverBudget or NotSet
// is true, or Contests says what is wrong with the contest's file.
type ContestResult struct {
	Begun      bool        `json:"begun"`
	OverBudget bool        `json:"over_budget"` // the day, or the month, has no room for its budget
	NotSet     bool        `json:"not_set"`     // the deployment has no files of contests
	Contests   []Described `json:"contests"`
	More       bool        `json:"more"` // there are files that it did not look at
}

// Described is a contest as a file describes it.
type Described struct {
	File        string          `json:"file"`
	Teams       []contest.Entry `json:"teams"`
	MinRounds   int             `json:"min_rounds"`
	MaxRounds   int             `json:"max_rounds"`
	TeamSeconds int             `json:"timeout_per_team_seconds"`
	Wrong       []string        `json:"wrong"`    // why it can't be played
	Warnings    []string        `json:"warnings"` // parts of its files without effect
}

// PutLease takes, renews or releases a lease if it is as a has read it. The head does not change. It returns
// aggregate.ErrInFlight when another caller was faster. A write whose answer was lost counts as successful.
func (s *Store) PutLease(ctx context.Context, a aggregate.Aggregate, l *aggregate.Lease) error {
	ref := a.Ref()
	e := table.NewExpression()
	var asRead string
	if was := aggregate.Find(a.Common().Leases, l.Key()); was == nil {
		asRead = e.Absent()
	} else {
		asRead = table.Both(e.Is("invocation", "=", was.Invocation), e.Is("lease_until", "=", was.LeaseUntil))
	}
	err := s.putIf(ctx, ref, l, e, asRead)
	if err == nil {
		return nil
	}
	var is aggregate.Lease
	if s.RowAt(ctx, Place{ref, l.Key()}, &is) == nil && l.Same(&is) {
		return nil
	}
	if table.ConditionFailed(err) {
		err = aggregate.ErrInFlight
	}
	return fmt.Errorf("lease %s of %s: %w", l.Of, ref, err)
}
