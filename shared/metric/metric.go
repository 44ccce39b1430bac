// Package metric counts what alarms watch, as CloudWatch embedded metric lines on
// standard output. Names are a small fixed set; no ids, no content.
package metric

import (
	"encoding/json"
	"io"
	"os"
	"time"
)

// Name is what is counted.
type Name string

const (
	EventIgnored      Name = "EventIgnored"      // accepted, but of a kind that makes no task
	EventRepeated     Name = "EventRepeated"     // delivered again
	SignatureRefused  Name = "SignatureRefused"  //
	InteractionNoted  Name = "InteractionNoted"  // answered with a sentence instead of a decision
	CardUnreachable   Name = "CardUnreachable"   // Slack refuses the channel for good
	CardSearchRefused Name = "CardSearchRefused" // a repeated post could not be looked for
	SlackFailed       Name = "SlackFailed"       // a call failed or was rate limited
	SweepRepaired     Name = "SweepRepaired"     // the sweeper did what should have been done
	SweepFailed       Name = "SweepFailed"       // a task that it could not handle
	RelayFailed       Name = "RelayFailed"       // a record that the relay left to the sweeper
)

// Count writes one metric line with the function's name as its only dimension.
func Count(name Name, n int) {
	write(os.Stdout, time.Now(), os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), name, n)
}

func write(w io.Writer, now time.Time, function string, name Name, n int) {
	type unit struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []unit
	}
	line, err := json.Marshal(map[string]any{
		"_aws": map[string]any{
			"Timestamp":         now.UnixMilli(),
			"CloudWatchMetrics": []directive{{"Ringi", [][]string{{"function"}}, []unit{{string(name), "Count"}}}},
		},
		"function":   function,
		string(name): n,
	})
	if err == nil {
		_, _ = w.Write(append(line, '\n'))
	}
}
