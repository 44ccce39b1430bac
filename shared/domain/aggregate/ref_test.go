package aggregate_test

import (
	"bytes"
	"log/slog"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestALogLineNamesTheAggregate(t *testing.T) {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("moved", aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}.Log(), "rev", 2)
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
