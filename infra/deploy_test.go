package infra_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// Stage has no default: a deployment that forgets it must become neither production, whose heads nobody can delete, nor
// anything weaker. A check calls a row inserted that stands unsealed for longer than a batch that failed once takes.
func TestAStageSaysHowTheAuditLogIsSealed(t *testing.T) {
	_, err := template.Read("../"+templateFile, anyAccount, nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "Stage has no default"), "%v", err)
	for stage, want := range map[string]struct {
		mode   string
		window time.Duration
	}{"dev": {"GOVERNANCE", 2 * time.Second}, "staging": {"GOVERNANCE", 20 * time.Second},
		"prod": {"COMPLIANCE", 20 * time.Second}} {
		read := expect.Value(template.Read("../"+templateFile, anyAccount, map[string]string{"Stage": stage}))(t)
		heads := slices.IndexFunc(read.Buckets, func(b template.Bucket) bool { return b.ID == "HeadsBucket" })
		expect.Is(t, read.Buckets[heads].Retention.Mode, want.mode, stage)
		sealer := slices.IndexFunc(read.Functions, func(f template.Function) bool { return f.ID == "SealAuditFunction" })
		window := read.Functions[sealer].Streams[0].Window
		expect.That(t, window == want.window && window <= chain.Unsealed/2, "%s: rows wait %s for others", stage, window)
	}
}

// Production refuses every name that aggregate.ParseModelName reads as the demo model, and no other: the pattern of
// Model lets that one be called demo and nothing else, and a rule refuses it.
func TestProductionTakesNoDemoModelByAnyName(t *testing.T) {
	var d struct {
		Parameters map[string]struct {
			Pattern string `yaml:"AllowedPattern"`
		} `yaml:"Parameters"`
		Rules map[string]yaml.Node `yaml:"Rules"`
	}
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &d))
	pattern := regexp.MustCompile(d.Parameters["Model"].Pattern)
	for _, name := range []string{"demo", "demo:any", "demo:claude-sonnet-4-6", "claude-sonnet-4-6", "anthropic:demo",
		"openai:gpt-5.4", "o3", "gemini-2.5-flash", "compatible:demo/demo", "bedrock:global.anthropic.claude-sonnet-4-6"} {
		demo := expect.Value(aggregate.ParseModelName(name))(t).Provider == aggregate.Demo
		expect.Is(t, pattern.MatchString(name), !demo || name == "demo", name)
	}
	rule := d.Rules["ProductionThinks"]
	expect.Is(t, fmt.Sprint(at(plain(&rule), "RuleCondition")), "map[Fn::Equals:[map[Ref:Stage] prod]]")
	expect.Is(t, fmt.Sprint(at(list(at(plain(&rule), "Assertions"))[0], "Assert")),
		"map[Fn::Not:[map[Fn::Equals:[map[Ref:Model] demo]]]]")
}
