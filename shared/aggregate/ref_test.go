package aggregate_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"ringi/shared/aggregate"
)

func TestALogLineNamesTheAggregate(t *testing.T) {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("moved", aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}.Log(), "rev", 2)
	if want := `"kind":"note","id":"1","note_id":"1","rev":2`; !strings.Contains(line.String(), want) {
		t.Errorf("%s, want %s", line.String(), want)
	}
}
