package tenancy

import (
	"strings"

	"ringi/shared/domain/aggregate"
)

// DraftContest configures contests in which teams draft policies.
type DraftContest struct {
	Enabled   bool    `json:"enabled"`
	File      string  `json:"file"`       // path of the contest's file in the workspace of contests
	MaxRounds int     `json:"max_rounds"` // maximum for each team; the file may set a lower one
	BudgetUSD float64 `json:"budget_usd"` // for one contest, split equally among the teams
	Seconds   int     `json:"seconds"`    // time limit of one contest
	Rejected  string  `json:"rejected"`   // who makes a rejected draft anew: RejectedToTeam or RejectedToAll
}

// Values of DraftContest.Rejected.
const (
	RejectedToTeam = "team"    // the team whose draft it was
	RejectedToAll  = "contest" // a whole contest
)

// Budget is the cost limit of one contest.
func (d DraftContest) Budget() aggregate.MicroUSD { return limitOf(d.BudgetUSD) }

// problems returns the problems of these settings, such as a contest that is enabled without a budget.
func (d DraftContest) problems() (all []Problem) {
	if d.Enabled && d.Budget() == 0 {
		all = append(all, Problem{Field: "draft_contest.budget_usd", Rule: RuleAbove})
	}
	if strings.HasPrefix(d.File, "/") || strings.Contains(d.File, "..") || strings.TrimSpace(d.File) != d.File {
		all = append(all, Problem{Field: "draft_contest.file", Rule: RuleFile})
	}
	return all
}
