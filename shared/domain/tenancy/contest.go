package tenancy

import (
	"strings"

	"ringi/shared/domain/aggregate"
)

// DraftContest says whether teams compete to draft policies.
type DraftContest struct {
	Enabled   bool    `json:"enabled"`
	File      string  `json:"file"`       // of the contest, in the workspace of contests
	MaxRounds int     `json:"max_rounds"` // of each team, if the file allows as many
	BudgetUSD float64 `json:"budget_usd"` // of one contest: each team has an equal part
	Seconds   int     `json:"seconds"`    // of one contest
}

// Budget is what one contest may cost.
func (d DraftContest) Budget() aggregate.MicroUSD { return limitOf(d.BudgetUSD) }

// problems are those of a contest that is switched on without what it needs.
func (d DraftContest) problems() (all []Problem) {
	if d.Enabled && d.Budget() == 0 {
		all = append(all, Problem{Field: "draft_contest.budget_usd", Rule: RuleAbove})
	}
	if strings.HasPrefix(d.File, "/") || strings.Contains(d.File, "..") || strings.TrimSpace(d.File) != d.File {
		all = append(all, Problem{Field: "draft_contest.file", Rule: RuleFile})
	}
	return all
}
