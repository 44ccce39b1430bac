package task

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// Act returns what the step does, as people say it; empty: nobody said.
func (s Step) Act() rules.Act {
	if s.Access == aggregate.Read {
		return rules.ActRead
	}
	if f, own := catalog.Named(s.Tool); own {
		return f.Shown.Act
	}
	if s.Marked() == nil {
		return ""
	}
	return s.Mark.Act
}

// Marked returns the mark by which the step is shown, nil if it has none for its version of the tool.
func (s Step) Marked() *rules.Mark {
	if s.Mark == nil || s.Mark.Version != s.ToolVersion || len(s.Mark.Problems()) > 0 {
		return nil
	}
	return s.Mark
}

// Amount returns what the step moves, as rules count it.
func (s Step) Amount() rules.Amount {
	return tenancy.MarkOf(s.Tool, s.ToolVersion, s.Mark).AmountOf(s.ToolVersion, s.Access, s.ToolInput)
}

// Leads returns which step people are told of first, -1 if none writes, and what all writes move; see rules.Lead.
func Leads(steps []Step) (lead int, sum rules.Amount) {
	var at []int
	var acts []rules.Act
	var amounts []rules.Amount
	for i, s := range steps {
		if s.Access != aggregate.Read {
			at, acts, amounts = append(at, i), append(acts, s.Act()), append(amounts, s.Amount())
		}
	}
	if lead, sum = rules.Lead(acts, amounts); lead >= 0 {
		lead = at[lead]
	}
	return lead, sum
}
