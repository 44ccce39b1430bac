package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// PendingItem is a prompt, a process, a step gate or a choice that waits for a person.
type PendingItem struct {
	TaskID    string
	Key       string // of its row
	ID        string
	Kind      aggregate.CardType // prompt, process or step; task: the choice what a message is meant to be
	Version   int                // of a prompt or process; of a step's process
	StepID    string             // of a step gate
	CreatedAt time.Time
	DecideBy  *time.Time
}

// Pending lists what waits for a decision in a tenant, the oldest first. The
// index may be a moment behind. It returns task.ErrField as Tasks does.
func (s *Store) Pending(ctx context.Context, tenant, cursor string, limit int) (Page[PendingItem], error) {
	if !keyPart(tenant) {
		return Page[PendingItem]{}, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	l := listing{name: "pending", owner: "TASK#" + tenant + "#", index: "GSI1", partitions: []string{pendingOf(tenant)}, oldestFirst: true}
	return page(ctx, s, l, cursor, limit, readPending)
}

func readPending(it item) (*PendingItem, error) {
	var a task.Aggregate
	if err := unpackRow(&a, it); err != nil {
		return nil, err
	}
	x := &PendingItem{Key: textOf(it, "SK"), TaskID: textOf(it, "task_id")}
	if x.TaskID == "" { // a choice belongs to its partition alone
		pk := textOf(it, "PK")
		x.TaskID = pk[strings.LastIndex(pk, "#")+1:]
	}
	var terms aggregate.Terms
	switch {
	case a.Prompt() != nil:
		p := a.Prompt()
		x.Kind, x.ID, x.Version, x.CreatedAt, terms = task.CardPrompt, p.ID, p.Version, p.CreatedAt, p.Terms
	case a.Process() != nil:
		p := a.Process()
		x.Kind, x.ID, x.Version, x.CreatedAt, terms = task.CardProcess, p.ID, p.Version, p.CreatedAt, p.Terms
	case a.Choice != nil:
		x.Kind, x.ID, x.CreatedAt, terms = task.CardTask, a.Choice.ID, a.Choice.CreatedAt, a.Choice.Terms
	case len(a.Gates) == 1:
		g := a.Gates[0]
		x.Kind, x.ID, x.Version, x.StepID, x.CreatedAt, terms = task.CardStep, g.ID, g.ProcessVersion, g.StepID, g.CreatedAt, g.Terms
	default:
		return nil, fmt.Errorf("item %s cannot wait for a person", x.Key)
	}
	x.DecideBy = terms.DecideBy
	return x, nil
}
