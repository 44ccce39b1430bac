package infra_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric"
)

// metrics must each be watched by an alarm; of is a function, queue or table.
var metrics = []struct{ namespace, name, of string }{
	{"AWS/Lambda", "Errors", "ReceiveEventFunction"},
	{"AWS/Lambda", "Errors", "ReceiveInteractionFunction"},
	{"AWS/Lambda", "Duration", "ReceiveEventFunction"},
	{"AWS/Lambda", "IteratorAge", "RelayChangesFunction"},
	{"AWS/Lambda", "Errors", "SweepTasksFunction"},
	{"AWS/Lambda", "Invocations", "SweepTasksFunction"},
	{"AWS/States", "ExecutionsFailed", "Chat"},
	{"AWS/States", "ExecutionsFailed", "Contest"},
	{metric.Namespace, string(metric.RunFailed), "ResumeTaskFunction"},
	{metric.Namespace, string(metric.RunFailed), "ExtractTaskFunction"},
	{metric.Namespace, string(metric.RunFailed), "DraftPromptFunction"},
	{metric.Namespace, string(metric.RunFailed), "PlanProcessFunction"},
	{metric.Namespace, string(metric.RunFailed), "ExecuteProcessFunction"},
	{metric.Namespace, string(metric.RunFailed), "CloseTaskFunction"},
	{"AWS/States", "ExecutionsTimedOut", "Pipeline"},
	{"AWS/SQS", "ApproximateAgeOfOldestMessage", "CardQueue.QueueName"},
	{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "CardDeadLetters.QueueName"},
	{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "ChangeDeadLetters.QueueName"},
	{"AWS/DynamoDB", "ReadThrottleEvents", "Table"},
	{"AWS/DynamoDB", "WriteThrottleEvents", "Table"},
	{"AWS/ApiGateway", "5xx", "Api"},
	{metric.Namespace, string(metric.NotAnswered), "ReceiveEventFunction"},
	{metric.Namespace, string(metric.NotAnswered), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.SecretMissing), "ReceiveEventFunction"},
	{metric.Namespace, string(metric.SecretMissing), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.SignatureRefused), "ReceiveEventFunction"},
	{metric.Namespace, string(metric.SignatureRefused), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.EventsLimited), "ReceiveEventFunction"},
	{metric.Namespace, string(metric.TenantFull), "ResumeTaskFunction"},
	{metric.Namespace, string(metric.ExpireLag), "ExpireResultsFunction"},
	{"AWS/Lambda", "Errors", "ExpireResultsFunction"},
	{"AWS/Lambda", "Invocations", "ExpireResultsFunction"},
	{metric.Namespace, string(metric.AuditTouched), "SealAuditFunction"},
	{metric.Namespace, string(metric.SealFailed), "SealAuditFunction"},
	{metric.Namespace, string(metric.SealedLate), "SealAuditFunction"},
	{"AWS/Lambda", "Errors", "SealAuditFunction"},
	{"AWS/Lambda", "Invocations", "SealAuditFunction"},
	{"AWS/Lambda", "IteratorAge", "SealAuditFunction"},
	{metric.Namespace, string(metric.SweepRepaired), "SweepTasksFunction"},
	{metric.Namespace, string(metric.SweepFailed), "SweepTasksFunction"},
	{metric.Namespace, string(metric.AppRefused), "UpdateCardFunction"},
	{metric.Namespace, string(metric.SlackCalled), "UpdateCardFunction"},
	{metric.Namespace, string(metric.SlackFailed), "UpdateCardFunction"},
	{metric.Namespace, string(metric.SlackCalled), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.SlackFailed), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.SlackCalled), "ExecuteProcessFunction"},
	{metric.Namespace, string(metric.SlackFailed), "ExecuteProcessFunction"},
	{metric.Namespace, string(metric.SlackFailed), "AnswerMessageFunction"},
	{metric.Namespace, string(metric.SlackFailed), "CallToolFunction"},
	{metric.Namespace, string(metric.DecisionSeconds), "ReceiveInteractionFunction"},
	{metric.Namespace, string(metric.DecisionSeconds), "ServeConsoleFunction"},
	{metric.Namespace, string(metric.ExportFailed), "ExportAuditFunction"},
	{"AWS/Lambda", "AsyncEventsDropped", "ExportAuditFunction"},
	{metric.Namespace, string(metric.TeamFailed), "CloseContestFunction"},
	{metric.Namespace, string(metric.ContestFailed), "CloseContestFunction"},
	{metric.Namespace, string(metric.ContestCost), "CloseContestFunction"},
	{metric.Namespace, string(metric.ContestLate), "SweepTasksFunction"},
	{metric.Namespace, string(metric.RoundUnsaved), "RunRoundFunction"},
	{metric.Namespace, string(metric.ContestUnusable), "DraftPromptFunction"},
}

type watched struct{ namespace, name, of string }

func watches(alarm map[string]any) []watched {
	specs := []any{alarm}
	for _, m := range list(alarm["Metrics"]) {
		if spec := at(m, "MetricStat", "Metric"); spec != nil {
			specs = append(specs, spec)
		}
	}
	var all []watched
	for _, spec := range specs {
		name := text(at(spec, "MetricName"))
		if name == "" {
			continue
		}
		w := watched{text(at(spec, "Namespace")), name, ""}
		if dimensions := list(at(spec, "Dimensions")); len(dimensions) > 0 {
			w.of = target(at(dimensions[0], "Value"))
		}
		all = append(all, w)
	}
	return all
}

func alarmRules() []rule {
	return []rule{alarmRule, expressionRule, canaryAlarmRule, indexAlarmRule, slackAlarmRule, dimensionRule}
}

func alarmRule(s *stack, wrong report) {
	var all []watched
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		p := s.resources[id].Properties
		actions := list(p["AlarmActions"])
		listens := s.decidesOnVersions(id) // CodeDeploy listens to it; alarms of all versions notify people
		wrong.where(!listens && len(actions) == 0 ||
			slices.ContainsFunc(actions, func(a any) bool { return s.resources[target(a)].Type != "AWS::SNS::Topic" }),
			"%s tells nobody", id)
		wrong.where(p["AlarmDescription"] == nil || p["TreatMissingData"] == nil,
			"%s: AlarmDescription and TreatMissingData are wanted", id)
		// CloudWatch refuses an alarm on more than ten metrics (User Guide, "Alarm limits"). cfn-lint doesn't check
		// that.
		if n := len(watches(p)); n > 10 {
			wrong("%s reads %d metrics, and CloudWatch takes 10", id, n)
		}
		wrong.where(len(watches(p)) == 0, "%s watches nothing", id)
		for _, w := range watches(p) {
			wrong.where(w.name == "ExecutionsFailed" && w.of == "Pipeline",
				"%s rings for tasks that a vendor or a limit failed", id)
			// ThrottledRequests always has the dimension Operation: an alarm without it never has data.
			wrong.where(w.name == "ThrottledRequests", "%s: ThrottledRequests exists for one operation only", id)
		}
		if !listens {
			all = append(all, watches(p)...)
		}
	}
	for _, m := range metrics {
		wrong.where(!slices.Contains(all, watched(m)), "no alarm watches %s %s of %q", m.namespace, m.name, m.of)
	}
}

func expressionRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		var said string
		for _, m := range list(s.resources[id].Properties["Metrics"]) {
			said += " " + text(at(m, "Expression"))
		}
		for _, m := range list(s.resources[id].Properties["Metrics"]) {
			if name := text(at(m, "Id")); at(m, "MetricStat") != nil && !regexp.MustCompile(`\b`+name+`\b`).MatchString(said) {
				wrong("%s reads %s and does not reckon with it", id, name)
			}
		}
	}
}

func canaryAlarmRule(s *stack, wrong report) {
	for _, id := range slackEdge {
		for _, alarm := range list(at(s.resources[id].Properties, "DeploymentPreference", "Alarms")) {
			wrong.where(!slices.Contains(watches(s.resources[target(alarm)].Properties), watched{metric.Namespace, string(metric.NotAnswered), id}),
				"%s: %s lets a version in that answers 5xx to everything", id, target(alarm))
		}
	}
	// An alarm that other metrics can mute does not count.
	for _, id := range slackEdge {
		name := string(metric.SecretMissing)
		if !slices.ContainsFunc(s.of("AWS::CloudWatch::Alarm"), func(alarm string) bool {
			all := watches(s.resources[alarm].Properties)
			return slices.Contains(all, watched{metric.Namespace, name, id}) && !slices.ContainsFunc(all, func(w watched) bool { return w.name != name })
		}) {
			wrong("a secret that %s lacks is heard of by nobody", id)
		}
	}
}

func indexAlarmRule(s *stack, wrong report) {
	for _, index := range s.table.Indexes {
		for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
			wrong.where(!s.watchesIndex(name, *index.IndexName), "no alarm watches %s of the index %s", name, *index.IndexName)
		}
	}
}

func slackAlarmRule(s *stack, wrong report) {
	writes, err := counted()
	wrong.where(err != nil, "go list: %v", err)
	var all []watched
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		all = append(all, watches(s.resources[id].Properties)...)
	}
	for id, f := range s.functions {
		name := string(metric.SlackFailed)
		wrong.where(slices.Contains(writes[f.Folder], name) && !slices.Contains(all, watched{metric.Namespace, name, id}),
			"%s calls Slack, and no alarm counts what fails", id)
	}
}

func dimensionRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		for _, d := range allDimensions(s.resources[id].Properties) {
			if of := target(at(d, "Value")); at(d, "Name") == "Resource" && !strings.HasSuffix(of, ":live") {
				wrong("%s: the dimension Resource is <function>:live, not %s", id, of)
			}
		}
	}
}

// decidesOnVersions reports whether CodeDeploy listens to an alarm.
func (s *stack) decidesOnVersions(alarm string) bool {
	return slices.ContainsFunc(edge, func(id string) bool {
		alarms := list(at(s.resources[id].Properties, "DeploymentPreference", "Alarms"))
		return slices.ContainsFunc(alarms, func(a any) bool { return target(a) == alarm })
	})
}

// watchesIndex reports whether an alarm reads a metric of one of the table's indexes.
func (s *stack) watchesIndex(name, index string) bool {
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		for _, m := range list(s.resources[id].Properties["Metrics"]) {
			spec := at(m, "MetricStat", "Metric")
			for _, d := range list(at(spec, "Dimensions")) {
				if at(spec, "MetricName") == name && at(d, "Name") == "GlobalSecondaryIndexName" && at(d, "Value") == index {
					return true
				}
			}
		}
	}
	return false
}

// allDimensions returns the dimensions of the metric that an alarm watches, or of all metrics in its expression.
func allDimensions(alarm map[string]any) []any {
	all := slices.Clone(list(alarm["Dimensions"]))
	for _, m := range list(alarm["Metrics"]) {
		all = append(all, list(at(m, "MetricStat", "Metric", "Dimensions"))...)
	}
	return all
}

// AWS charges for each metric that an alarm watches. The page with the costs has the template's number.
func TestTheBillCountsEachMetricThatAnAlarmReads(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	var paid int
	own := map[string]bool{}
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		paid += len(watches(s.resources[id].Properties))
	}
	for _, m := range regexp.MustCompile(`\["Ringi", "(\w+)", "function", "(\S+)"`).FindAllStringSubmatch(s.text, -1) {
		own[m[1]+" of "+m[2]] = true
	}
	of := len(own) + len(edge) // NotAnswered is also counted by version
	dollars := float64(paid)*0.10 + float64(of)*0.30 + 3 + 2*1.00 + 2*0.40
	says(t, "bench/cost.md", fmt.Sprintf("%d metrics of alarms, %d metrics", paid, of),
		fmt.Sprintf("are %.0f dollars a month at the most", dollars))
}
