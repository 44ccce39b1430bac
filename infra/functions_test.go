package infra_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
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
				if of := strings.FieldsFunc(target(at(d, "Value")),
					func(r rune) bool { return r == ':' || r == '.' })[0]; of != id {
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
			// AWS_ENDPOINT_URL is a variable of the SDK that Lambda does not reserve; in AWS it must be empty.
			endpoint := name == "AWS_ENDPOINT_URL" && value == ""
			wrong.where(!endpoint && (strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "LAMBDA_")),
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

// Each parameter that bounds how many run at once reaches the functions that it is for, and no other; 0 bounds nothing.
func TestBoundsOfConcurrencyReachTheirFunctions(t *testing.T) {
	for parameter, want := range map[string][]string{"ReservedConcurrency": slackEdge,
		"ContestConcurrency": {"RunRoundFunction"}, "DoorConcurrency": {"ServeGateFunction"}} {
		for most, want := range map[int][]string{7: want, 0: nil} {
			is := expect.Value(template.Read(filepath.Join(repository, templateFile), anyAccount,
				map[string]string{"Stage": "dev", "ReservedConcurrency": "0", parameter: strconv.Itoa(most)}))(t)
			var bounded []string
			for _, f := range is.Functions {
				if f.Concurrency != 0 {
					expect.Is(t, f.Concurrency, most, f.ID)
					bounded = append(bounded, f.ID)
				}
			}
			expect.Is(t, slices.Equal(bounded, want), true, "%s: %d bounds %v", parameter, most, bounded)
		}
	}
}

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

// eventRules check what invokes the functions.
func eventRules() []rule { return []rule{apiTimeoutRule, streamRule, queueRule} }

func apiTimeoutRule(s *stack, wrong report) {
	for id, f := range s.functions {
		around := strings.Contains(fmt.Sprint(s.resources[id].Properties["Environment"]), "${Api}")
		for _, r := range f.Routes {
			wrong.where(around, "%s: its environment names Api, which names the function: nobody could deploy the circle", id)
			wrong.where(r.Timeout > 30*time.Second,
				"%s: an HTTP API ends a call after 30 s, TimeoutInMillis says %s", id, r.Timeout)
			wrong.where(r.Timeout < f.Timeout,
				"%s: the API gives up after %s, the function only after %s", id, r.Timeout, f.Timeout)
		}
	}
}

func streamRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, m := range f.Streams {
			wrong.where(s.table.Stream != "NEW_AND_OLD_IMAGES",
				"%s follows a table whose stream is %q, not NEW_AND_OLD_IMAGES", id, s.table.Stream)
			wrong.where(m.From != "TRIM_HORIZON", "%s: from LATEST it may miss what changes while the mapping is made", id)
			wrong.where(m.Retries < 0 || m.MaximumAge == 0,
				"%s: one bad record would hold up its shard for a day; limit MaximumRetryAttempts and "+
					"MaximumRecordAgeInSeconds", id)
			if dead, ok := s.queues[m.OnFailure]; !ok || dead.FIFO() {
				wrong("%s: OnFailure of a stream takes a standard queue", id)
			}
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one record repeats the whole batch", id)
			wrong.where(id == "SealAuditFunction" && m.Parallel > 1,
				"%s: %d batches of a shard at once meet in the head of one chain, and all but one sign in vain", id, m.Parallel)
			checkPatterns(id, m.Filters, wrong)
		}
	}
}

// fewestCards is of how many aggregates cards are drawn at once at least.
const fewestCards = 4

func queueRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, m := range f.Queues {
			q, ok := s.queues[m.Source]
			if !ok {
				wrong("%s: event %s has a queue that the template doesn't make", id, m.Event)
				continue
			}
			if visible := time.Duration(number(q.Attributes["VisibilityTimeout"])) * time.Second; visible < f.Timeout {
				wrong("%s: %s shows a message again after %s, the function may take %s", id, q.ID, visible, f.Timeout)
			}
			wrong.where(at(s.resources[id].Properties, "Events", m.Event, "Properties",
				"MaximumBatchingWindowInSeconds") != nil && q.FIFO(),
				"%s: a FIFO queue knows no MaximumBatchingWindowInSeconds", id)
			wrong.where(q.FIFO() && m.BatchSize > 10,
				"%s: a FIFO queue gives 10 messages at most, BatchSize is %d", id, m.BatchSize)
			wrong.where(id == "UpdateCardFunction" && m.Concurrency < fewestCards,
				"%s: %d at once are too few to draw a workspace's cards side by side", id, m.Concurrency)
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one message repeats the whole batch", id)
			wrong.where(q.DeadLetters == "", "%s: %s has no dead letters", id, q.ID)
		}
	}
}

// checkPatterns parses filters as Lambda does when it makes the mapping.
func checkPatterns(id string, patterns []string, wrong report) {
	if _, err := lambda.ParseFilter(patterns); err != nil {
		wrong("%s: %v", id, err)
	}
	wrong.where(len(patterns) > 5, "%s: %d filters, Lambda takes 5", id, len(patterns))
}

const (
	sandboxFunction  = "RunSandboxFunction"
	sandboxRole      = "RunSandboxRole"
	sandboxCondition = "HasSandbox"
)

// interfaces are the actions that Lambda itself needs in the role of a function in a VPC.
var interfaces = []string{
	"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface",
	"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
}

// sandboxRule: this function runs unknown code. It has no rights, reaches only the files of conversations in S3, and
// finds nothing that another action left.
func sandboxRule(s *stack, wrong report) {
	f := s.resources[sandboxFunction].Properties
	wrong.where(at(f, "TenancyConfig", "TenantIsolationMode") != "PER_TENANT",
		"%s: one environment would serve several actions", sandboxFunction)
	wrong.where(at(f, "VpcConfig", "SubnetIds") == nil || at(f, "VpcConfig", "SecurityGroupIds") == nil,
		"%s is in no network of its own: it would reach the internet", sandboxFunction)
	for name, v := range object(at(f, "Environment", "Variables")) {
		wrong.where(v != "", "%s: its code would read %s", sandboxFunction, name)
	}
	wrong.where(f["Runtime"] != isolated.Runtime,
		"%s: runs in %v, but agents are told what %s has", sandboxFunction, f["Runtime"], isolated.Runtime)
	wrong.where(f["Tracing"] != "PassThrough" || s.role(sandboxFunction) != sandboxRole,
		"%s: traces and another role than its own need rights", sandboxFunction)
	checkSandboxRole(s, wrong)
	checkSandboxNetwork(s, wrong)
	for id, r := range s.resources {
		wrong.where((strings.HasPrefix(id, "Sandbox") || strings.HasPrefix(id, "RunSandbox")) &&
			r.Condition != sandboxCondition, "%s is made though there is no sandbox", id)
	}
}

func checkSandboxRole(s *stack, wrong report) {
	denied := false
	for _, st := range s.statements(sandboxRole) {
		switch {
		case st.effect == "Allow":
			for _, a := range st.actions {
				wrong.where(!slices.Contains(interfaces, a), "%s may do %s: whatever runs in the sandbox could", sandboxRole, a)
			}
		case slices.Equal(st.actions, []string{"*"}) && slices.Equal(st.resources, []string{"*"}) && len(st.conditions) == 1:
			denied = denied || at(st.conditions, "Null", "lambda:SourceFunctionArn") == "false"
		}
	}
	wrong.where(!denied, "%s: the function's own code could use the rights that Lambda needs", sandboxRole)
	wrong.where(s.resources[sandboxRole].Properties["ManagedPolicyArns"] != nil,
		"%s carries a policy of others", sandboxRole)
}

func checkSandboxNetwork(s *stack, wrong report) {
	for _, kind := range []string{"InternetGateway", "EgressOnlyInternetGateway", "NatGateway", "Route",
		"VPCPeeringConnection", "TransitGatewayAttachment"} {
		for _, id := range s.of("AWS::EC2::" + kind) {
			wrong("%s is a way out of the sandbox", id)
		}
	}
	endpoints := s.of("AWS::EC2::VPCEndpoint")
	wrong.where(len(endpoints) != 1 || at(s.resources[endpoints[0]].Properties, "VpcEndpointType") != "Gateway",
		"the sandbox has other endpoints than the gateway to S3: %v", endpoints)
	for _, id := range endpoints {
		for _, v := range list(at(s.resources[id].Properties, "PolicyDocument", "Statement")) {
			st := readStatement(v)
			wrong.where(st.effect != "Allow" || !slices.Equal(st.actions, []string{"s3:GetObject", "s3:PutObject"}) ||
				!slices.Equal(st.resources, []string{"ResultsBucket.Arn/workspaces/*"}), "%s: more passes than workspaces", id)
		}
		wrong.where(at(s.resources[id].Properties, "PolicyDocument", "Statement") == nil,
			"%s: more passes than workspaces", id)
	}
	for _, id := range s.of("AWS::EC2::SecurityGroup") {
		wrong.where(s.resources[id].Properties["SecurityGroupIngress"] != nil, "%s: somebody may call the sandbox", id)
	}
	rules := list(at(s.resources["SandboxFirewall"].Properties, "FirewallRules"))
	wrong.where(len(rules) != 2 || at(rules[0], "Action") != "ALLOW" ||
		target(at(rules[0], "FirewallDomainListId")) != "SandboxNames" || at(rules[1], "Action") != "BLOCK" ||
		target(at(rules[1], "FirewallDomainListId")) != "SandboxAllNames",
		"SandboxFirewall answers other names than the bucket's")
	named := list(at(s.resources["SandboxNames"].Properties, "Domains"))
	all := list(at(s.resources["SandboxAllNames"].Properties, "Domains"))
	wrong.where(len(named) != 1 || !strings.HasPrefix(target(named[0]), "ResultsBucket.s3.") ||
		!slices.Equal(all, []any{"*"}), "SandboxFirewall answers other names than the bucket's")
	if p := s.resources["SandboxFirewallOfNetwork"].Properties; target(p["VpcId"]) != "SandboxNetwork" ||
		target(p["FirewallRuleGroupId"]) != "SandboxFirewall" {
		wrong("SandboxFirewall guards nothing")
	}
}

// The template has no sandbox unless a parameter asks for it. Its function's timeout is longer than the longest
// command's.
func TestASandboxIsThereOnlyIfItIsAskedFor(t *testing.T) {
	for value, want := range map[string]bool{"": false, "off": false, "on": true} {
		parameters := map[string]string{"Stage": "dev"}
		if value != "" {
			parameters["Sandbox"] = value
		}
		read := expect.Value(template.Read("../"+templateFile, anyAccount, parameters))(t)
		at := slices.IndexFunc(read.Functions, func(f template.Function) bool { return f.ID == sandboxFunction })
		expect.Is(t, (at >= 0), want, "with %q there is a sandbox: %t", value, at >= 0)
		if at < 0 {
			continue
		}
		f := read.Functions[at]
		expect.That(t, f.Managed && f.Timeout.Seconds() >= isolated.MaxTimeout+60,
			"it streams: %t, it ends after %s", f.Managed, f.Timeout)
	}
}
