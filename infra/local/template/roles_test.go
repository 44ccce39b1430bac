package template

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

const system = `
Parameters: { More: { Type: String, Default: "off" } }
Conditions: { HasMore: !Equals [!Ref More, "on"] }
Resources:
  Table: { Type: "AWS::DynamoDB::Table" }
  Secret: { Type: "AWS::SecretsManager::Secret" }
  Key: { Type: "AWS::KMS::Key" }
  ReadRows:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument: { Version: "2012-10-17", Statement: [{ Sid: Read, Effect: Allow, Action: "dynamodb:Query", Resource: !Sub "${Table.Arn}/index/*" }] }
  More:
    Type: AWS::IAM::ManagedPolicy
    Condition: HasMore
    Properties:
      Roles: [!Ref OneRole]
      PolicyDocument: { Version: "2012-10-17", Statement: { Sid: Invoke, Effect: Allow, Action: "lambda:InvokeFunction", Resource: !GetAtt OneFunction.Arn } }
  OneRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      ManagedPolicyArns: [!Ref ReadRows]
      Policies:
        - PolicyName: one
          PolicyDocument: { Version: "2012-10-17", Statement: [{ Sid: Open, Effect: Allow, Action: ["a:B"], Resource: [!Ref Secret, !GetAtt Key.Arn] }] }
  OneFunction:
    Type: AWS::Serverless::Function
    Properties: { Role: !GetAtt OneRole.Arn }
`

// rolesOf reads the roles of the system template after a replacement in its text.
func rolesOf(t *testing.T, parameters map[string]string, old, new string) (map[string]Role, error) {
	t.Helper()
	expect.Must(t, strings.Contains(system, old), "%q does not stand there", old)
	file := filepath.Join(t.TempDir(), "template.yaml")
	expect.NoError(t, os.WriteFile(file, []byte(strings.Replace(system, old, new, 1)), 0o600))
	names := Names{Stack: "ringi", Region: "us-east-1", Account: "123456789012", Known: map[string]string{"Key.Arn": "arn:aws:kms:us-east-1:123456789012:key/5"}}
	return Roles(file, names, parameters)
}

func TestRolesHaveTheirOwnPoliciesAndThoseThatNameThem(t *testing.T) {
	for more, want := range map[string][]string{"off": {"ReadRows", "one"}, "on": {"ReadRows", "More", "one"}} {
		one := expect.Value(rolesOf(t, map[string]string{"More": more}, "", ""))(t)["OneFunction"]
		var names []string
		for _, p := range one.Policies {
			names = append(names, p.Name)
		}
		expect.Same(t, want, names)
	}
	one := expect.Value(rolesOf(t, nil, "", ""))(t)["OneFunction"]
	expect.Same(t, []PolicyResource{
		{Pattern: "arn:aws:secretsmanager:us-east-1:123456789012:secret:ringi-Secret", Name: "ringi-Secret"},
		{Pattern: "arn:aws:kms:us-east-1:123456789012:key/5", Name: "key/ringi-Key"},
	}, one.Policies[1].Statements[0].Resources)
	v := one.Judge(Request{Action: "dynamodb:Query",
		Resource: "arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table/index/GSI1"})
	expect.That(t, v.Allowed, "a managed policy allows nothing")
}

// A stack that ignored a part of the rights would allow too much or too little.
func TestRightsThatAreNotReadAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"a role that SAM makes":  {"Properties: { Role: !GetAtt OneRole.Arn }", "Properties: {}", "no role of this template"},
		"a policy template":      {"Role: !GetAtt OneRole.Arn }", "Role: !GetAtt OneRole.Arn, Policies: [{ SQSPollerPolicy: {} }] }", "rights by Policies"},
		"a boundary":             {"Role: !GetAtt OneRole.Arn }", "Role: !GetAtt OneRole.Arn, PermissionsBoundary: x }", "rights by PermissionsBoundary"},
		"a connector":            {"  OneFunction:\n", "  OneFunction:\n    Connectors: { A: {} }\n", "rights by"},
		"a connector by itself":  {"  OneFunction:\n", "  C: { Type: \"AWS::Serverless::Connector\" }\n  OneFunction:\n", "AWS::Serverless::Connector"},
		"a policy of its own":    {"  OneFunction:\n", "  P: { Type: \"AWS::IAM::Policy\" }\n  OneFunction:\n", "AWS::IAM::Policy"},
		"a policy of AWS's":      {"[!Ref ReadRows]", "[\"arn:aws:iam::aws:policy/ReadOnlyAccess\"]", "is not in the template"},
		"a boundary of the role": {"AssumeRolePolicyDocument: {}", "PermissionsBoundary: x", "PermissionsBoundary is not known"},
		"a condition key":        {"Resource: [!Ref Secret", "Condition: { StringEquals: { \"aws:SourceIp\": x } }, Resource: [!Ref Secret", "condition key is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rolesOf(t, nil, tt.old, tt.new)
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "%v", err)
		})
	}
}
