package task

import (
	"fmt"
	"time"

	"ringi/shared/aggregate"
)

func (g *Gate) gate() *aggregate.GateStatus { return &g.Status }

// Gate is a step that waits for a person, with the arguments it would run with.
type Gate struct {
	aggregate.Meta
	ID             string               `json:"id"`
	TaskID         string               `json:"task_id"`
	ProcessVersion int                  `json:"process_version"`
	Attempt        int                  `json:"attempt"`
	Order          int                  `json:"order"`
	StepID         string               `json:"step_id"`
	Arguments      aggregate.Blob       `json:"arguments"`
	ArgumentsHash  string               `json:"arguments_hash"`
	Status         aggregate.GateStatus `json:"status"`
	CreatedAt      time.Time            `json:"created_at"`
	Terms          aggregate.Terms      `json:"terms"`
	aggregate.Verdict
}

func GateKey(process, attempt, order int) string {
	return fmt.Sprintf("GATE#%04d#%03d#%02d", process, attempt, order)
}

func (g *Gate) Key() string { return GateKey(g.ProcessVersion, g.Attempt, g.Order) }

func (g Gate) At(rev int) aggregate.Row { g.Rev = rev; return &g }
