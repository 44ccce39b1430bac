package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Again asks people about the steps of an attempt once more, because those who stamped them did so too long ago: see
// aggregate.Gate.GoodUntil. It is the gate of an attempt under a rule, and opens as a version's does.
type Again struct {
	aggregate.Meta
	ID             string    `json:"id"`
	TaskID         string    `json:"task_id"`
	ProcessVersion int       `json:"process_version"`
	Attempt        int       `json:"attempt"`
	StepsHash      string    `json:"steps_hash"`
	CreatedAt      time.Time `json:"created_at"`
	aggregate.Gate
}

func AgainKey(process, attempt int) string { return keyOf("AGAIN", process, attempt) }

func (*Again) Relied() {}

func (g *Again) Key() string { return AgainKey(g.ProcessVersion, g.Attempt) }

func (g *Again) Type() string { return "again" }

func (g Again) At(rev int) aggregate.Row { g.Rev = rev; return &g }

func (g *Again) Indexes(head aggregate.Root) []aggregate.Index {
	return g.WaitingIndexes(head, g.CreatedAt, g.ID)
}

func (g *Again) Asks() aggregate.Question {
	return aggregate.Question{Key: g.Key(), ID: g.ID, Kind: CardProcess, Version: g.ProcessVersion,
		CreatedAt: g.CreatedAt, DecideBy: g.Terms.DecideBy}
}

// AgainOf returns the gate of an attempt, or nil if the attempt needs none.
func (a *Aggregate) AgainOf(e *Execution) *Again {
	return aggregate.Find(a.Agains, AgainKey(e.ProcessVersion, e.Attempt))
}

// AskedAgain returns the newest gate at which people were asked again about the steps, for an attempt or, in its stead,
// an earlier one; nil if they weren't.
func (a *Aggregate) AskedAgain(e *Execution) *Again {
	if own := a.AgainOf(e); own != nil {
		return own
	}
	again, _ := a.inForce(e).(*Again)
	return again
}

// inForce returns the gate by which calls of an attempt may begin: the newest on which people settled the steps up to
// that attempt, or else that of the process.
func (a *Aggregate) inForce(e *Execution) Gated {
	var row Gated = a.ProcessOf(e)
	for _, g := range a.Agains {
		if g.ProcessVersion == e.ProcessVersion && g.Attempt <= e.Attempt && g.Status == aggregate.Approved {
			row = g
		}
	}
	return row
}

// mayBegin returns nil if a call of a step that has none yet may begin at now by the gate of its steps and, if there is
// one, its own. It returns ErrMoved while the attempt's own gate is not approved, and StopError if a gate is not as it
// was settled, or was settled too long ago, or if a number is missing.
func (a *Aggregate) mayBegin(e *Execution, order int, now time.Time) error {
	if own := a.AgainOf(e); own != nil && own.Status != aggregate.Approved {
		return aggregate.ErrMoved
	}
	steps := a.inForce(e)
	if !a.stands(steps) || e.Number == "" && a.numberedBy(e) != nil {
		return StopError{Reason: ReasonStepsChanged}
	}
	gates := []Gated{steps}
	if g := a.GateOf(e, order); g != nil {
		gates = append(gates, g)
	}
	for _, row := range gates {
		if g := row.gate(); g.TooOld(now) {
			return StopError{ReasonApprovalAged, fmt.Sprint(g.Days())}
		}
	}
	return nil
}

// aged reports whether calls of an attempt may no longer begin because people have to be asked about them again.
func (a *Aggregate) aged(e *Execution, now time.Time) bool {
	step := a.NextStep(e)
	if step == nil {
		return false
	}
	stop, is := a.mayBegin(e, step.Order, now).(StopError)
	return is && stop.Reason == ReasonApprovalAged
}

// askAgain begins the gate of an attempt, if the steps were settled too long ago for its calls.
func (c *change) askAgain(e *Execution) {
	a := c.of
	if !a.inForce(e).gate().TooOld(c.Now) {
		c.RelyOn(&Again{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt})
		return
	}
	g := &Again{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, StepsHash: a.ProcessOf(e).hash(),
		Gate: aggregate.Gate{Status: aggregate.Generating}, CreatedAt: c.Now,
	}
	g.ID = a.rowID(g.Key(), c.Now)
	c.Put(g)
	c.card(a, CardProcess, g.Key())
}

// relyOnAgain makes c's commit fail if an attempt's gate, or that there is none, changed.
func (a *Aggregate) relyOnAgain(c *change, e *Execution) {
	if g := a.AgainOf(e); g != nil {
		c.RelyOn(g)
		return
	}
	c.RelyOn(&Again{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt})
}
