package task

import (
	"cmp"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Glance is what lists show of a request beside its title and status. It is written in the commits that change it, into
// rows that these write anyway: the head, and once the request is over the row by which lists find it. It has no
// argument of any step but the amount, and at most maxGlance bytes.
type Glance struct {
	Act    rules.Act    `json:"act,omitempty"`   // of the newest steps, see Leads; empty: none, or not said
	Amount rules.Amount `json:"amount,omitzero"` // that they move; the zero value: there are none
	Stage  string       `json:"stage,omitempty"` // name of the stage that is asked
	Given  int          `json:"given,omitempty"` // stamps
	Need   int          `json:"need,omitempty"`  // 0: nobody is asked
	Who    []string     `json:"who,omitempty"`   // the first who owe a stamp, if they are few; see maxWho
	// Back is the version that was sent back, while the next one isn't asked.
	Back   int    `json:"back,omitempty"`
	Number string `json:"number,omitempty"` // of its decision (決裁番号), since the steps began to run
	// Version is the newest one, if a reason led to it: the title is of what the first one was about.
	Version int              `json:"version,omitempty"`
	Why     aggregate.Reason `json:"why,omitempty"`    // why the request ended, in its listed row alone
	Detail  string           `json:"detail,omitempty"` // of Why, or how the words begin that say more
}

const (
	maxGlance   = 600
	maxWho      = 3
	maxGlanceOf = 120 // bytes of a stage's name, and of a detail
)

// glanceAfter returns the glance after a change. It looks at what the change writes and at the head alone; see became.
func (c *change) glanceAfter(out *aggregate.Change) Glance {
	g := c.was.Glance
	for _, r := range out.Rows {
		switch r := r.(type) {
		case *Execution:
			g.Number = cmp.Or(r.Number, g.Number)
		case *Answer:
			g.Detail = language.FirstBytes(r.Sentence, maxGlanceOf)
		case Gated:
			g.rest()
		}
	}
	for _, r := range out.Rows {
		if r, is := r.(Gated); is {
			g.gated(r)
		}
	}
	if out.Head.(*Head).Ended != nil {
		g.rest()
	}
	return g
}

// rest forgets who is asked.
func (g *Glance) rest() { g.Stage, g.Given, g.Need, g.Who = "", 0, 0, nil }

func (g *Glance) gated(row Gated) {
	if p, is := row.(*Process); is {
		g.Act, g.Amount = "", rules.Amount{}
		if len(p.Steps) > 0 {
			g.Act, g.Amount = movedBy(p.Steps)
		}
	}
	gate := row.gate()
	switch gate.Status {
	case aggregate.Generating:
		if _, policy := row.(*Prompt); policy { // steps that an earlier one planned are not to run
			g.Act, g.Amount = "", rules.Amount{}
		}
		if g.Back > 0 {
			g.Version = max(g.Version, row.Asks().Version)
		}
	case aggregate.Rejected:
		g.Back, g.Detail = row.Asks().Version, language.FirstBytes(gate.RejectionReason, maxGlanceOf)
	default:
		g.Back, g.Detail = 0, ""
	}
	if gate.Status == aggregate.PendingApproval && gate.Terms.ApprovalRequired {
		g.asked(gate)
	}
}

// movedBy returns what steps do first, and what they move.
func movedBy(steps []Step) (rules.Act, rules.Amount) {
	lead, sum := Leads(steps)
	if lead < 0 {
		return rules.ActRead, sum
	}
	return steps[lead].Act(), sum
}

func (g *Glance) asked(gate *aggregate.Gate) {
	st := circulation.Walk(gate.Circulating())
	s := st.CurrentStage()
	if s == nil {
		return
	}
	g.Stage, g.Given, g.Need = language.FirstBytes(s.Name, maxGlanceOf), s.Need-s.Owed, s.Need
	if owes := st.Owes(); len(owes) <= maxWho {
		for _, p := range owes {
			g.Who = append(g.Who, p.User)
		}
	}
}

// saidMore are reasons of which a person's or Ringi's own words say more, which the glance has already.
var saidMore = []aggregate.Reason{ReasonDenied, ReasonMaxVersions, ReasonUnsupported}

// listed returns what the row of a request has for lists once it moves on no more: also why. Of one that is open they
// read the head.
func (h *Head) listed() Glance {
	g := h.Glance
	switch {
	case h.Noted.Open():
		return Glance{}
	case h.Parked != nil:
		g.Why, g.Detail = h.Parked.Sentence, h.Parked.Detail
	case h.Ended != nil:
		if g.Why = h.Ended.Reason; !slices.Contains(saidMore, g.Why) {
			g.Detail = h.Ended.Detail
		}
	}
	g.Detail = language.FirstBytes(g.Detail, maxGlanceOf)
	return g
}

// Act returns what the step does, as people say it; empty: nobody said.
func (s Step) Act() rules.Act {
	if s.Access == aggregate.Read {
		return rules.ActRead
	}
	if f, own := tenancy.OwnToolNamed(s.Tool); own {
		return f.Shown.Act
	}
	return ""
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
