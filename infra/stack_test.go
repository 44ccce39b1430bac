// Package infra_test checks template.yaml, and the files that it refers to, by rules that linters don't know and whose
// violation a deployment would only show late.
package infra_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

// stack is template.yaml read twice: as written, with its intrinsics, and resolved as the local stack resolves it.
type stack struct {
	text       string // the template
	resources  map[string]resource
	globals    map[string]any // of functions
	parameters map[string]bool
	functions  map[string]template.Function
	queues     map[string]template.Queue // by ARN
	table      template.Table
	machines   map[string]machine // by logical id
	pipeline   machine            // that of tasks
	files      map[string]string  // the texts by path

	roles map[string]template.Role // of functions and state machines, where everything is switched on
}

// resource is a resource of the template. Intrinsics in its properties have the long form: !Ref X is {"Ref": "X"}.
type resource struct {
	Type, Condition                     string
	DeletionPolicy, UpdateReplacePolicy string
	Metadata                            map[string]any
	Properties                          map[string]any
}

// rule reports a stack's faults.
type rule func(s *stack, wrong report)

// report takes a fault's description, like fmt.Sprintf.
type report func(format string, args ...any)

// where reports a fault if a rule is broken.
func (wrong report) where(broken bool, format string, args ...any) {
	if broken {
		wrong(format, args...)
	}
}

const (
	templateFile   = "template.yaml"
	definitionFile = "infra/pipeline.asl.json"
)

// files returns the template and the state machines of the repository, by path.
func files(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{templateFile: textOf(t, filepath.Join(repository, templateFile))}
	found := expect.Value(filepath.Glob("*.asl.json"))(t)
	expect.Must(t, len(found) != 0, "no state machine is found")
	for _, name := range found {
		texts["infra/"+name] = textOf(t, name)
	}
	return texts
}

// read makes a stack of the texts.
func read(dir string, texts map[string]string) (*stack, error) {
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	resolved, err := template.Read(filepath.Join(dir, templateFile), anyAccount, map[string]string{"Stage": "dev"})
	if err != nil {
		return nil, err
	}
	roles, err := template.Roles(filepath.Join(dir, templateFile), anyAccount,
		map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"})
	if err != nil {
		return nil, err
	}
	s := &stack{roles: roles, text: texts[templateFile], files: texts,
		functions: map[string]template.Function{}, queues: map[string]template.Queue{}, machines: map[string]machine{}}
	for _, m := range resolved.Machines {
		if s.machines[m.ID], err = parseMachine(m.Definition); err != nil {
			return nil, err
		}
	}
	if len(resolved.Tables) != 1 {
		return nil, fmt.Errorf("there are %d tables, one is wanted", len(resolved.Tables))
	}
	s.table, s.pipeline = resolved.Tables[0], s.machines["Pipeline"]
	for _, f := range resolved.Functions {
		s.functions[f.ID] = f
	}
	for _, q := range resolved.Queues {
		s.queues[q.ARN] = q
	}
	var d struct {
		Parameters map[string]any       `yaml:"Parameters"`
		Resources  map[string]yaml.Node `yaml:"Resources"`
		Globals    struct {
			Function yaml.Node `yaml:"Function"`
		} `yaml:"Globals"`
	}
	if err := yaml.Unmarshal([]byte(s.text), &d); err != nil {
		return nil, err
	}
	s.globals, s.parameters = object(plain(&d.Globals.Function)), map[string]bool{}
	for name := range d.Parameters {
		s.parameters[name] = true
	}
	s.resources = map[string]resource{}
	for id, n := range d.Resources {
		s.add(id, plain(&n))
	}
	return s, nil
}

func (s *stack) add(id string, v any) {
	m := object(v)
	s.resources[id] = resource{Type: text(m["Type"]), Condition: text(m["Condition"]),
		DeletionPolicy: text(m["DeletionPolicy"]), UpdateReplacePolicy: text(m["UpdateReplacePolicy"]),
		Metadata: object(m["Metadata"]), Properties: object(m["Properties"])}
}

// plain turns a node into maps, lists and scalars, and its tags into the long form.
func plain(n *yaml.Node) any {
	var v any
	switch n.Kind {
	case yaml.AliasNode:
		return plain(n.Alias)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		all := object(m["<<"])
		if delete(m, "<<"); all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, m)
		v = all
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(c))
		}
		v = list
	default:
		v = n.Value
	}
	switch tag, ours := strings.CutPrefix(n.Tag, "!"); {
	case !ours || strings.HasPrefix(tag, "!"):
		return v
	case tag == "Ref" || tag == "Condition":
		return map[string]any{tag: v}
	default:
		return map[string]any{"Fn::" + tag: v}
	}
}

// at returns a value within maps, nil if it is missing.
func at(v any, path ...string) any {
	for _, key := range path {
		v = object(v)[key]
	}
	return v
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func text(v any) string { s, _ := v.(string); return s }

// list returns a list; a single value becomes a list of one.
func list(v any) []any {
	if l, ok := v.([]any); ok || v == nil {
		return l
	}
	return []any{v}
}

var bare = strings.NewReplacer("${", "", "}", "")

// target returns the logical id that a Ref, GetAtt or Sub refers to, with its attribute if there is one.
func target(v any) string {
	for _, name := range []string{"Ref", "Fn::GetAtt", "Fn::Sub"} {
		if s := text(at(v, name)); s != "" {
			return bare.Replace(s)
		}
	}
	return text(v)
}

// of returns the ids of all resources of a type, in order.
func (s *stack) of(kind string) []string {
	var ids []string
	for id, r := range s.resources {
		if r.Type == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// problems returns what all rules find wrong.
func problems(t *testing.T, texts map[string]string) []string {
	t.Helper()
	s, err := read(t.TempDir(), texts)
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, r := range []rule{rightRule, auditRule, aloneRule, keptRule, forgottenRule, versionRule, deliveryRule,
		alarmRule, edgeRule, shapeRule, errorRule, callRule} {
		r(s, func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) })
	}
	return all
}

func TestStackKeepsEveryRule(t *testing.T) {
	for _, p := range problems(t, files(t)) {
		t.Error(p)
	}
}

// mistakes are edits that look harmless, for each rule at least one. The linters pass nearly all of them.
var mistakes = []struct {
	name     string
	file     string
	old, new string // old stands in the file
	want     string // part of what a rule then says
}{
	{"settings that anybody writes", templateFile, `["TASK#*", "QUOTA#*", "AUDIT#*"]`, `["TASK#*", "AUDIT#*", "TENANT#*"]`,
		"dynamodb:PutItem on table/ringi-Table \"TENANT#t\" is for [ResumeTask ServeConsole]"},
	{"rows that anybody deletes", templateFile,
		"ForgetTheToken, Effect: Allow, Action: dynamodb:DeleteItem, Resource: !GetAtt Table.Arn,\n              " +
			"Condition: { \"ForAllValues:StringLike\": { \"dynamodb:LeadingKeys\": [\"TASK#*\"] } } }",
		"ForgetTheToken, Effect: Allow, Action: dynamodb:DeleteItem, Resource: !GetAtt Table.Arn }",
		"dynamodb:DeleteItem on table/ringi-Table \"OTHER#t\" is for []"},
	{"a card that reads results", templateFile, "KeepResultsFromCards, Effect: Deny",
		"KeepResultsFromCards, Effect: Allow", "s3:GetObject on ringi-resultsbucket/results/1"},
	{"a vendor's credentials for members of a contest", templateFile, `"kms:EncryptionContext:provider": "mcp:*"`,
		`"kms:EncryptionContext:provider": "*"`, "kms:Decrypt on key/ringi-CredentialsKey \"freee\""},
	{"every queue of the account", templateFile, "Action: sqs:SendMessage, Resource: !GetAtt CardQueue.Arn",
		`Action: sqs:SendMessage, Resource: "*"`, "sqs:SendMessage on what is somebody else's"},
	{"a scan", templateFile, "Action: [dynamodb:GetItem, dynamodb:Query]",
		"Action: [dynamodb:GetItem, dynamodb:Query, dynamodb:Scan]", "may do dynamodb:Scan, of which nothing is known"},
	{"an audit log that can be rewritten", templateFile,
		"ManagedPolicyArns: [!Ref FunctionBasics, !Ref Commits, !Ref SlackAccess]",
		"ManagedPolicyArns: [!Ref Commits, !Ref SlackAccess]", "from UpdateItem in the audit log"},
	{"entries that nothing comes with", templateFile, "AuditComesWithItsChange, Effect: Deny",
		"AuditComesWithItsChange, Effect: Allow", "that no change comes with"},
	{"a reader of strangers' files that reaches more", templateFile, "        - PolicyName: read-file\n",
		"        - PolicyName: also\n          PolicyDocument: { Version: \"2012-10-17\", Statement: [{ Sid: A, " +
			"Effect: Allow, Action: s3:GetObject, Resource: !Sub \"${ResultsBucket.Arn}/talks/*\" }] }\n        " +
			"- PolicyName: read-file\n", "the code of ReadFileFunction may do s3:GetObject"},
	{"a sandbox for several actions", templateFile, "TenantIsolationMode: PER_TENANT", "TenantIsolationMode: NONE",
		"would serve several actions"},
	{"a sandbox with a way out", templateFile, "  SandboxRoutesOfA:\n",
		"  SandboxExit:\n    Type: AWS::EC2::Route\n  SandboxRoutesOfA:\n", "is a way out of the sandbox"},
	{"a table that a stack's deletion takes along", templateFile,
		"    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n    Properties:\n      BillingMode",
		"    Properties:\n      BillingMode", "Table holds what cannot be made again"},
	{"answers that stay", templateFile, "Prefix: turns/\n            ExpirationInDays: 8\n",
		"Prefix: turns/\n            ExpirationInDays: 30\n", "ResultsBucket keeps turns/"},
	{"everybody's binary", templateFile, "Metadata: { BuildMethod: makefile }", "Metadata: { BuildMethod: go1.x }",
		"binary of another function"},
	{"a parameter that the alias never sees", templateFile, "Timeout: 10\n", "Timeout: !Ref HeadRetentionDays\n",
		"Timeout holds the parameter HeadRetentionDays"},
	{"a FIFO queue for a stream's failures", templateFile, "Destination: !GetAtt ChangeDeadLetters.Arn",
		"Destination: !GetAtt CardDeadLetters.Arn", "takes a standard queue"},
	{"an alarm of the cost of what never counts it", templateFile,
		"MetricName: ModelCost\n      Dimensions: [{ Name: function, Value: !Ref SealAuditFunction }]",
		"MetricName: ModelCost\n      Dimensions: [{ Name: function, Value: !Ref RunRoundFunction }]",
		"which never counts it"},
	{"a route that is missing", definitionFile,
		`        { "Variable": "$.next", "StringEquals": "Pause", "Next": "Pause" },` + "\n", "", "functions may point to"},
	{"a try less", templateFile, `"MaxAttempts": 28`, `"MaxAttempts": 27`, "not the tries of its states"},
	{"a want of room that is written down as a failure", definitionFile,
		`"ErrorEquals": ["Lambda.TooManyRequestsException"], "ResultPath": null, "Next": "NoRoom"`,
		`"ErrorEquals": ["Lambda.TooManyRequestsException"], "ResultPath": null, "Next": "Finish"`,
		"a run for which there is no room ends as NoRoom"},
	{"a fuse that is too short", definitionFile, `"TimeoutSeconds": 165`, `"TimeoutSeconds": 150`,
		"a little longer is wanted"},
	{"content in a payload", definitionFile, `"error.$": "$.error.Error"`, `"error.$": "$.error.Cause"`, "is no id"},
}

func TestRulesNoticeMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			texts := files(t)
			expect.Must(t, strings.Contains(texts[m.file], m.old),
				"%s does not contain %q; make the mistake anew", m.file, m.old)
			texts[m.file] = strings.ReplaceAll(texts[m.file], m.old, m.new)
			expect.Has(t, strings.Join(problems(t, texts), "\n"), m.want, "no rule says %q; they say:\n", m.want)
		})
	}
}

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
