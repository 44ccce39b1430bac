package aggregate_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
)

func TestALogLineNamesTheAggregate(t *testing.T) {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("moved", aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}.Log(), "rev", 2)
	if want := `"kind":"note","id":"1","note_id":"1","rev":2`; !strings.Contains(line.String(), want) {
		t.Errorf("%s, want %s", line.String(), want)
	}
}

func TestAPartitionIsReadAsItIsWritten(t *testing.T) {
	kinds := aggregate.Kinds{{Name: "task", Prefix: "TASK#"}, {Name: "note", Prefix: "NOTE#"}}
	ref := aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}
	key, known := kinds.Partition(ref)
	if got, read := kinds.Ref(key); !known || key != "NOTE#T#1" || !read || got != ref {
		t.Errorf("%s, %t: %v, %t", key, known, got, read)
	}
	if key, known := kinds.Partition(aggregate.Ref{Tenant: "T", Kind: "team", ID: "1"}); known {
		t.Errorf("a kind that nobody knows is at %s", key)
	}
}
