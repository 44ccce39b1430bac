package infra_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/runtime/boot"
)

// metrics must each be watched by an alarm; of is a function, queue or table.
var metrics = []struct{ namespace, name, of string }{
	{"AWS/Lambda", "Errors", "ReceiveEventFunction"},
	{"AWS/Lambda", "Errors", "ReceiveInteractionFunction"},
	{"AWS/Lambda", "Throttles", "ReceiveEventFunction"},
	{"AWS/Lambda", "Throttles", "ReceiveInteractionFunction"},
	{"AWS/Lambda", "IteratorAge", "RelayChangesFunction"},
	{"AWS/Lambda", "Errors", "RelayChangesFunction"},
	{"AWS/Lambda", "Errors", "UpdateCardFunction"},
	{"AWS/Lambda", "Errors", "SweepTasksFunction"},
	{"AWS/Lambda", "Invocations", "SweepTasksFunction"},
	{"AWS/Lambda", "Errors", "AnswerMessageFunction"},
	{"AWS/Lambda", "Errors", "FetchSourceFunction"},
	{"AWS/Lambda", "Errors", "RunActionFunction"},
	{"AWS/Lambda", "Errors", "CallToolFunction"},
	{"AWS/Lambda", "Errors", "ReadFileFunction"},
	{"AWS/Lambda", "Errors", "GiveUpFunction"},
	{"AWS/Lambda", "Errors", "RunRoundFunction"},
	{"AWS/Lambda", "Errors", "HoldContestFunction"},
	{"AWS/States", "ExecutionsFailed", "Chat"},
	{"AWS/States", "ExecutionsFailed", "Contest"},
	{boot.MetricNamespace, string(boot.RunFailed), "ResumeTaskFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "ExtractTaskFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "DraftPromptFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "PlanProcessFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "ExecuteProcessFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "AnswerMessageFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "RunActionFunction"},
	{boot.MetricNamespace, string(boot.RunFailed), "GiveUpFunction"},
	{"AWS/SQS", "ApproximateAgeOfOldestMessage", "CardQueue.QueueName"},
	{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "CardDeadLetters.QueueName"},
	{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "ChangeDeadLetters.QueueName"},
	{boot.MetricNamespace, string(boot.NotAnswered), "ReceiveEventFunction"},
	{boot.MetricNamespace, string(boot.NotAnswered), "ReceiveInteractionFunction"},
	{boot.MetricNamespace, string(boot.SecretMissing), "ReceiveEventFunction"},
	{boot.MetricNamespace, string(boot.SecretMissing), "ReceiveInteractionFunction"},
	{boot.MetricNamespace, string(boot.ExpireLag), "SweepTasksFunction"},
	{boot.MetricNamespace, string(boot.AuditTouched), "SealAuditFunction"},
	{boot.MetricNamespace, string(boot.SealFailed), "SealAuditFunction"},
	{boot.MetricNamespace, string(boot.SealedLate), "SealAuditFunction"},
	{"AWS/Lambda", "Errors", "SealAuditFunction"},
	{"AWS/Lambda", "Invocations", "SealAuditFunction"},
	{"AWS/Lambda", "IteratorAge", "SealAuditFunction"},
	{boot.MetricNamespace, string(boot.SweepRepaired), "SweepTasksFunction"},
	{boot.MetricNamespace, string(boot.SweepFailed), "SweepTasksFunction"},
	{boot.MetricNamespace, string(boot.AppRefused), "UpdateCardFunction"},
	{boot.MetricNamespace, string(boot.ModelCost), "SealAuditFunction"},
}

// mostAlarms is how many alarms there are at most: nobody reads more.
const mostAlarms = 18

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
	return []rule{alarmRule, streamAlarmRule, expressionRule, canaryAlarmRule, dimensionRule, countedRule}
}

func alarmRule(s *stack, wrong report) {
	var all []watched
	ids := s.of("AWS::CloudWatch::Alarm")
	wrong.where(len(ids) > mostAlarms, "there are %d alarms", len(ids))
	for _, id := range ids {
		p := s.resources[id].Properties
		actions := list(p["AlarmActions"])
		wrong.where(fmt.Sprint(p["OKActions"]) != fmt.Sprint(p["AlarmActions"]),
			"%s does not tell those whom it rang when it is over", id)
		listens := s.decidesOnVersions(id) // CodeDeploy listens to it; alarms of all versions notify people
		wrong.where(!listens && len(actions) == 0 ||
			slices.ContainsFunc(actions, func(a any) bool { return s.resources[target(a)].Type != "AWS::SNS::Topic" }),
			"%s tells nobody", id)
		wrong.where(p["TreatMissingData"] == nil, "%s: TreatMissingData is wanted", id)
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

// streamAlarmRule: IteratorAge has no value while a function is not invoked, so that what a mapping has read is
// watched,
// too, and counted.
func streamAlarmRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, m := range f.Streams {
			seen := slices.ContainsFunc(s.of("AWS::CloudWatch::Alarm"), func(alarm string) bool {
				return slices.Contains(watches(s.resources[alarm].Properties),
					watched{"AWS/Lambda", "PolledEventCount", id + m.Event})
			})
			counts := at(s.resources[id].Properties, "Events", m.Event, "Properties", "MetricsConfig", "Metrics")
			wrong.where(!seen || !slices.Contains(list(counts), any("EventCount")), "nobody hears when %s of %s stands still",
				m.Event, id)
		}
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
			wrong.where(!slices.Contains(watches(s.resources[target(alarm)].Properties),
				watched{boot.MetricNamespace, string(boot.NotAnswered), id}),
				"%s: %s lets a version in that answers 5xx to everything", id, target(alarm))
		}
	}
	// An alarm that other metrics can mute does not count.
	for _, id := range slackEdge {
		name := string(boot.SecretMissing)
		if !slices.ContainsFunc(s.of("AWS::CloudWatch::Alarm"), func(alarm string) bool {
			all := watches(s.resources[alarm].Properties)
			return slices.Contains(all, watched{boot.MetricNamespace, name, id}) &&
				!slices.ContainsFunc(all, func(w watched) bool { return w.name != name })
		}) {
			wrong("a secret that %s lacks is heard of by nobody", id)
		}
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

// allDimensions returns the dimensions of the metric that an alarm watches, or of all metrics in its expression.
func allDimensions(alarm map[string]any) []any {
	all := slices.Clone(list(alarm["Dimensions"]))
	for _, m := range list(alarm["Metrics"]) {
		all = append(all, list(at(m, "MetricStat", "Metric", "Dimensions"))...)
	}
	return all
}

// counted returns the names of metrics that each function's code uses, by folder.
var counted = sync.OnceValues(func() (map[string][]string, error) {
	all, err := packages()
	written := map[string][]string{}
	for _, p := range all {
		if err == nil {
			written[p.ImportPath], err = metricsIn(p)
		}
	}
	of := map[string][]string{}
	for _, p := range all {
		if folder, ok := strings.CutPrefix(p.ImportPath, "ringi/functions/"); ok {
			for _, pkg := range append(p.Deps, p.ImportPath) {
				of[folder] = append(of[folder], written[pkg]...)
			}
		}
	}
	return of, err
})

// metricsIn returns what a package uses of boot, the names of metrics among it.
func metricsIn(p listed) (names []string, err error) {
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "boot" {
					names = append(names, s.Sel.Name)
				}
			}
			return true
		})
	}
	return names, nil
}

// countedRule: an alarm on a metric that its function never writes never rings.
func countedRule(s *stack, wrong report) {
	writes, err := counted()
	wrong.where(err != nil, "go list: %v", err)
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		for _, w := range watches(s.resources[id].Properties) {
			wrong.where(w.namespace == boot.MetricNamespace && !slices.Contains(writes[s.functions[w.of].Folder], w.name),
				"the template watches %s of %s, which never counts it", w.name, w.of)
		}
	}
}
