package aggregate_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestADraftThatFailedMakesNothing(t *testing.T) {
	var d aggregate.Draft
	d.Fail(nil)
	d.Put(&aggregate.Use{})
	whole, err := d.Done(nil, &aggregate.Lease{Of: "X"})
	expect.That(t, err == nil && len(whole.Rows) == 2, "%+v, %v", whole, err)
	d.Fail(aggregate.ErrMoved)
	d.Fail(errors.New("what follows from the first"))
	none, err := d.Done(nil)
	expect.Fails(t, err, aggregate.ErrMoved)
	expect.That(t, none.Empty(), "%+v", none)
}

func proves(h aggregate.Head, r aggregate.Row) bool {
	return len(h.Newest.Unproven([]aggregate.Row{r})) == 0
}

func TestTheHeadProvesWhatItNoted(t *testing.T) {
	prompt := func(version, rev int) *task.Prompt {
		return &task.Prompt{Version: version, Meta: aggregate.Meta{Rev: rev}}
	}
	head := aggregate.Head{}
	commit := func(c aggregate.Change) {
		head.Newest = head.Newest.After(head.Rev, c)
		head.Rev++
	}
	commit(aggregate.Change{Rows: []aggregate.Row{&task.Request{}}})
	commit(aggregate.Change{Rows: []aggregate.Row{prompt(1, 0), &task.Task{}, &task.StepResult{Order: 1}}})
	commit(aggregate.Change{Rows: []aggregate.Row{prompt(2, 0)}})
	commit(aggregate.Change{Rows: []aggregate.Row{&task.Execution{ProcessVersion: 1, Attempt: 1}}})
	commit(aggregate.Change{Drop: []aggregate.Row{&task.Execution{ProcessVersion: 1, Attempt: 1}}})
	expect.Is(t, head.Newest, " TASK=2 PROMPT#0002=3 EXECUTION#0001#001=0")
	for name, tt := range map[string]struct {
		row    aggregate.Row
		proven bool
	}{
		"the newest version":             {prompt(2, 3), true},
		"as it was before":               {prompt(2, 2), false},
		"the newest version as absent":   {prompt(2, 0), false},
		"an older version":               {prompt(1, 2), false},
		"that there is no later version": {prompt(3, 0), true},
		"a later version":                {prompt(3, 4), false},
		"another type":                   {&task.Task{Meta: aggregate.Meta{Rev: 2}}, true},
		"a type that never was":          {&task.Process{Version: 1}, true},
		"a type that is there by now":    {&task.Process{Version: 1, Meta: aggregate.Meta{Rev: 4}}, false},
		"a deleted row":                  {&task.Execution{ProcessVersion: 1, Attempt: 1}, true},
		"a row that nobody notes":        {&task.StepResult{Order: 1, Meta: aggregate.Meta{Rev: 2}}, false},
	} {
		expect.Is(t, proves(head, tt.row), tt.proven, name)
	}
}

func TestALogLineNamesTheAggregate(t *testing.T) {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("moved", aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}.Log(),
		"rev", 2)
	want := `"kind":"note","id":"1","note_id":"1","rev":2`
	expect.Has(t, line.String(), want)
}

func TestAPartitionIsReadAsItIsWritten(t *testing.T) {
	kinds := aggregate.Kinds{{Name: "task", Prefix: "TASK#"}, {Name: "note", Prefix: "NOTE#"}}
	ref := aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}
	key, known := kinds.Partition(ref)
	got, read := kinds.Ref(key)
	expect.That(t, known && key == "NOTE#T#1" && read && got == ref, "%s, %t: %v, %t", key, known, got, read)
	if key, known := kinds.Partition(aggregate.Ref{Tenant: "T", Kind: "team", ID: "1"}); known {
		t.Errorf("a kind that nobody knows is at %s", key)
	}
}
