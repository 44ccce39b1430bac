package template

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/runtime/expect"
)

// policy reads statements in JSON, without intrinsics.
func policy(t *testing.T, statements string) (Policy, error) {
	t.Helper()
	var document any
	expect.NoError(t, json.Unmarshal([]byte(`{"Version": "2012-10-17", "Statement": `+statements+`}`), &document))
	return ReadPolicy("own", document)
}

func role(t *testing.T, statements string) Role {
	t.Helper()
	return Role{Name: "ringi-OneRole", Policies: []Policy{expect.Value(policy(t, statements))(t)}}
}

const (
	rows = "arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table"
	// writes allows a function to write tasks and the audit log, as template.yaml does.
	writes = `[
		{"Sid": "Commit", "Effect": "Allow", "Action": ["dynamodb:PutItem", "dynamodb:UpdateItem"], "Resource": "` + rows +
		`",
		 "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TASK#*", "AUDIT#*"]}}},
		{"Sid": "AuditIsAppendOnly", "Effect": "Deny", "Action": "dynamodb:UpdateItem", "Resource": "` + rows + `",
		 "Condition": {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["AUDIT#*"]}}},
		{"Sid": "AuditComesWithItsChange", "Effect": "Deny", "Action": "dynamodb:PutItem", "Resource": "` + rows + `",
		 "Condition": {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["AUDIT#*"]},
		  "StringNotEquals": {"dynamodb:EnclosingOperation": "TransactWriteItems"}}}]`
	notes = `[{"Sid": "Note", "Effect": "Allow", "Action": "dynamodb:UpdateItem", "Resource": "` + rows + `",
		"Condition": {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["PK", "SK", "rev"]}}}]`
	opens = `[{"Sid": "Open", "Effect": "Allow", "Action": "kms:Decrypt", "Resource": "*",
		"Condition": {"Null": {"kms:EncryptionContext:tenant_id": "false"},
			"StringEquals": {"kms:EncryptionContext:provider": ["slack", "freee"]}}}]`
	files = `[{"Sid": "Keep", "Effect": "Allow", "Action": "s3:*Object", "Resource": "arn:aws:s3:::b/*"},
		{"Sid": "NotThese", "Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/prompts/*"}]`
	nothing = `[{"Sid": "JoinTheNetwork", "Effect": "Allow", "Action": "ec2:DescribeSubnets", "Resource": "*"},
		{"Sid": "NothingForItsCode", "Effect": "Deny", "Action": "*", "Resource": "*",
		 "Condition": {"Null": {"lambda:SourceFunctionArn": "false"}}}]`
)

func TestWhatARoleAllows(t *testing.T) {
	keys := func(k ...string) map[string][]string { return map[string][]string{leadingKeys: k} }
	for name, tt := range map[string]struct {
		statements, action, resource string
		context                      map[string][]string
		want                         string // the Sid that allows or denies; "" for neither
		denied                       bool
	}{
		"a row of its kind":                  {writes, "dynamodb:UpdateItem", rows, keys("TASK#t#1"), "Commit", false},
		"an action in other letters":         {writes, "DynamoDB:updateitem", rows, keys("TASK#t#1"), "Commit", false},
		"a row of another kind":              {writes, "dynamodb:UpdateItem", rows, keys("TENANT#t"), "", false},
		"rows of two kinds, one not its own": {writes, "dynamodb:PutItem", rows, keys("TASK#t#1", "TENANT#t"), "", false},
		"another action":                     {writes, "dynamodb:DeleteItem", rows, keys("TASK#t#1"), "", false},
		"an index of its table": {writes, "dynamodb:PutItem", rows + "/index/GSI1", keys("TASK#t#1"), "",
			false},
		"no keys at all, and all of none are good": {writes, "dynamodb:PutItem", rows, nil, "Commit", false},
		"a Deny beside an Allow": {writes, "dynamodb:UpdateItem", rows, keys("AUDIT#t"),
			"AuditIsAppendOnly", true},
		"one denied key of several": {writes, "dynamodb:UpdateItem", rows, keys("TASK#t#1", "AUDIT#t"),
			"AuditIsAppendOnly", true},
		"an entry alone": {writes, "dynamodb:PutItem", rows, keys("AUDIT#t"), "AuditComesWithItsChange", true},
		"an entry in a transaction": {writes, "dynamodb:PutItem", rows,
			map[string][]string{leadingKeys: {"AUDIT#t"}, enclosingOperation: {"TransactWriteItems"}}, "Commit", false},
		"attributes that are listed": {notes, "dynamodb:UpdateItem", rows,
			map[string][]string{attributes: {"PK", "rev"}}, "Note", false},
		"an attribute that is not": {notes, "dynamodb:UpdateItem", rows,
			map[string][]string{attributes: {"PK", "allowed"}}, "", false},
		"a key for whose credential it is": {opens, "kms:Decrypt", "key",
			map[string][]string{encryptionContext + "tenant_id": {"t"},
				encryptionContext + "provider": {"slack"}}, "Open", false},
		"a key for another vendor's": {opens, "kms:Decrypt", "key",
			map[string][]string{encryptionContext + "tenant_id": {"t"}, encryptionContext + "provider": {"google"}}, "", false},
		"a key for nobody's": {opens, "kms:Decrypt", "key",
			map[string][]string{encryptionContext + "provider": {"slack"}}, "", false},
		"a key without a context": {opens, "kms:Decrypt", "key", nil, "", false},
		"actions by a pattern":    {files, "s3:PutObject", "arn:aws:s3:::b/results/1", nil, "Keep", false},
		"not another by it":       {files, "s3:PutObjectAcl", "arn:aws:s3:::b/results/1", nil, "", false},
		"a denied folder":         {files, "s3:GetObject", "arn:aws:s3:::b/prompts/1", nil, "NotThese", true},
		"another bucket":          {files, "s3:GetObject", "arn:aws:s3:::bb/results/1", nil, "", false},
		"what its own code asks for": {nothing, "ec2:DescribeSubnets", "*",
			map[string][]string{sourceFunction: {"arn"}}, "NothingForItsCode", true},
		"what AWS asks for with the role": {nothing, "ec2:DescribeSubnets", "*", nil, "JoinTheNetwork", false},
	} {
		v := role(t, tt.statements).Judge(Request{tt.action, tt.resource, tt.context})
		expect.That(t, v.By == tt.want && v.Allowed == (tt.want != "" && !tt.denied), "%s: %+v", name, v)
	}
}

// AWS doesn't say whether a transaction's leading keys are those of one item or of all with the same action. Those of
// all refuse more.
func TestATransactionsKeysAreReadTogether(t *testing.T) {
	const apart = `[{"Sid": "Commit", "Effect": "Allow", "Action": ["dynamodb:PutItem", "dynamodb:UpdateItem"], ` +
		`"Resource": "` + rows + `",
		 "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TASK#*", "AUDIT#*"]}}},
		{"Sid": "Number", "Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "` + rows + `",
		 "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["NUMBER#*"]}}}]`
	for name, tt := range map[string]struct {
		statements string
		keys       []string // of what is put
		allowed    bool
	}{
		"keys of one statement":               {apart, []string{"TASK#t#1", "AUDIT#t"}, true},
		"keys of two statements":              {apart, []string{"TASK#t#1", "NUMBER#t"}, false},
		"a key of no statement":               {apart, []string{"TASK#t#1", "TENANT#t"}, false},
		"a denied key under the other action": {writes, []string{"TASK#t#1", "AUDIT#t"}, true},
	} {
		items := []ddb.TransactWriteItem{{Update: &ddb.Update{TableName: table, Key: row("TASK#t#1"),
			UpdateExpression: aws.String("SET a = b")}}}
		for _, k := range tt.keys {
			items = append(items, ddb.TransactWriteItem{Put: &ddb.Put{TableName: table, Item: row(k)}})
		}
		reached := false
		c := calling(t, role(t, tt.statements), func(w http.ResponseWriter, _ *http.Request) {
			reached = true
			io.WriteString(w, "{}")
		})
		_, err := c.rows().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
		expect.That(t, reached == tt.allowed && (err == nil) == tt.allowed, "%s: %v", name, err)
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b", true}, {"a*", "a", true}, {"a*c", "abcbc",
			true}, {"a*c", "abcb", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"*#BY#*", "TENANT#t#BY#u", true}, {"TENANT#*#PENDING",
			"TENANT#t#PENDING", true},
		{"TENANT#*#PENDING", "TENANT#t#BY#u", false}, {"a**b", "ab", true}, {"a.c", "abc", false}, {"[a]", "a", false},
	} {
		expect.Is(t, like(tt.pattern, tt.s), tt.want, "%q like %q", tt.s, tt.pattern)
	}
}

// Judging by half of a policy would allow too much or too little.
func TestAPolicyThatIsNotUnderstoodIsRefused(t *testing.T) {
	const plain = `"Sid": "S", "Effect": "Allow", "Action": "a:B", "Resource": "*"`
	for name, tt := range map[string]struct{ statement, want string }{
		"NotAction":   {`{"Sid": "S", "Effect": "Allow", "NotAction": "a:B", "Resource": "*"}`, "NotAction is not known"},
		"NotResource": {`{"Sid": "S", "Effect": "Allow", "Action": "a:B", "NotResource": "*"}`, "NotResource is not known"},
		"Principal":   {`{` + plain + `, "Principal": "*"}`, "Principal is not known"},
		"an effect":   {`{"Sid": "S", "Effect": "allow", "Action": "a:B", "Resource": "*"}`, "Effect allow is not known"},
		"no resource": {`{"Sid": "S", "Effect": "Allow", "Action": "a:B"}`, "is no text"},
		"no name":     {`{"Effect": "Allow", "Action": "a:B", "Resource": "*"}`, "has a Sid"},
		"an operator": {`{` + plain + `, "Condition": {"IpAddress": {"kms:SigningAlgorithm": "x"}}}`,
			"operator is not known"},
		"an operator if a key is there": {`{` + plain +
			`, "Condition": {"StringEqualsIfExists": {"kms:SigningAlgorithm": "x"}}}`, "operator is not known"},
		"a negated operator for each": {`{` + plain +
			`, "Condition": {"ForAllValues:StringNotEquals": {"dynamodb:LeadingKeys": "x"}}}`, "operator is not known"},
		"a condition key": {`{` + plain + `, "Condition": {"StringEquals": {"aws:SourceIp": "x"}}}`,
			"condition key is not known"},
		"a list without a quantifier": {`{` + plain + `, "Condition": {"StringLike": {"dynamodb:LeadingKeys": "x"}}}`,
			"need one of them"},
		"a quantifier without a list": {`{` + plain +
			`, "Condition": {"ForAllValues:StringLike": {"kms:SigningAlgorithm": "x"}}}`, "hold a list"},
		"a policy variable": {`{` + plain +
			`, "Condition": {"StringLike": {"kms:SigningAlgorithm": "${aws:username}"}}}`, "policy variables"},
		"Null of a word": {`{` + plain + `, "Condition": {"Null": {"kms:SigningAlgorithm": "yes"}}}`,
			"Null takes true or false"},
	} {
		_, err := policy(t, tt.statement)
		expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "%s: %v", name, err)
	}
	_, err := ReadPolicy("old", map[string]any{"Version": "2008-10-17", "Statement": []any{}})
	expect.That(t, err != nil, "an old version of the language is read")
}

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
      PolicyDocument: { Version: "2012-10-17", Statement: [{ Sid: Read, Effect: Allow,
        Action: "dynamodb:Query", Resource: !Sub "${Table.Arn}/index/*" }] }
  More:
    Type: AWS::IAM::ManagedPolicy
    Condition: HasMore
    Properties:
      Roles: [!Ref OneRole]
      PolicyDocument: { Version: "2012-10-17", Statement: { Sid: Invoke, Effect: Allow,
        Action: "lambda:InvokeFunction", Resource: !GetAtt OneFunction.Arn } }
  OneRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      ManagedPolicyArns: [!Ref ReadRows]
      Policies:
        - PolicyName: one
          PolicyDocument: { Version: "2012-10-17", Statement: [{ Sid: Open, Effect: Allow,
            Action: ["a:B"], Resource: [!Ref Secret, !GetAtt Key.Arn] }] }
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
	names := Names{Known: map[string]string{"Key.Arn": "arn:aws:kms:us-east-1:123456789012:key/5"}}
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
	expect.Same(t, []string{
		"arn:aws:secretsmanager:us-east-1:123456789012:secret:ringi-Secret", "arn:aws:kms:us-east-1:123456789012:key/5",
	}, one.Policies[1].Statements[0].Resources)
	v := one.Judge(Request{Action: "dynamodb:Query",
		Resource: "arn:aws:dynamodb:us-east-1:123456789012:table/ringi-Table/index/GSI1"})
	expect.That(t, v.Allowed, "a managed policy allows nothing")
}

// A stack that ignored a part of the rights would allow too much or too little.
func TestRightsThatAreNotReadAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"a role that SAM makes": {"Properties: { Role: !GetAtt OneRole.Arn }", "Properties: {}", "no role of this template"},
		"a policy template": {"Role: !GetAtt OneRole.Arn }",
			"Role: !GetAtt OneRole.Arn, Policies: [{ SQSPollerPolicy: {} }] }", "rights by Policies"},
		"a boundary": {"Role: !GetAtt OneRole.Arn }", "Role: !GetAtt OneRole.Arn, PermissionsBoundary: x }",
			"rights by PermissionsBoundary"},
		"a connector": {"  OneFunction:\n", "  OneFunction:\n    Connectors: { A: {} }\n", "rights by"},
		"a connector by itself": {"  OneFunction:\n", "  C: { Type: \"AWS::Serverless::Connector\" }\n  OneFunction:\n",
			"AWS::Serverless::Connector"},
		"a policy of its own": {"  OneFunction:\n", "  P: { Type: \"AWS::IAM::Policy\" }\n  OneFunction:\n",
			"AWS::IAM::Policy"},
		"a policy of AWS's": {"[!Ref ReadRows]", "[\"arn:aws:iam::aws:policy/ReadOnlyAccess\"]", "is not in the template"},
		"a boundary of the role": {"AssumeRolePolicyDocument: {}", "PermissionsBoundary: x",
			"PermissionsBoundary is not known"},
		"a condition key": {"Resource: [!Ref Secret",
			"Condition: { StringEquals: { \"aws:SourceIp\": x } }, Resource: [!Ref Secret", "condition key is not known"},
	} {
		_, err := rolesOf(t, nil, tt.old, tt.new)
		expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "%s: %v", name, err)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	function := func(properties string) string {
		return "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {" + properties + "}\n"
	}
	machine := "Resources: {P: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: "
	for want, text := range map[string]string{
		`no parameter "X"`: "{}",
		"none of [a b]":    "Parameters: {X: {Type: String, AllowedValues: [a, b]}}",
		"S has no default": "Parameters: {S: {Type: String}, X: {Type: String}}",
		`F: Timeout: line 5: !Ref: "Nobody" is no parameter`: function("Timeout: !Ref Nobody"),
		"!Cidr: not known":        function("Timeout: !Cidr [a, 1, 2]"),
		`"Nobody" is no resource`: function(`Description: !Sub "${Nobody.Arn}"`),
		"rate(…) schedules only":  function("Events: {T: {Type: Schedule, Properties: {Schedule: 'cron(0 1 * * ? *)'}}}"),
		"DefinitionUri":           machine + "nowhere.json}}}",
		"lacks RelayFunctionArn":  machine + "pipeline.asl.json}}}",
		"filters streams, and no queues": function(
			"Events: {Q: {Type: SQS, Properties: {FilterCriteria: {Filters: [{Pattern: '{}'}]}}}}"),
		`no condition "A"`: "Resources: {B: {Type: AWS::S3::Bucket, Condition: A}}",
		`"Nobody" is no parameter`: "Conditions: {A: !Not [!Equals [!Ref Nobody, 1]]}\n" +
			"Resources: {B: {Type: AWS::S3::Bucket, Condition: A}}",
		"has all events on":           function("Events: {Q: {Type: SQS, Properties: {Enabled: false}}}"),
		"the short forms":             function("Timeout: {Ref: Seconds}"),
		"takes a text":                function("Timeout: !Sub [a, {b: c}]"),
		`no events of type "Kinesis"`: function("Events: {K: {Type: Kinesis}}"),
	} {
		if !strings.Contains(text, "Parameters") && text != "{}" {
			text = "Parameters: {X: {Type: String}}\n" + text
		}
		_, err := parse([]byte(text), "testdata", Names{}, map[string]string{"X": "1"})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "got %v, want %q in it", err, want)
	}
}
