package boot

import (
	"encoding/json"
	"io"
	"os"
	"time"
)

// MetricName is the name of a metric.
type MetricName string

const (
	EventIgnored MetricName = "EventIgnored" // accepted, but of a kind that makes no task
	// Slack withheld events for a minute because of its limit of 30,000 per hour
	// (docs.slack.dev/reference/events/app_rate_limited)
	EventsLimited MetricName = "EventsLimited"
	EventRepeated MetricName = "EventRepeated" // delivered again
	EventForeign  MetricName = "EventForeign"  // a request of a workspace that Ringi does not serve
	PersonFull    MetricName = "PersonFull"    // a request refused because the person has as many tasks as allowed
	TenantFull    MetricName = "TenantFull"    // one refused because the whole workspace has as many tasks as allowed
	SecretMissing MetricName = "SecretMissing" // a call that nobody could verify: the signing secret was not pasted yet
	// a call that bears a new signature which is wrong, or is for another app
	SignatureRefused MetricName = "SignatureRefused"
	// a call that was answered with 5xx although its signature was valid or could not be checked
	NotAnswered       MetricName = "NotAnswered"
	InteractionNoted  MetricName = "InteractionNoted"  // answered with a sentence instead of a decision
	InteractionOdd    MetricName = "InteractionOdd"    // one that could not be read; Slack's own clients send none
	DecisionSeconds   MetricName = "DecisionSeconds"   // from a gate's question to a person's decision, in seconds
	CardUnreachable   MetricName = "CardUnreachable"   // Slack refuses the channel for good
	CardLate          MetricName = "CardLate"          // one that waits longer than a minute for Slack's rate limits
	AppRefused        MetricName = "AppRefused"        // Slack refuses the app as a whole: its token, a scope, its workspace
	CardSearchRefused MetricName = "CardSearchRefused" // a repeated post could not be looked for
	SlackCalled       MetricName = "SlackCalled"       // a call of Slack's Web API
	SlackFailed       MetricName = "SlackFailed"       // one that failed, or was rate limited
	SweepRepaired     MetricName = "SweepRepaired"     // the sweeper did what should have been done
	SweepFailed       MetricName = "SweepFailed"       // a task that it could not handle
	// how long the oldest deletable result is past its expiry, in seconds
	ExpireLag   MetricName = "ExpireLag"
	RelayFailed MetricName = "RelayFailed" // a record that the relay left to the sweeper
	// a run that failed because of a bug in Ringi or because no model was available
	RunFailed    MetricName = "RunFailed"
	ExportFailed MetricName = "ExportFailed" // a file of the audit log that could not be made in three tries
	// a row of the audit log that was changed, removed or redated
	AuditTouched  MetricName = "AuditTouched"
	SealFailed    MetricName = "SealFailed"    // rows that could not be sealed yet, or a head that could not be put away
	SealedLate    MetricName = "SealedLate"    // rows that were sealed after their day
	TeamPlayed    MetricName = "TeamPlayed"    // a team of a contest that is summed up
	TeamFailed    MetricName = "TeamFailed"    // one of them that has no result
	ContestFailed MetricName = "ContestFailed" // a contest that is summed up without any
	ModelCost     MetricName = "ModelCost"     // the cost of models' calls in US dollars, as their rows are read
	ContestLate   MetricName = "ContestLate"   // a contest that the sweeper found open long after its teams' time
	RoundUnsaved  MetricName = "RoundUnsaved"  // a scored round that could not be written, or a saved answer that could not be read
	// a policy that was drafted without its contest because the contest's files can't be used
	ContestUnusable MetricName = "ContestUnusable"
)

// MetricNamespace is the CloudWatch namespace. The metrics' dimension is "function", the function's name. NotAnswered
// also has the dimension "version", because a new version's own calls decide whether it is rolled back.
const MetricNamespace = "Ringi"

// MetricNames lists all metrics.
func MetricNames() []MetricName {
	return []MetricName{
		EventIgnored, EventsLimited, EventRepeated, EventForeign, PersonFull, TenantFull, SecretMissing, SignatureRefused,
		NotAnswered, InteractionNoted, InteractionOdd, DecisionSeconds,
		CardUnreachable, CardLate, AppRefused, CardSearchRefused, SlackCalled, SlackFailed, SweepRepaired, SweepFailed,
		ExpireLag, RelayFailed, RunFailed, ExportFailed, AuditTouched, SealFailed, SealedLate,
		TeamPlayed, TeamFailed, ContestFailed, ModelCost, ContestLate, RoundUnsaved, ContestUnusable,
	}
}

// MetricValue is one metric's value.
type MetricValue struct {
	Name MetricName
	N    float64
}

// Count writes a line with one metric.
func Count(name MetricName, n int) { PutMetrics(MetricValue{name, float64(n)}) }

// PutMetrics writes several metrics in one line, because CloudWatch bills logs by size.
func PutMetrics(values ...MetricValue) {
	write(os.Stdout, time.Now(), os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"), values)
}

func write(w io.Writer, now time.Time, function, version string, values []MetricValue) {
	type definition struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	d := directive{MetricNamespace, [][]string{{"function"}}, nil}
	fields := map[string]any{"function": function}
	for _, v := range values {
		d.Metrics = append(d.Metrics, definition{string(v.Name), unit(v.Name)})
		fields[string(v.Name)] = v.N
		if v.Name == NotAnswered {
			d.Dimensions, fields["version"] = [][]string{{"function"}, {"function", "version"}}, version
		}
	}
	fields["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": []directive{d}}
	if line, err := json.Marshal(fields); err == nil {
		_, _ = w.Write(append(line, '\n'))
	}
}

func unit(name MetricName) string {
	switch name {
	case DecisionSeconds, ExpireLag:
		return "Seconds"
	case ModelCost: // CloudWatch has no unit for money
		return "None"
	}
	return "Count"
}
