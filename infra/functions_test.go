package infra_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// keptRule: what cannot be made again outlives a mistaken update, a deleted stack and a careless hand, and nobody else
// reads it.
func keptRule(s *stack, wrong report) {
	for id, r := range s.resources {
		keep := "RetainExceptOnCreate" // deletes what a failed first deployment made
		must := [][]string{}
		switch r.Type {
		case "AWS::DynamoDB::Table":
			keep = "Retain" // its deletion protection would make that deletion fail
			must = [][]string{{"DeletionProtectionEnabled"}, {"PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"},
				{"SSESpecification", "SSEEnabled"}}
			wrong.where(s.table.Expiry != "delete_after", "%s: the TTL attribute is %q", id, s.table.Expiry)
		case "AWS::S3::Bucket":
			for _, name := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
				must = append(must, []string{"PublicAccessBlockConfiguration", name})
			}
			wrong.where(!s.refusesPlainHTTP(id), "%s: no bucket policy refuses plain http", id)
			wrong.where(id == "HeadsBucket" &&
				at(r.Properties, "ObjectLockConfiguration", "Rule", "DefaultRetention", "Mode") == nil, "%s locks nothing", id)
		case "AWS::KMS::Key", "AWS::SecretsManager::Secret":
		default:
			continue
		}
		wrong.where(r.DeletionPolicy != keep || r.UpdateReplacePolicy != "Retain",
			"%s holds what cannot be made again: DeletionPolicy must be %s, UpdateReplacePolicy Retain", id, keep)
		for _, path := range must {
			wrong.where(at(r.Properties, path...) != "true", "%s: %s must be true", id, strings.Join(path, "."))
		}
	}
	wrong.where(strings.Contains(s.text, "{{resolve:"),
		"a dynamic reference ({{resolve:…}}) would put a secret into a resource's readable configuration")
}

func (s *stack) refusesPlainHTTP(bucket string) bool {
	for _, id := range s.of("AWS::S3::BucketPolicy") {
		p := s.resources[id].Properties
		for _, st := range list(at(p, "PolicyDocument", "Statement")) {
			if target(p["Bucket"]) == bucket && at(st, "Effect") == "Deny" && at(st, "Principal") == "*" &&
				at(st, "Condition", "Bool", "aws:SecureTransport") == "false" && len(list(at(st, "Resource"))) == 2 {
				return true
			}
		}
	}
	return false
}

// forgottenRule: what is needed for a time only expires, with its older versions. A model's answer outlives its row,
// which expires after seven days.
func forgottenRule(s *stack, wrong report) {
	for prefix, days := range map[string]string{"workspaces/downloads/": "1", "workspaces/actions/": "1", "turns/": "8"} {
		wrong.where(!slices.ContainsFunc(list(at(s.resources["ResultsBucket"].Properties, "LifecycleConfiguration", "Rules")),
			func(r any) bool {
				return at(r, "Prefix") == prefix && at(r, "Status") == "Enabled" && at(r, "ExpirationInDays") == days &&
					at(r, "NoncurrentVersionExpiration", "NoncurrentDays") == "1"
			}), "ResultsBucket keeps %s for more or less than %s days", prefix, days)
	}
}

// unversioned are properties outside versions. They take effect whatever the alias points to, so they may have
// parameters; nothing else in them may change.
var unversioned = []string{"DeploymentPreference", "ReservedConcurrentExecutions"}

// versionRule: SAM builds functions of one folder once, unless each has a Makefile's target. It names a version by a
// hash of the function's properties as the template writes them. A parameter's new value would change the function but
// leave the alias at the old version. A changed tag would ask Lambda for a version without a difference, which Lambda
// refuses.
func versionRule(s *stack, wrong report) {
	for id := range s.functions {
		p := s.resources[id].Properties
		wrong.where(s.resources[id].Metadata["BuildMethod"] != "makefile",
			"%s: without BuildMethod makefile it would get the binary of another function", id)
		if p["AutoPublishAlias"] == nil {
			continue
		}
		wrong.where(p["AutoPublishAliasAllProperties"] != "true",
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

// parametersIn returns the parameters and conditions that a value refers to.
func (s *stack) parametersIn(v any) (used []string) {
	for _, m := range regexp.MustCompile(`(\bRef:|\$\{|\bFn::If:\[)(\w+)`).FindAllStringSubmatch(fmt.Sprint(v), -1) {
		if s.parameters[m[2]] || m[1] == "Fn::If:[" {
			used = append(used, m[2])
		}
	}
	return used
}

// deliveryRule: one record or message holds up no others, none is lost, and nobody stops waiting before the function
// ends.
func deliveryRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, r := range f.Routes {
			wrong.where(r.Timeout < f.Timeout, "%s: the API gives up after %s, the function after %s", id, r.Timeout, f.Timeout)
		}
		for _, m := range f.Streams {
			wrong.where(m.From != "TRIM_HORIZON", "%s: from LATEST it may miss what changes while the mapping is made", id)
			wrong.where(m.Retries < 0 || m.MaximumAge == 0, "%s: one bad record would hold up its shard for a day", id)
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one record repeats the whole batch", id)
			wrong.where(id == "SealAuditFunction" && m.Parallel > 1,
				"%s: %d batches of a shard at once meet in the head of one chain, and all but one sign in vain", id, m.Parallel)
			if dead, ok := s.queues[m.OnFailure]; !ok || dead.Attributes["FifoQueue"] == "true" {
				wrong("%s: OnFailure of a stream takes a standard queue", id)
			}
			_, err := lambda.ParseFilter(m.Filters)
			wrong.where(err != nil, "%s: %v", id, err)
		}
		for _, m := range f.Queues {
			q := s.queues[m.Source]
			seconds, _ := strconv.Atoi(q.Attributes["VisibilityTimeout"])
			wrong.where(time.Duration(seconds)*time.Second < f.Timeout, "%s: %s shows a message again while it works", id, q.ID)
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one message repeats the whole batch", id)
			dead, ok := s.queues[q.DeadLetters]
			wrong.where(!ok || dead.Attributes["FifoQueue"] != q.Attributes["FifoQueue"],
				"%s: the dead letters of %s must be FIFO like it", id, q.ID)
		}
	}
}

// alarmRule: an alarm reaches somebody, reckons with each metric that it reads, and those are counted: what a function
// never counts never rings. CloudWatch refuses an alarm on more than ten metrics (User Guide, "Alarm limits").
func alarmRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		p := s.resources[id].Properties
		wrong.where(len(list(p["AlarmActions"])) == 0 && !strings.Contains(s.text, "Alarms: [!Ref "+id+"]"),
			"%s tells nobody", id)
		all, said := []any{p}, fmt.Sprint(p["Metrics"])
		if metrics := list(p["Metrics"]); len(metrics) > 0 {
			all = nil
			for _, m := range metrics {
				if at(m, "MetricStat") != nil {
					all = append(all, at(m, "MetricStat", "Metric"))
					wrong.where(!strings.Contains(said, "FILL("+text(at(m, "Id"))+","), "%s does not reckon with %s", id, at(m, "Id"))
				}
			}
		}
		wrong.where(len(all) > 10, "%s reads %d metrics", id, len(all))
		for _, m := range all {
			dimensions := list(at(m, "Dimensions"))
			name, of := text(at(m, "MetricName")), target(at(dimensions[0], "Value"))
			if at(m, "Namespace") == boot.MetricNamespace {
				counts, err := counted(s.functions[of].Folder, name)
				wrong.where(err != nil || !counts, "%s watches %s of %s, which never counts it: %v", id, name, of, err)
			}
		}
	}
}

// counted reports whether a function's code names a metric.
func counted(folder, metric string) (bool, error) {
	all, err := packages()
	at := slices.IndexFunc(all, func(p listed) bool { return p.ImportPath == "ringi/functions/"+folder })
	if err != nil || at < 0 {
		return false, err
	}
	names := regexp.MustCompile(`\bboot\.` + metric + `\b`)
	for _, p := range all {
		for _, name := range p.GoFiles {
			if p.ImportPath == all[at].ImportPath || slices.Contains(all[at].Deps, p.ImportPath) {
				text, err := os.ReadFile(filepath.Join(p.Dir, name))
				if err != nil || bytes.Contains(text, []byte(metric)) && names.Match(text) {
					return true, err
				}
			}
		}
	}
	return false, nil
}

const (
	sandboxFunction = "RunSandboxFunction"
	readerFunction  = "ReadFileFunction"
)

// checkSandbox: the sandbox runs unknown code. It reaches only the files of conversations in S3, and finds nothing that
// another action left.
func checkSandbox(s *stack, wrong report) {
	f := s.resources[sandboxFunction].Properties
	wrong.where(at(f, "TenancyConfig", "TenantIsolationMode") != "PER_TENANT",
		"%s: one environment would serve several actions", sandboxFunction)
	wrong.where(at(f, "VpcConfig", "SubnetIds") == nil || at(f, "VpcConfig", "SecurityGroupIds") == nil,
		"%s is in no network of its own: it would reach the internet", sandboxFunction)
	wrong.where(f["Runtime"] != isolated.Runtime,
		"%s: runs in %v, but agents are told what %s has", sandboxFunction, f["Runtime"], isolated.Runtime)
	for id, r := range s.resources {
		kind, network := strings.CutPrefix(r.Type, "AWS::EC2::")
		wrong.where(network && !slices.Contains([]string{"VPC", "Subnet", "RouteTable", "SubnetRouteTableAssociation",
			"SecurityGroup", "VPCEndpoint"}, kind), "%s is a way out of the sandbox", id)
		wrong.where(r.Properties["SecurityGroupIngress"] != nil, "%s: somebody may call the sandbox", id)
		if kind == "VPCEndpoint" {
			st := at(list(at(r.Properties, "PolicyDocument", "Statement"))[0])
			wrong.where(r.Properties["VpcEndpointType"] != "Gateway" ||
				!reflect.DeepEqual(list(at(st, "Action")), []any{"s3:GetObject", "s3:PutObject"}) ||
				!strings.HasSuffix(target(at(st, "Resource")), "/workspaces/*"), "%s: more passes than workspaces", id)
		}
	}
	rules := list(at(s.resources["SandboxFirewall"].Properties, "FirewallRules"))
	wrong.where(len(rules) != 2 || at(rules[0], "Action") != "ALLOW" || at(rules[1], "Action") != "BLOCK" ||
		target(at(rules[0], "FirewallDomainListId")) != "SandboxNames" ||
		target(at(rules[1], "FirewallDomainListId")) != "SandboxAllNames" ||
		fmt.Sprint(at(s.resources["SandboxAllNames"].Properties, "Domains")) != "[*]" ||
		len(list(at(s.resources["SandboxNames"].Properties, "Domains"))) != 1 ||
		target(s.resources["SandboxFirewallOfNetwork"].Properties["VpcId"]) != "SandboxNetwork",
		"SandboxFirewall answers other names than the bucket's")
}

// The template has no sandbox unless a parameter asks for it. Its function's timeout is longer than the longest
// command's.
func TestASandboxIsThereOnlyIfItIsAskedFor(t *testing.T) {
	for value, want := range map[string]bool{"off": false, "on": true} {
		read := expect.Value(template.Read("../"+templateFile, anyAccount,
			map[string]string{"Stage": "dev", "Sandbox": value}))(t)
		at := slices.IndexFunc(read.Functions, func(f template.Function) bool { return f.ID == sandboxFunction })
		expect.Is(t, at >= 0, want, "with %q there is a sandbox: %t", value, at >= 0)
		expect.That(t, at < 0 || read.Functions[at].Managed && read.Functions[at].Timeout.Seconds() >= isolated.MaxTimeout+60,
			"it does not stream, or ends too early")
	}
}

// What bounds how many run at once reaches the functions that it is for, and no other; 0 bounds nothing.
func TestABoundOfConcurrencyReachesItsFunctions(t *testing.T) {
	for most, want := range map[int][]string{
		7: {"ReceiveEventFunction", "ReceiveInteractionFunction", "RunRoundFunction", "ServeGateFunction"}, 0: nil} {
		is := expect.Value(template.Read(filepath.Join(repository, templateFile), anyAccount,
			map[string]string{"Stage": "dev", "ReservedConcurrency": strconv.Itoa(most)}))(t)
		var bounded []string
		for _, f := range is.Functions {
			if f.Concurrency != 0 {
				expect.Is(t, f.Concurrency, most, f.ID)
				bounded = append(bounded, f.ID)
			}
		}
		expect.Same(t, want, bounded)
	}
}

// structs returns the structs of a folder's files, by name.
func structs(t *testing.T, folder string) map[string]*ast.StructType {
	t.Helper()
	all := map[string]*ast.StructType{}
	for _, name := range expect.Value(filepath.Glob(filepath.Join(repository, folder, "*.go")))(t) {
		ast.Inspect(expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t), func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return all
}

// settings returns for each variable of a function's environment struct whether it is optional. groups are the structs
// of shared/runtime/boot, which it may embed.
func settings(t *testing.T, s *ast.StructType, groups map[string]*ast.StructType) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	expect.Must(t, s != nil, "there is no such struct")
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			maps.Copy(all, settings(t, groups[field.Type.(*ast.SelectorExpr).Sel.Name], groups))
			continue
		}
		name, option, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("env"), ",")
		all[name] = option == "optional"
	}
	return all
}

// mayBeEmpty are parameters with a default that a deployment may set to nothing.
var mayBeEmpty = []string{"MODEL"}

// A variable that the template doesn't set would be empty in AWS only. One that nobody reads often comes with a right
// that nobody needs.
func TestFunctionsReadWhatTheTemplateSets(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	groups := structs(t, "shared/runtime/boot")
	for _, f := range s.functions {
		reads := settings(t, structs(t, "functions/"+f.Folder)["environment"], groups)
		for name, value := range f.Environment {
			_, read := reads[name]
			expect.That(t, read || value == "", "the template sets %s, %s never reads it", name, f.ID)
		}
		for name, optional := range reads {
			value, set := f.Environment[name]
			expect.That(t, set, "%s reads %s, the template does not set it", f.ID, name)
			expect.That(t, optional == (value == "" || slices.Contains(mayBeEmpty, name)),
				"%s of %s is optional: %t; the template sets %q", name, f.ID, optional, value)
		}
	}
}

var environmentRead = regexp.MustCompile(`\bos\.(?:Getenv|LookupEnv|Environ|ExpandEnv)\b`)

// A function's struct has its whole configuration only if nothing else reads the environment, but for the function's
// name and version, which Lambda sets.
func TestNothingElseReadsTheEnvironment(t *testing.T) {
	own := regexp.MustCompile(`os\.Getenv\("AWS_LAMBDA_FUNCTION_(NAME|VERSION)"\)`)
	for path, text := range codeBelow(t, "../functions", "../shared") {
		ours := path == "../shared/runtime/boot/boot.go" || path == "../shared/runtime/expect/expect.go"
		expect.That(t, ours || !environmentRead.MatchString(own.ReplaceAllString(text, "")),
			"%s reads the environment beside shared/runtime/boot", path)
	}
}
