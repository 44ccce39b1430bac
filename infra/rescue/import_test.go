package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ringi/shared/runtime/expect"
)

// left are the names of what a deleted stack left, as the runbook's command gives them.
var left = []string{"Table=ringi-Table-1", "ResultsBucket=ringi-results-1", "HeadsBucket=ringi-heads-1",
	"ChainKey=arn:aws:kms:us-east-1:123456789012:key/11111111-2222", "CredentialsKey=33333333-4444",
	"SlackSecret=arn:aws:secretsmanager:us-east-1:123456789012:secret:S-1", "ModelSecret=arn:aws:secretsmanager:us-east-1:123456789012:secret:M-1"}

type described struct {
	Transform  string               `yaml:"Transform"`
	Parameters map[string]yaml.Node `yaml:"Parameters"`
	Conditions map[string]yaml.Node `yaml:"Conditions"`
	Resources  map[string]yaml.Node `yaml:"Resources"`
}

// The import is rehearsed on the template: it has all that stays, as the next deployment describes it, and refers to
// nothing else. CloudFormation takes a template of 51,200 bytes from the command line.
func TestWhatADeletedStackLeftIsImported(t *testing.T) {
	template := expect.Value(os.ReadFile("../../template.yaml"))(t)
	body, list, err := importing(template, left)
	expect.NoError(t, err)
	var whole, got described
	expect.NoError(t, yaml.Unmarshal(template, &whole))
	expect.NoError(t, yaml.Unmarshal(body, &got))
	var all []imported
	expect.NoError(t, json.Unmarshal(list, &all))
	expect.That(t, got.Transform == "" && len(body) < 51200 && len(all) == len(left), "%d bytes, %d resources", len(body), len(all))
	expect.Is(t, len(got.Resources), len(left), "resources")
	for id, r := range whole.Resources {
		var kind struct {
			Type           string `yaml:"Type"`
			DeletionPolicy string `yaml:"DeletionPolicy"`
		}
		expect.NoError(t, r.Decode(&kind))
		stays, there := strings.HasPrefix(kind.DeletionPolicy, "Retain"), got.Resources[id]
		expect.Must(t, stays == (there.Kind != 0), "%s: it stays %v", id, stays)
		if !stays {
			continue
		}
		expect.Is(t, string(expect.Value(yaml.Marshal(&there))(t)), string(expect.Value(yaml.Marshal(&r))(t)), id)
		i := slices.IndexFunc(all, func(x imported) bool { return x.LogicalResourceId == id })
		expect.That(t, i >= 0 && all[i].ResourceType == kind.Type && all[i].ResourceIdentifier[identifiers[kind.Type]] != "", "%s: %+v", id, all)
	}
	expect.That(t, strings.Contains(string(list), `"KeyId": "11111111-2222"`), "a key is imported by its id: %s", list)
	for _, m := range regexp.MustCompile(`!(?:Ref|GetAtt|If|Condition) "?\[?([A-Za-z]+)|\$\{([A-Za-z]+)[.}]`).FindAllStringSubmatch(string(body), -1) {
		name := m[1] + m[2]
		_, parameter := got.Parameters[name]
		_, condition := got.Conditions[name]
		_, resource := got.Resources[name]
		expect.That(t, parameter || condition || resource || name == "AWS", "it refers to %s, which is not imported", name)
	}
}

func TestAnImportNamesAllThatStays(t *testing.T) {
	template := expect.Value(os.ReadFile("../../template.yaml"))(t)
	for want, named := range map[string][]string{
		"ModelSecret=<name or ARN> is missing": left[:len(left)-1],
		"the template keeps no Pipeline":       append(slices.Clone(left), "Pipeline=p"),
		"is not <resource>=<name or ARN>":      append(slices.Clone(left), "Table"),
	} {
		_, _, err := importing(template, named)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
}
