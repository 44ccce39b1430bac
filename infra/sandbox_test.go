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

// interfaces are the actions that Lambda itself needs in the role of a function in a VPC.
var interfaces = []string{
	"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
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
	for _, kind := range []string{"InternetGateway", "EgressOnlyInternetGateway", "NatGateway", "Route", "VPCPeeringConnection", "TransitGatewayAttachment"} {
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
	if p := s.resources["SandboxFirewallOfNetwork"].Properties; target(p["VpcId"]) != "SandboxNetwork" || target(p["FirewallRuleGroupId"]) != "SandboxFirewall" {
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
