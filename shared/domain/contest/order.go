package contest

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits of an order.
const (
	MaxTeams       = 20
	MaxRounds      = 10
	MinTeamSeconds = 10
	MaxTeamSeconds = 3600
	MaxPrompt      = 64 << 10 // in bytes
	maxTeamName    = 200      // of a team's id or name, in characters
)

// Order asks for a contest.
type Order struct {
	Execution string         `json:"execution_id"` // must be a ValidID
	Tenant    string         `json:"tenant_id"`
	Prompt    string         `json:"user_prompt"`
	Title     string         `json:"title,omitempty"` // title of the task that asks for it
	Locale    string         `json:"locale"`
	Teams     []Entry        `json:"teams"`
	Config    aggregate.Blob `json:"config"` // the definitions of teams and evaluator

	MaxRounds          int                `json:"max_rounds"`
	TeamTimeoutSeconds int                `json:"timeout_per_team_seconds"`
	TimeoutSeconds     int                `json:"timeout_seconds,omitempty"` // of the whole contest; 0: that of a team
	Budget             aggregate.MicroUSD `json:"budget_micro_usd"`          // for all teams together, in equal shares
	For                aggregate.Ref      `json:"for"`                       // the aggregate that asks
	ForRow             string             `json:"for_row"`                   // key of its row that asks
}

// beginOrdered is Kind.Begin for an order that another aggregate made.
func beginOrdered(ref aggregate.Ref, order aggregate.JSON, now time.Time) (aggregate.Change, error) {
	var o Order
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return aggregate.Change{}, fmt.Errorf("read the order of %s: %w", ref, err)
	}
	if o.Tenant != ref.Tenant || o.Execution != ref.ID {
		return aggregate.Change{}, fmt.Errorf("an order of %s for %s: %w", o.Execution, ref, aggregate.ErrNotFound)
	}
	return Begin(o, now)
}

// Begin creates a contest whose rows must all be absent. It returns an aggregate.Problem for an invalid order. The
// asking aggregate accounts for the cost.
func Begin(o Order, now time.Time) (aggregate.Change, error) {
	if err := o.check(); err != nil {
		return aggregate.Change{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	seconds := o.TeamTimeoutSeconds
	if o.TimeoutSeconds > 0 {
		seconds = min(seconds, o.TimeoutSeconds)
	}
	k := &Contest{
		ExecutionID: o.Execution, TenantID: o.Tenant, UserPrompt: o.Prompt, Title: o.Title, Status: Running, Locale: o.Locale,
		Teams: o.Teams, MaxRounds: o.MaxRounds, TeamTimeoutSeconds: o.TeamTimeoutSeconds,
		Config: o.Config, Budget: o.Budget, Share: o.Budget / aggregate.MicroUSD(len(o.Teams)),
		ForKind: o.For.Kind, ForID: o.For.ID, ForRow: o.ForRow,
		CreatedAt: now, DeadlineAt: now.Add(time.Duration(seconds) * time.Second),
	}
	head := Head{Head: aggregate.Head{TenantID: o.Tenant, Run: 1, CreatedAt: now, ChangedAt: now},
		ExecutionID: o.Execution}
	c := (&Aggregate{Head: head, Contest: k}).begin(now)
	c.audit(aggregate.System(), AuditStarted, map[string]any{"teams": len(o.Teams), "max_rounds": o.MaxRounds,
		"budget_usd": o.Budget.String(), "for": o.For.ID})
	return c.done()
}

func (o Order) check() error {
	wrong := func(field, limit string, args ...any) error {
		return aggregate.Problem{Field: field, Code: fmt.Sprintf(limit, args...)}
	}
	switch {
	case !ValidID(o.Execution):
		return wrong("execution_id", "must be a UUID of version 4, got %.50q", o.Execution)
	case !language.Legible(o.Prompt):
		return wrong("user_prompt", "must not be empty")
	case len(o.Prompt) > MaxPrompt || !utf8.ValidString(o.Prompt):
		return wrong("user_prompt", "must be at most %d bytes of text, got %d", MaxPrompt, len(o.Prompt))
	case len(o.Teams) < 1 || len(o.Teams) > MaxTeams:
		return wrong("teams", "must be 1 to %d, got %d", MaxTeams, len(o.Teams))
	case o.MaxRounds < 1 || o.MaxRounds > MaxRounds:
		return wrong("max_rounds", "must be 1 to %d, got %d", MaxRounds, o.MaxRounds)
	case o.TeamTimeoutSeconds < MinTeamSeconds || o.TeamTimeoutSeconds > MaxTeamSeconds:
		return wrong("timeout_per_team_seconds", "must be %d to %d, got %d", MinTeamSeconds, MaxTeamSeconds,
			o.TeamTimeoutSeconds)
	case o.TimeoutSeconds < 0:
		return wrong("timeout_seconds", "must be 0 or more, got %d", o.TimeoutSeconds)
	case o.Budget < aggregate.MicroUSD(len(o.Teams)):
		return wrong("budget_usd", "must be more than 0, got %s", o.Budget)
	case o.For.ID == "" || o.ForRow == "":
		return wrong("for", "must name a row of what asks")
	}
	seen := map[string]bool{}
	for i, t := range o.Teams {
		for field, value := range map[string]string{"team_id": t.TeamID, "team_name": t.TeamName} {
			if !language.Legible(value) || utf8.RuneCountInString(value) > maxTeamName {
				return wrong(fmt.Sprintf("teams[%d].%s", i, field), "must be 1 to %d characters, got %.50q", maxTeamName, value)
			}
		}
		if seen[t.TeamID] {
			return wrong(fmt.Sprintf("teams[%d].team_id", i), "must not be there twice, got %.50q", t.TeamID)
		}
		seen[t.TeamID] = true
	}
	return nil
}

type change struct {
	aggregate.Draft
	Head    Head
	Contest Contest // written by done
}

// begin opens a change at now, or just after the contest's last change if that is later.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	if a.Contest == nil {
		c.Fail(fmt.Errorf("the contest's row is not there: %w", aggregate.ErrConflict))
		return c
	}
	c.Contest = *a.Contest
	return c
}

func (c *change) done() (aggregate.Change, error) {
	head, contest := c.Head, c.Contest
	return c.Done(&head, &contest)
}

// to changes the contest's status.
func (c *change) to(s Status) {
	if !Moves.Allows(c.Contest.Status, s) {
		c.Fail(fmt.Errorf("contest %s cannot become %s: %w", c.Contest.Status, s, aggregate.ErrConflict))
	}
	c.Contest.Status = s
}

func (c *change) audit(by aggregate.Actor, action aggregate.Action, details map[string]any) {
	c.Record(&c.Head, by, action, kindName, c.Head.ExecutionID, details)
}
