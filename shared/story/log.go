package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/legible"
	"ringi/shared/task"
)

// Use is what calls of a model came to.
type Use struct {
	aggregate.Usage
	At     time.Time
	What   string // kind of the row that they made: TASK, PROMPT, PROCESS, EXECUTION; empty when they came to nothing
	Number int    // of its version
	Kept   bool   // what was sent was kept
}

func uses(a *task.Aggregate) []Use {
	var out []Use
	for _, u := range a.Uses {
		what, rest, _ := strings.Cut(u.Made, "#")
		number, _, _ := strings.Cut(rest, "#")
		n, _ := strconv.Atoi(number)
		x := Use{Usage: u.Usage, At: u.CreatedAt, What: what, Number: n, Kept: u.Sent != nil && u.Sent.S3Key != ""}
		x.Provider, x.Model, x.Prompt = legible.OneLine(x.Provider), legible.OneLine(x.Model), legible.OneLine(x.Prompt)
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Use) int { return a.At.Compare(b.At) })
	return out
}

// Entry is a line of the audit log.
type Entry struct {
	ID, By   string
	At       time.Time
	Action   aggregate.Action
	Resource string
	Details  []Detail
}

// Detail is a member of an entry's.
type Detail struct{ Name, Text string }

func (r Reader) log(entries []aggregate.AuditEntry) []Entry {
	var out []Entry
	for _, e := range entries {
		x := Entry{ID: e.ID, At: e.Timestamp, Action: e.Action, Resource: legible.OneLine(e.ResourceType + " " + e.ResourceID)}
		if e.ActorType == aggregate.ActorUser {
			x.By = r.Person(e.ActorID)
		}
		var details map[string]any
		if json.Unmarshal([]byte(e.Details), &details) == nil {
			for _, name := range slices.Sorted(maps.Keys(details)) {
				x.Details = append(x.Details, Detail{legible.OneLine(name), detail(details[name])})
			}
		}
		out = append(out, x)
	}
	return out
}

func detail(v any) string {
	if s, ok := v.(string); ok {
		return card.OneLine(s)
	}
	b, err := json.Marshal(v)
	if err != nil { // of decoded JSON
		return "?"
	}
	return legible.OneLine(string(b))
}

// Key names a step's row in an address.
func Key(process, attempt, order int) string { return fmt.Sprintf("%d-%d-%d", process, attempt, order) }

// StepAt is the row that a key names, nil if there is none.
func StepAt(a *task.Aggregate, key string) *task.StepResult {
	for _, s := range a.Steps {
		if Key(s.ProcessVersion, s.Attempt, s.Order) == key {
			return s
		}
	}
	return nil
}
