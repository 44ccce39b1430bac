package infra_test

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

const (
	sandboxFunction  = "RunSandboxFunction"
	sandboxRole      = "RunSandboxRole"
	sandboxCondition = "HasSandbox"
)

// interfaces are the actions that Lambda itself takes by the role of a function in a network.
var interfaces = []string{
	"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
}

// sandboxRule: code that nobody knows runs there. It may do nothing, reaches the workspaces and nothing else, and finds
// nothing of another action.
func sandboxRule(s *stack, wrong func(string, ...any)) {
	f := s.resources[sandboxFunction].Properties
	if at(f, "TenancyConfig", "TenantIsolationMode") != "PER_TENANT" {
		wrong("%s: one environment would serve several actions", sandboxFunction)
	}
	if at(f, "VpcConfig", "SubnetIds") == nil || at(f, "VpcConfig", "SecurityGroupIds") == nil {
		wrong("%s is in no network of its own: it would reach the internet", sandboxFunction)
	}
	for name, v := range object(at(f, "Environment", "Variables")) {
		if v != "" {
			wrong("%s: its code would read %s", sandboxFunction, name)
		}
	}
	if f["Runtime"] != isolated.Runtime {
		wrong("%s: runs in %v, but agents are told what %s has", sandboxFunction, f["Runtime"], isolated.Runtime)
	}
	if f["Tracing"] != "PassThrough" || s.role(sandboxFunction) != sandboxRole {
		wrong("%s: traces and another role than its own need rights", sandboxFunction)
	}
	checkSandboxRole(s, wrong)
	checkSandboxNetwork(s, wrong)
	for id, r := range s.resources {
		if (strings.HasPrefix(id, "Sandbox") || strings.HasPrefix(id, "RunSandbox")) && r.Condition != sandboxCondition {
			wrong("%s is made though there is no sandbox", id)
		}
	}
}

func checkSandboxRole(s *stack, wrong func(string, ...any)) {
	denied := false
	for _, st := range s.statements(sandboxRole) {
		switch {
		case st.effect == "Allow":
			for _, a := range st.actions {
				if !slices.Contains(interfaces, a) {
					wrong("%s may do %s: whatever runs in the sandbox could", sandboxRole, a)
				}
			}
		case slices.Equal(st.actions, []string{"*"}) && slices.Equal(st.resources, []string{"*"}) && len(st.conditions) == 1:
			denied = denied || at(st.conditions, "Null", "lambda:SourceFunctionArn") == "false"
		}
	}
	if !denied {
		wrong("%s: the function's own code could use the rights that Lambda needs", sandboxRole)
	}
	if s.resources[sandboxRole].Properties["ManagedPolicyArns"] != nil {
		wrong("%s carries a policy of others", sandboxRole)
	}
}

func checkSandboxNetwork(s *stack, wrong func(string, ...any)) {
	for _, kind := range []string{"InternetGateway", "EgressOnlyInternetGateway", "NatGateway", "Route", "VPCPeeringConnection", "TransitGatewayAttachment"} {
		for _, id := range s.of("AWS::EC2::" + kind) {
			wrong("%s is a way out of the sandbox", id)
		}
	}
	endpoints := s.of("AWS::EC2::VPCEndpoint")
	if len(endpoints) != 1 || at(s.resources[endpoints[0]].Properties, "VpcEndpointType") != "Gateway" {
		wrong("the sandbox has other endpoints than the gateway to S3: %v", endpoints)
	}
	for _, id := range endpoints {
		for _, v := range list(at(s.resources[id].Properties, "PolicyDocument", "Statement")) {
			st := readStatement(v)
			if st.effect != "Allow" || !slices.Equal(st.actions, []string{"s3:GetObject", "s3:PutObject"}) || !slices.Equal(st.resources, []string{"ResultsBucket.Arn/workspaces/*"}) {
				wrong("%s: more passes than workspaces", id)
			}
		}
		if at(s.resources[id].Properties, "PolicyDocument", "Statement") == nil {
			wrong("%s: more passes than workspaces", id)
		}
	}
	for _, id := range s.of("AWS::EC2::SecurityGroup") {
		if s.resources[id].Properties["SecurityGroupIngress"] != nil {
			wrong("%s: somebody may call the sandbox", id)
		}
	}
	rules := list(at(s.resources["SandboxFirewall"].Properties, "FirewallRules"))
	if len(rules) != 2 || at(rules[0], "Action") != "ALLOW" || target(at(rules[0], "FirewallDomainListId")) != "SandboxNames" ||
		at(rules[1], "Action") != "BLOCK" || target(at(rules[1], "FirewallDomainListId")) != "SandboxAllNames" {
		wrong("SandboxFirewall answers other names than the bucket's")
	}
	named := list(at(s.resources["SandboxNames"].Properties, "Domains"))
	all := list(at(s.resources["SandboxAllNames"].Properties, "Domains"))
	if len(named) != 1 || !strings.HasPrefix(target(named[0]), "ResultsBucket.s3.") || !slices.Equal(all, []any{"*"}) {
		wrong("SandboxFirewall answers other names than the bucket's")
	}
	if p := s.resources["SandboxFirewallOfNetwork"].Properties; target(p["VpcId"]) != "SandboxNetwork" || target(p["FirewallRuleGroupId"]) != "SandboxFirewall" {
		wrong("SandboxFirewall guards nothing")
	}
}

// Nothing of a sandbox is there unless it is asked for; then its function outlasts the longest command.
func TestASandboxIsThereOnlyIfItIsAskedFor(t *testing.T) {
	names := template.Names{Stack: "ringi", Region: "us-east-1", Account: "123456789012", Endpoint: "http://127.0.0.1:4566"}
	for value, want := range map[string]bool{"": false, "off": false, "on": true} {
		parameters := map[string]string{"Stage": "dev"}
		if value != "" {
			parameters["Sandbox"] = value
		}
		read := expect.Value(template.Read("../"+templateFile, names, parameters))(t)
		at := slices.IndexFunc(read.Functions, func(f template.Function) bool { return f.ID == sandboxFunction })
		if (at >= 0) != want {
			t.Errorf("with %q there is a sandbox: %t", value, at >= 0)
		}
		if at < 0 {
			continue
		}
		f := read.Functions[at]
		if !f.Managed || f.Timeout.Seconds() < isolated.MaxTimeout+60 {
			t.Errorf("it streams: %t, it ends after %s", f.Managed, f.Timeout)
		}
	}
}
