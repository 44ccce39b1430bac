package infra_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// edge are the functions that Slack waits for.
var edge = []string{"ReceiveEventFunction", "ReceiveInteractionFunction"}

// functionRules are about each function by itself.
func functionRules() []rule {
	return []rule{
		func(s *stack, wrong func(string, ...any)) {
			folders := map[string]bool{}
			for id, f := range s.functions {
				if !strings.HasSuffix(id, "Function") {
					wrong("%s: a function's logical id ends in Function; the Makefile finds its folder by that", id)
				}
				folders[f.Folder] = true
				if _, err := os.Stat(filepath.Join(repository, "functions", f.Folder, "main.go")); err != nil {
					wrong("%s has no functions/%s/main.go", id, f.Folder)
				}
			}
			entries, err := os.ReadDir(filepath.Join(repository, "functions"))
			if err != nil {
				wrong("%v", err)
			}
			for _, e := range entries {
				if e.IsDir() && !folders[e.Name()] {
					wrong("functions/%s is not in the template", e.Name())
				}
			}
		},
		func(s *stack, wrong func(string, ...any)) {
			for id := range s.functions {
				r := s.resources[id]
				if r.Metadata["BuildMethod"] != "makefile" {
					wrong("%s: without BuildMethod makefile it would get the binary of another function", id)
				}
				if r.Properties["AutoPublishAliasAllProperties"] != "true" {
					wrong("%s: without AutoPublishAliasAllProperties a new timeout never reaches the alias", id)
				}
				if r.Properties["Timeout"] == nil {
					wrong("%s: Timeout is left at 3 s", id)
				}
				if r.Properties["Description"] == nil {
					wrong("%s: the console would show no description", id)
				}
			}
		},
		func(s *stack, wrong func(string, ...any)) {
			for id := range s.functions {
				_, gradual := s.resources[id].Properties["DeploymentPreference"]
				if gradual != slices.Contains(edge, id) {
					wrong("%s: a DeploymentPreference belongs on the functions that Slack calls, and on no other", id)
				}
				for _, alarm := range list(at(s.resources[id].Properties, "DeploymentPreference", "Alarms")) {
					for _, d := range list(s.resources[target(alarm)].Properties["Dimensions"]) {
						if of, _, _ := strings.Cut(target(at(d, "Value")), ":"); of != id {
							wrong("%s: its canary's alarm %s watches %s", id, target(alarm), of)
						}
					}
				}
			}
		},
		func(s *stack, wrong func(string, ...any)) {
			for id, f := range s.functions {
				for name, value := range f.Environment {
					if strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "LAMBDA_") {
						wrong("%s: the environment variable %s is Lambda's own", id, name)
					}
					if strings.HasSuffix(name, "_API_URL") && strings.HasSuffix(value, "/") != (name == "SLACK_API_URL") {
						wrong("%s: %s is %q; Slack's ends with a slash, the others don't", id, name, value)
					}
				}
			}
		},
	}
}

// number reads what a template says as a number; anything else is 0.
func number(v any) int {
	n, err := strconv.Atoi(text(v))
	if err != nil {
		return 0
	}
	return n
}
