package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// StepGate asks people about a step, with the arguments for its call.
type StepGate struct {
	aggregate.Meta
	ID             string         `json:"id"`
	TaskID         string         `json:"task_id"`
	ProcessVersion int            `json:"process_version"`
	Attempt        int            `json:"attempt"`
	Order          int            `json:"order"`
	StepID         string         `json:"step_id"`
	Arguments      aggregate.Blob `json:"arguments"`
	ArgumentsHash  string         `json:"arguments_hash"`
	CreatedAt      time.Time      `json:"created_at"`
	aggregate.Gate
}

func GateKey(process, attempt, order int) string {
	return fmt.Sprintf("GATE#%04d#%03d#%02d", process, attempt, order)
}

func (*StepGate) Relied() {}

func (g *StepGate) Key() string { return GateKey(g.ProcessVersion, g.Attempt, g.Order) }

func (g StepGate) At(rev int) aggregate.Row { g.Rev = rev; return &g }
