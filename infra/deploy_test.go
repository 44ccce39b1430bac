package infra_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// account answers the calls of `sam deploy` up to the change set, which it records and refuses: the calls after it
// would need a real account.
type account struct {
	mu      sync.Mutex
	change  url.Values
	objects []string
	has     []string // the stack's parameters, if it exists
}

const stands = `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
<StackName>%s</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`

const summary = `<GetTemplateSummaryResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><GetTemplateSummaryResult><Parameters>%s</Parameters></GetTemplateSummaryResult></GetTemplateSummaryResponse>`

const managed = `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
<StackName>aws-sam-cli-managed-default</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
<Tags><member><Key>ManagedStackSource</Key><Value>AwsSamCli</Value></member></Tags>
<Outputs><member><OutputKey>SourceBucket</OutputKey><OutputValue>managed-bucket</OutputValue></member></Outputs>
</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/managed-bucket") {
		object, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		a.objects = append(a.objects, string(object))
		w.Header().Set("ETag", `"0"`)
		return
	}
	_ = r.ParseForm() // an unreadable form requests nothing
	refuse := func(code, message string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, code, message)
	}
	w.Header().Set("Content-Type", "text/xml")
	switch stack := r.Form.Get("StackName"); {
	case r.Form.Get("Action") == "CreateChangeSet":
		a.change = r.Form
		refuse("AccessDenied", "this is no account")
	case r.Form.Get("Action") == "DescribeStacks" && stack == "aws-sam-cli-managed-default":
		io.WriteString(w, managed)
	case r.Form.Get("Action") == "DescribeStacks" && a.has != nil:
		fmt.Fprintf(w, stands, stack)
	case r.Form.Get("Action") == "GetTemplateSummary" && a.has != nil:
		fmt.Fprintf(w, summary, "<member><ParameterKey>"+strings.Join(a.has, "</ParameterKey></member><member><ParameterKey>")+"</ParameterKey></member>")
	case r.Form.Get("Action") == "DescribeStacks":
		refuse("ValidationError", "Stack with id "+stack+" does not exist")
	default:
		refuse("InvalidAction", r.Form.Get("Action"))
	}
}

// members reads a list of the change set by name, such as parameters or tags.
func (a *account) members(list, key, value string) map[string]string {
	out := map[string]string{}
	for i := 1; a.change.Has(fmt.Sprintf("%s.member.%d.%s", list, i, key)); i++ {
		at := fmt.Sprintf("%s.member.%d.", list, i)
		out[a.change.Get(at+key)] = a.change.Get(at + value)
	}
	return out
}

// parameters returns the stack's parameters after the deployment: new ones, and earlier ones that SAM keeps.
func (a *account) parameters(before map[string]string) map[string]string {
	out := a.members("Parameters", "ParameterKey", "ParameterValue")
	for name := range a.members("Parameters", "ParameterKey", "UsePreviousValue") {
		if value, ok := before[name]; ok && out[name] == "" {
			out[name] = value
		}
	}
	for name, value := range out { // SAM lists those that it keeps without a value
		if value == "" {
			delete(out, name)
		}
	}
	return out
}

var parametersOf = regexp.MustCompile(`(?s)\nParameters:\n.*?\n\n`)

// readmeDeploys runs README's command without a terminal. It leaves out the functions' code, because `sam deploy` would
// package the template's folder for each. If whole is false, it deploys only the template's parameters.
func readmeDeploys(t *testing.T, whole bool, has []string, args ...string) *account {
	t.Helper()
	folder := t.TempDir()
	texts := files(t)
	texts["samconfig.toml"] = textOf(t, filepath.Join(repository, "samconfig.toml"))
	if !whole { // packaging the whole template takes seconds
		texts[templateFile] = parametersOf.FindString(texts[templateFile]) +
			"\nResources: { Topic: { Type: AWS::SNS::Topic } }\n"
	}
	for name, text := range texts {
		expect.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	a := &account{has: has}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	out, ok := sam(t, folder, map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": folder, "SAM_CLI_TELEMETRY": "0", "AWS_ENDPOINT_URL": server.URL,
		"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
		"AWS_EC2_METADATA_DISABLED": "true", "LANG": "C.UTF-8",
	}, append([]string{"deploy"}, args...)...)
	expect.Must(t, !ok && a.change != nil, "it did not come to a change set:\n%s", out)
	expect.That(t, strings.Contains(out, "this is no account"), "it ended otherwise than by the account:\n%s", out)
	return a
}

// README's commands run up to the first call that needs an account. They ask no questions, and the change set is the
// one that README describes.
func TestTheDeploymentAsksNothing(t *testing.T) {
	dev := []string{"--parameter-overrides", "Stage=dev", "Model=demo", "Canary=AllAtOnce"}
	for _, tt := range []struct {
		name, stack, stage, model string
		args                      []string
		refused                   bool // by the template's rules
	}{
		{"as it stands", "ringi", "dev", "demo", dev, false},
		{"with parameters", "ringi", "dev", "demo", append(dev, "TenantAdmin=U012ABCDEF", "AlarmEmail=you@example.com"), false},
		{"without a stage", "ringi", "", "", nil, true},
		{"with another parameter than the stage", "ringi", "", "", []string{"--parameter-overrides", "AlarmEmail=you@example.com"}, true},
		{"for production", "ringi-prod", "prod", "", []string{"--config-env", "prod"}, false},
		{"production by name", "ringi-prod", "prod", "", []string{"--config-env", "prod", "--parameter-overrides", "Stage=prod", "AlarmEmail=you@example.com"}, false},
		{"production with another parameter", "ringi-prod", "", "", []string{"--config-env", "prod", "--parameter-overrides", "AlarmEmail=you@example.com"}, true},
		{"production with the demo model", "ringi-prod", "prod", "demo", []string{"--config-env", "prod", "--parameter-overrides", "Stage=prod", "Model=demo"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			whole := tt.name == "as it stands" || tt.name == "for production"
			a := readmeDeploys(t, whole, nil, tt.args...)
			rules := readRules(t)
			parameters := rules.complete(a.parameters(nil))
			expect.Is(t, a.change.Get("StackName"), tt.stack, "the stack")
			expect.That(t, parameters["Stage"] == tt.stage && parameters["Model"] == tt.model,
				"Stage=%q Model=%q, wanted %q and %q", parameters["Stage"], parameters["Model"], tt.stage, tt.model)
			var got []string // the template names no roles, and has nested stacks
			for i := 1; a.change.Has(fmt.Sprintf("Capabilities.member.%d", i)); i++ {
				got = append(got, a.change.Get(fmt.Sprintf("Capabilities.member.%d", i)))
			}
			expect.Same(t, []string{"CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"}, got)
			at := a.change.Get("TemplateURL")
			expect.That(t, strings.Contains(at, "managed-bucket/"+tt.stack+"/"), "the template is at %q", at)
			checkTemplates(t, whole, a.objects)
			expect.Is(t, rules.refuse(t, parameters), tt.refused, "the template's rules refuse it")
		})
	}
}

// checkTemplates looks for the template and, in the whole one, its nested stacks among the uploaded objects.
// CloudFormation knows no aliases or merges of YAML.
func checkTemplates(t *testing.T, whole bool, objects []string) {
	t.Helper()
	uploaded, want := 0, 1
	if whole {
		want += len(nested(textOf(t, filepath.Join(repository, templateFile))))
	}
	for _, o := range objects {
		if strings.Contains(o, "\nResources:\n") {
			uploaded++
			expect.Is(t, regexp.MustCompile(`(?m)(^| )(<<:|[*&]\w+$)`).FindString(o), "", "an alias, a merge")
		}
	}
	expect.Is(t, uploaded, want, "templates were put")
}

// A stack keeps its parameters if a later deployment names only others, or none.
func TestADeploymentKeepsWhatAStackWasTold(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before map[string]string
		args   []string
		want   map[string]string
	}{
		{"a stack with a real model", map[string]string{"Stage": "staging", "Model": "bedrock:anthropic.x", "AlarmEmail": "a@example.com"}, nil,
			map[string]string{"Stage": "staging", "Model": "bedrock:anthropic.x", "AlarmEmail": "a@example.com"}},
		{"another parameter", map[string]string{"Stage": "staging", "Model": "bedrock:anthropic.x"}, []string{"--parameter-overrides", "AlarmEmail=a@example.com"},
			map[string]string{"Stage": "staging", "Model": "bedrock:anthropic.x", "AlarmEmail": "a@example.com"}},
		{"production", map[string]string{"Stage": "prod", "AlarmEmail": "a@example.com"}, []string{"--config-env", "prod"},
			map[string]string{"Stage": "prod", "AlarmEmail": "a@example.com"}},
		{"another parameter of production", map[string]string{"Stage": "prod"}, []string{"--config-env", "prod", "--parameter-overrides", "AlarmEmail=a@example.com"},
			map[string]string{"Stage": "prod", "AlarmEmail": "a@example.com"}},
		{"production by another name", map[string]string{"Stage": "prod", "Canary": "Linear10PercentEvery1Minute"}, []string{"--stack-name", "ringi-other", "--s3-prefix", "ringi-other"},
			map[string]string{"Stage": "prod", "Canary": "Linear10PercentEvery1Minute"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			has := slices.Collect(maps.Keys(readRules(t).Parameters))
			expect.Same(t, tt.want, readmeDeploys(t, false, has, tt.args...).parameters(tt.before))
		})
	}
}

// Stage has no default: a deployment that forgets it must become neither production, whose heads nobody can delete, nor
// anything weaker. The other defaults are production's: no demo model, and a canary.
func TestTheTemplatesDefaultsAreProductions(t *testing.T) {
	rules := readRules(t)
	defaults := rules.complete(map[string]string{})
	_, has := defaults["Stage"]
	expect.That(t, !has && rules.refuse(t, defaults), "Stage is %q, where nobody names one", defaults["Stage"])
	defaults["Stage"] = "prod"
	expect.That(t, strings.HasPrefix(defaults["Canary"], "Canary") && !rules.refuse(t, defaults),
		"the defaults are Canary=%s, or refused", defaults["Canary"])
	for _, tt := range []struct {
		parameters map[string]string
		want       string
	}{
		{map[string]string{"Stage": "prod"}, "COMPLIANCE"},
		{map[string]string{"Stage": "dev"}, "GOVERNANCE"},
		{map[string]string{"Stage": "staging"}, "GOVERNANCE"},
		{map[string]string{"Stage": "prod", "HeadRetentionMode": "GOVERNANCE"}, "GOVERNANCE"},
		{map[string]string{"Stage": "dev", "HeadRetentionMode": "COMPLIANCE"}, "COMPLIANCE"},
	} {
		described := expect.Value(template.Read("../"+templateFile, anyAccount, tt.parameters))(t)
		at := slices.IndexFunc(described.Buckets, func(b template.Bucket) bool { return b.ID == "HeadsBucket" })
		expect.Is(t, described.Buckets[at].Retention.Mode, tt.want, "with %v heads are locked by", tt.parameters)
	}
}

// A check calls a row inserted that stands unsealed for longer, also after a batch that failed once.
func TestRowsAreSealedInTime(t *testing.T) {
	for stage, want := range map[string]time.Duration{"dev": 2 * time.Second, "staging": 20 * time.Second, "prod": 20 * time.Second} {
		described := expect.Value(template.Read("../"+templateFile, anyAccount, map[string]string{"Stage": stage}))(t)
		at := slices.IndexFunc(described.Functions, func(f template.Function) bool { return f.ID == "SealAuditFunction" })
		window := described.Functions[at].Streams[0].Window
		expect.That(t, window == want && window <= chain.Unsealed/2, "%s: rows wait %s for others", stage, window)
	}
}

// `sam deploy` ends by printing the outputs. They must warn if alarms notify nobody.
func TestADeploymentSaysThatNobodyHearsOfAlarms(t *testing.T) {
	var d struct {
		Conditions map[string]yaml.Node `yaml:"Conditions"`
		Outputs    map[string]struct {
			Value yaml.Node `yaml:"Value"`
		} `yaml:"Outputs"`
	}
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &d))
	said, asked := d.Outputs["AlarmsGoTo"].Value, d.Conditions["HasAlarmEmail"]
	either := list(at(plain(&said), "Fn::If"))
	expect.That(t, len(either) == 3 && text(either[0]) == "HasAlarmEmail" &&
		strings.Contains(text(at(either[1], "Fn::Sub")), "${AlarmEmail}") &&
		strings.Contains(text(at(either[2], "Fn::Sub")), "NOBODY"), "AlarmsGoTo says %v", plain(&said))
	expect.That(t, reflect.DeepEqual(plain(&asked), map[string]any{"Fn::Not": []any{map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "AlarmEmail"}, ""}}}}),
		"HasAlarmEmail is %v", plain(&asked))
}

// templateRules are the rules by which CloudFormation refuses parameters.
type templateRules struct {
	Parameters map[string]struct {
		Default *string `yaml:"Default"`
		Pattern string  `yaml:"AllowedPattern"`
	} `yaml:"Parameters"`
	Rules map[string]struct {
		RuleCondition yaml.Node `yaml:"RuleCondition"`
		Assertions    []struct {
			Assert yaml.Node `yaml:"Assert"`
		} `yaml:"Assertions"`
	} `yaml:"Rules"`
}

func readRules(t *testing.T) (r templateRules) {
	t.Helper()
	expect.NoError(t, yaml.Unmarshal([]byte(textOf(t, "../"+templateFile)), &r))
	return r
}

// complete adds defaults for missing parameters.
func (r templateRules) complete(given map[string]string) map[string]string {
	for name, p := range r.Parameters {
		if _, ok := given[name]; !ok && p.Default != nil {
			given[name] = *p.Default
		}
	}
	return given
}

// Production refuses every name that aggregate.ParseModelName reads as the demo model, and no other.
func TestProductionTakesNoDemoModelByAnyName(t *testing.T) {
	rules := readRules(t)
	for _, name := range []string{"demo", "demo:any", "demo:claude-sonnet-4-6", "claude-sonnet-4-6", "anthropic:demo", "openai:gpt-5.4", "o3", "gemini-2.5-flash", "compatible:demo/demo", "bedrock:global.anthropic.claude-sonnet-4-6"} {
		parsed := expect.Value(aggregate.ParseModelName(name))(t)
		parameters := rules.complete(map[string]string{"Stage": "prod", "Model": name})
		demo := parsed.Provider == aggregate.Demo
		expect.That(t, rules.refuse(t, parameters) == demo, "%s is refused: %t, wanted %t", name, !demo, demo)
	}
	expect.That(t, !rules.refuse(t, rules.complete(map[string]string{"Stage": "prod", "Model": ""})),
		"none, which leaves it to the settings, is refused")
}

// refuse reports whether a rule, a parameter's pattern or a missing value refuses the parameters. It implements only
// the functions that the rules use.
func (r templateRules) refuse(t *testing.T, parameters map[string]string) bool {
	t.Helper()
	value := func(n *yaml.Node) string {
		if n.Tag == "!Ref" {
			return parameters[n.Value]
		}
		return n.Value
	}
	var holds func(n *yaml.Node) bool
	holds = func(n *yaml.Node) bool {
		switch n.Tag {
		case "!Equals":
			return value(n.Content[0]) == value(n.Content[1])
		case "!Not":
			return !holds(n.Content[0])
		}
		t.Fatalf("a rule uses %s, which this test does not know", n.Tag)
		return false
	}
	for name, p := range r.Parameters {
		if _, given := parameters[name]; !given { // CloudFormation: "Parameters: [Stage] must have values"
			return true
		}
		if p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(parameters[name]) {
			return true
		}
	}
	for _, rule := range r.Rules {
		for _, a := range rule.Assertions {
			if holds(&rule.RuleCondition) && !holds(&a.Assert) {
				return true
			}
		}
	}
	return false
}
