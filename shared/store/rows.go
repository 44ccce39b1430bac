package store

import (
	"fmt"

	"ringi/shared/aggregate"
	"ringi/shared/reason"
	"ringi/shared/task"
)

// packRow makes the item of a row of the head's task as the commit rev writes it.
// What lists ask for stands on rows that seldom change: an index is written with
// each of its items' changes, and the head changes with every commit and card.
func packRow(h task.Head, pk string, r aggregate.Row, rev int) (item, error) {
	kind, err := kindOf(r)
	if err != nil {
		return nil, err
	}
	it, err := pack(kind, pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = number(rev)
	switch r := r.(type) {
	case *task.Request:
		if r.Threaded() { // a message that is no reply has its thread's id
			index(it, 1, threadOf(h.TenantID, r.Channel, r.ThreadTS), timeText(r.CreatedAt)+"#"+h.TaskID)
		}
	case *task.Task:
		newest := timeText(r.CreatedAt) + "#" + r.ID
		index(it, 1, tasksOf(h.TenantID), newest)
		index(it, 2, tasksWith(h.TenantID, r.Status), newest)
		index(it, 3, tasksBy(h.TenantID, h.Requester), newest)
	case *task.Execution:
		if r.Error != "" {
			it["error"] = text(reason.Sentence(r.Terms.Locale, r.Error, r.ErrorDetail))
		}
	case *task.Prompt:
		indexPending(it, h.TenantID, r.Status, r.Terms, timeText(r.CreatedAt)+"#"+r.ID)
	case *task.Process:
		indexPending(it, h.TenantID, r.Status, r.Terms, timeText(r.CreatedAt)+"#"+r.ID)
	case *task.Choice:
		if r.As == "" && !r.Over {
			index(it, 1, pendingOf(h.TenantID), timeText(r.CreatedAt)+"#"+r.ID)
		}
	case *task.Gate:
		indexPending(it, h.TenantID, r.Status, r.Terms, timeText(r.CreatedAt)+"#"+r.ID)
	}
	return it, nil
}

// indexPending lists a gate while a person is asked; one that asks nobody passes by itself.
func indexPending(it item, tenant string, s aggregate.GateStatus, t aggregate.Terms, sk string) {
	if s == aggregate.PendingApproval && t.ApprovalRequired {
		index(it, 1, pendingOf(tenant), sk)
	}
}

func kindOf(r aggregate.Row) (string, error) {
	switch r.(type) {
	case *task.Request:
		return "request", nil
	case *task.Task:
		return "task", nil
	case *task.Answer:
		return "answer", nil
	case *task.Choice:
		return "choice", nil
	case *task.Prompt:
		return "prompt", nil
	case *task.Process:
		return "process", nil
	case *task.Execution:
		return "execution", nil
	case *task.StepResult:
		return "step", nil
	case *task.Gate:
		return "gate", nil
	case *aggregate.Card:
		return "card", nil
	}
	return "", fmt.Errorf("row %s: a %T has no place in the table", r.Key(), r)
}

// unpackRow puts an item of a task's partition in its place.
func unpackRow(a *task.Aggregate, it item) error {
	switch kind := textOf(it, "type"); kind {
	case "head":
		return unpack(it, &a.Head)
	case "wait":
		var w aggregate.Wait
		if err := unpack(it, &w); err != nil {
			return err
		}
		a.Waits = append(a.Waits, w)
		return nil
	default:
		r := map[string]aggregate.Row{
			"request": &task.Request{}, "task": &task.Task{}, "answer": &task.Answer{}, "choice": &task.Choice{}, "prompt": &task.Prompt{}, "process": &task.Process{},
			"execution": &task.Execution{}, "step": &task.StepResult{}, "gate": &task.Gate{}, "card": &aggregate.Card{},
		}[kind]
		if r == nil {
			return unknownKind(it, kind)
		}
		if err := unpack(it, r); err != nil {
			return err
		}
		a.Add(r)
		return nil
	}
}

// unknownKind prefers to say that the item is of a later release.
func unknownKind(it item, kind string) error {
	if err := unpack(it, &struct{}{}); err != nil {
		return err
	}
	return fmt.Errorf("item %s has the unknown type %.32q", textOf(it, "SK"), kind)
}

func tasksOf(tenant string) string { return "TENANT#" + tenant + "#TASKS" }

func tasksWith(tenant string, s task.TaskStatus) string {
	return tasksOf(tenant) + "#" + string(s)
}

func tasksBy(tenant, requester string) string { return "TENANT#" + tenant + "#BY#" + requester }
func pendingOf(tenant string) string          { return "TENANT#" + tenant + "#PENDING" }
