package infra_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringi/infra/local/template"
)

// slackEdge are the functions that Slack waits for.
var slackEdge = []string{"ReceiveEventFunction", "ReceiveInteractionFunction"}

// edge are the functions behind the API.
var edge = append([]string{"ServeConsoleFunction"}, slackEdge...)

// functionRules check each function by itself.
func functionRules() []rule {
	return []rule{aliasRule, folderRule, propertyRule, canaryRule, environmentRule}
}

func folderRule(s *stack, wrong report) {
	folders := map[string]bool{}
	for id, f := range s.functions {
		wrong.where(!strings.HasSuffix(id, "Function"),
			"%s: a function's logical id ends in Function; the Makefile finds its folder by that", id)
		folders[f.Folder] = true
		if _, err := os.Stat(filepath.Join(repository, "functions", f.Folder, "main.go")); err != nil {
			wrong("%s has no functions/%s/main.go", id, f.Folder)
		}
	}
	for _, id := range s.of("AWS::Serverless::Function") { // also those that a parameter leaves out
		folders[template.Folder(id)] = true
	}
	entries, err := os.ReadDir(filepath.Join(repository, "functions"))
	wrong.where(err != nil, "%v", err)
	for _, e := range entries {
		wrong.where(e.IsDir() && !folders[e.Name()], "functions/%s is not in the template", e.Name())
	}
}

func propertyRule(s *stack, wrong report) {
	for id := range s.functions {
		r := s.resources[id]
		wrong.where(r.Metadata["BuildMethod"] != "makefile",
			"%s: without BuildMethod makefile it would get the binary of another function", id)
		wrong.where(r.Properties["Timeout"] == nil, "%s: Timeout is left at 3 s", id)
		wrong.where(r.Properties["Description"] == nil, "%s: the console would show no description", id)
	}
}

func canaryRule(s *stack, wrong report) {
	for id := range s.functions {
		_, gradual := s.resources[id].Properties["DeploymentPreference"]
		wrong.where(gradual != slices.Contains(edge, id),
			"%s: a DeploymentPreference belongs on the functions behind the API, and on no other", id)
		for _, alarm := range list(at(s.resources[id].Properties, "DeploymentPreference", "Alarms")) {
			for _, d := range allDimensions(s.resources[target(alarm)].Properties) {
				if of := strings.FieldsFunc(target(at(d, "Value")), func(r rune) bool { return r == ':' || r == '.' })[0]; of != id {
					wrong("%s: its canary's alarm %s watches %s", id, target(alarm), of)
				}
			}
			checkNewVersion(s, id, target(alarm), wrong)
		}
	}
}

// checkNewVersion: a canary's alarm must watch only the new version. CodeDeploy stops at the first alarm that rings,
// also with AllAtOnce, so an alarm of the version in use would block its own fix. An alarm named after its version also
// doesn't start in the state of the version before.
func checkNewVersion(s *stack, id, alarm string, wrong report) {
	version := id + ".Version.Version"
	if name := target(s.resources[alarm].Properties["AlarmName"]); !strings.HasSuffix(name, version) {
		wrong("%s: %s keeps its state from version to version", id, alarm)
	}
	for _, m := range list(s.resources[alarm].Properties["Metrics"]) {
		dimensions := list(at(m, "MetricStat", "Metric", "Dimensions"))
		wrong.where(at(m, "MetricStat") != nil &&
			!slices.ContainsFunc(dimensions, func(d any) bool { return target(at(d, "Value")) == version }),
			"%s: %s watches all versions in %s", id, alarm, text(at(m, "Id")))
	}
}

func environmentRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for name, value := range f.Environment {
			wrong.where(strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "LAMBDA_"),
				"%s: the environment variable %s is Lambda's own", id, name)
			wrong.where(strings.HasSuffix(name, "_API_URL") && strings.HasSuffix(value, "/"),
				"%s: %s is %q; an address ends without a slash", id, name, value)
		}
	}
}

// aliasRule: SAM names a version by a hash of the function's properties as the template writes them. A parameter's new
// value would change the function but leave the alias at the old version. A changed tag, or another property that is no
// part of a version, would ask Lambda for a version without a difference, which Lambda refuses.
func aliasRule(s *stack, wrong report) {
	if tags := at(s.globals, "Tags"); tags != nil {
		wrong("Globals: tags are the stack's; on a function with an alias a changed tag breaks the update")
	}
	wrong.where(at(s.globals, "AutoPublishAlias") != nil, "Globals: only the functions that Slack calls have an alias")
	for id := range s.functions {
		p := s.resources[id].Properties
		if !slices.Contains(edge, id) {
			wrong.where(p["AutoPublishAlias"] != nil, "%s: an alias would keep its old environment when a parameter changes", id)
			continue
		}
		wrong.where(p["AutoPublishAlias"] != "live" || p["AutoPublishAliasAllProperties"] != "true",
			"%s: without AutoPublishAliasAllProperties a new timeout never reaches the alias", id)
		for _, part := range []map[string]any{s.globals, p} {
			for name, v := range part {
				wrong.where(name == "Tags", "%s: tags are the stack's; a changed tag breaks the update", id)
				for _, used := range s.parametersIn(v) {
					wrong.where(!slices.Contains(unversioned, name),
						"%s: %s holds the parameter %s, whose new value would never reach the alias", id, name, used)
				}
			}
		}
	}
}

// unversioned are properties outside versions. They take effect whatever the alias points to, so they may have
// parameters; nothing else in them may change.
var unversioned = []string{"DeploymentPreference", "ReservedConcurrentExecutions"}

// parametersIn returns the parameters that a value refers to, directly or by a condition.
func (s *stack) parametersIn(v any) []string {
	var used []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			used = append(used, s.parametersIn(x)...)
		}
	case map[string]any:
		for name, x := range v {
			if text, ok := x.(string); ok && (name == "Ref" || name == "Fn::Sub") && s.parameters[target(v)] {
				used = append(used, text)
				continue
			}
			if list, ok := x.([]any); ok && name == "Fn::If" {
				used = append(used, "of the condition "+text(list[0]))
			}
			used = append(used, s.parametersIn(x)...)
		}
	case string:
		for _, m := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(v, -1) {
			if s.parameters[m[1]] {
				used = append(used, m[1])
			}
		}
	}
	return used
}

// number reads a number of a template. Anything else is 0.
func number(v any) int {
	n, err := strconv.Atoi(text(v))
	if err != nil {
		return 0
	}
	return n
}
