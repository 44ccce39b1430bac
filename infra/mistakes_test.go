package infra_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

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
	{"a parameter that the alias never sees", templateFile, "Timeout: 10\n", "Timeout: !Ref LogRetentionDays\n",
		"Timeout holds the parameter LogRetentionDays"},
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
