package boot

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func TestALineIsWhatCloudWatchReads(t *testing.T) {
	var b bytes.Buffer
	write(&b, time.UnixMilli(1700000000123), "receive-interaction", "12",
		[]MetricValue{{SlackCalled, 1}, {DecisionSeconds, 90.5}})
	if b.Bytes()[b.Len()-1] != '\n' || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Errorf("want one line, got %q", b.String())
	}
	var got any
	expect.NoError(t, json.Unmarshal(b.Bytes(), &got))
	want := map[string]any{
		"_aws": map[string]any{"Timestamp": 1700000000123.0, "CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Ringi", "Dimensions": []any{[]any{"function"}},
			"Metrics": []any{map[string]any{"Name": "SlackCalled", "Unit": "Count"}, map[string]any{"Name": "DecisionSeconds", "Unit": "Seconds"}},
		}}},
		"function": "receive-interaction", "SlackCalled": 1.0, "DecisionSeconds": 90.5,
	}
	expect.Same(t, want, got)
}

// A new version is rolled back because of its own failures only, not those of the version before.
func TestWhatIsNotAnsweredIsCountedByVersionToo(t *testing.T) {
	var b bytes.Buffer
	write(&b, time.UnixMilli(1700000000123), "receive-event", "12", []MetricValue{{NotAnswered, 1}})
	var got any
	expect.NoError(t, json.Unmarshal(b.Bytes(), &got))
	want := map[string]any{
		"_aws": map[string]any{"Timestamp": 1700000000123.0, "CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Ringi", "Dimensions": []any{[]any{"function"}, []any{"function", "version"}},
			"Metrics": []any{map[string]any{"Name": "NotAnswered", "Unit": "Count"}},
		}}},
		"function": "receive-event", "version": "12", "NotAnswered": 1.0,
	}
	expect.Same(t, want, got)
}
