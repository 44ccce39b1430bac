package conversation

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"ringi/shared/runtime/expect"
)

// Each line of a conversation has the four fields, and an error's a code and a text.
func TestEachLineOfTheLogHasItsFields(t *testing.T) {
	var b bytes.Buffer
	was := slog.Default()
	defer slog.SetDefault(was)
	slog.SetDefault(slog.New(slog.NewJSONHandler(&b, nil)))
	for _, event := range Events {
		for _, failed := range []bool{false, true} {
			b.Reset()
			if failed {
				LogError(t.Context(), event, "s", "a", "x", CodeValidation, "why")
			} else {
				Log(t.Context(), event, "s", "a", "")
			}
			var line map[string]any
			expect.NoError(t, json.Unmarshal(b.Bytes(), &line))
			action, known := line["actionId"]
			expect.That(t, known && (action == "x") == failed, "%v", line)
			expect.That(t, line["sessionId"] == "s" && line["agentId"] == "a" && line["event"] == string(event), "%v", line)
			expect.That(t, !failed || line["errorCode"] == string(CodeValidation) && line["errorMessage"] == "why", "%v", line)
		}
	}
}
