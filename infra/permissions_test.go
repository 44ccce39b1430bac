package infra_test

import (
	"maps"
	"slices"
	"strings"

	"ringi/infra/local/template"
)

const (
	rows   = "table/ringi-Table"
	bucket = "ringi-resultsbucket/"
	sealed = "key/ringi-CredentialsKey"

	onTasks = "DraftPrompt ExecuteProcess ExtractTask GiveUp PlanProcess ReceiveEvent ReceiveInteraction RelayChanges " +
		"RequestApproval ResumeTask ServeConsole SweepTasks UpdateCard"
	onSessions = "AnswerMessage CallTool FetchSource GiveUp ReceiveEvent ReceiveInteraction RelayChanges RunAction " +
		"ServeConsole SweepTasks UpdateCard"
	onContests = "HoldContest RelayChanges RunRound SweepTasks UpdateCard"
	onCalls    = "CallTool GiveUp ReceiveInteraction RelayChanges ServeConsole ServeGate SweepTasks UpdateCard"
	drawing    = "ExecuteProcess ReceiveInteraction ServeConsole UpdateCard"
)

// rights says who may do what, and nobody else: functions and state machines. A right that is missing shows in the
// local stack, which judges each call by the same roles; one too many shows only here.
var rights = []struct {
	action, on string
	with       string // the row's partition key, and attributes; or whose credential it is
	who        string
}{
	// Rows that decide what may be done, and whose they are.
	{"dynamodb:PutItem", rows, "TENANT#t", "ResumeTask ServeConsole"},
	{"dynamodb:UpdateItem", rows, "TENANT#t allowed", "ResumeTask ServeConsole"},
	{"dynamodb:UpdateItem", rows, "TENANT#t changed_at updated_at",
		"CallTool ExecuteProcess ResumeTask RunRound ServeConsole ServeGate"},
	{"dynamodb:UpdateItem", rows, "TENANT#t agent_id environment_id", "ExecuteProcess ResumeTask ServeConsole"},
	{"dynamodb:PutItem", rows, "INTEGRATIONS#t", "CallTool ExecuteProcess ReceiveEvent RunRound ServeConsole ServeGate"},
	{"dynamodb:UpdateItem", rows, "INTEGRATIONS#t", "ServeConsole"},
	{"dynamodb:PutItem", rows, "KEY#k", "ReceiveEvent ServeConsole"},
	{"dynamodb:UpdateItem", rows, "KEY#k hash", "ReceiveEvent ServeConsole"},
	{"dynamodb:UpdateItem", rows, "KEY#k last_used_at revoked_at revoked_by", "ReceiveEvent ServeConsole ServeGate"},
	{"dynamodb:PutItem", rows, "DELEGATE#t", "ServeConsole"},
	{"dynamodb:ConditionCheckItem", rows, "DELEGATE#t", "ReceiveInteraction ServeConsole"},
	{"dynamodb:PutItem", rows, "NUMBER#t", "CallTool ExecuteProcess ServeGate"},
	{"dynamodb:UpdateItem", rows, "NUMBER#t", ""},
	{"dynamodb:PutItem", rows, "WEB#x", "ServeConsole"},
	{"dynamodb:PutItem", rows, "REMIND#t", "ReceiveEvent SweepTasks"},
	{"dynamodb:PutItem", rows, "TASK#t", onTasks},
	{"dynamodb:UpdateItem", rows, "TASK#t", onTasks},
	{"dynamodb:PutItem", rows, "SESSION#t", onSessions},
	{"dynamodb:UpdateItem", rows, "ACTIONS#t", onSessions},
	{"dynamodb:PutItem", rows, "TEAM#t", onContests},
	{"dynamodb:UpdateItem", rows, "CALL#t", onCalls},
	{"dynamodb:PutItem", rows, "OTHER#t", ""},
	{"dynamodb:UpdateItem", rows, "OTHER#t", ""},
	{"dynamodb:BatchWriteItem", rows, "LOG#t", "RunAction"},
	{"dynamodb:BatchWriteItem", rows, "TASK#t", ""},
	{"dynamodb:DeleteItem", rows, "TASK#t", "RelayChanges RequestApproval SweepTasks"},
	{"dynamodb:DeleteItem", rows, "SESSION#t", onSessions},
	{"dynamodb:DeleteItem", rows, "MESSAGES#t", "SweepTasks"},
	{"dynamodb:DeleteItem", rows, "LOG#t", "SweepTasks"},
	{"dynamodb:DeleteItem", rows, "CALL#t", "SweepTasks"},
	{"dynamodb:DeleteItem", rows, "WEB#x", "ServeConsole"},
	{"dynamodb:DeleteItem", rows, "KEY#k", ""},
	{"dynamodb:DeleteItem", rows, "OTHER#t", ""},
	// The audit log is only added to, with the change that an entry records; one function seals it.
	{"dynamodb:UpdateItem", rows, "AUDIT#t", ""},
	{"dynamodb:DeleteItem", rows, "AUDIT#t", ""},
	{"dynamodb:BatchWriteItem", rows, "AUDIT#t", ""},
	{"dynamodb:PutItem", rows, "CHAIN#t", "SealAudit"},
	{"dynamodb:UpdateItem", rows, "CHAIN#t", "SealAudit"},
	{"dynamodb:DeleteItem", rows, "CHAIN#t", ""},
	{"kms:Sign", "key/ringi-ChainKey", "", "SealAudit"},
	{"s3:PutObject", "ringi-headsbucket/heads/1", "", "SealAudit"},
	// What is read by others than those who commit.
	{"dynamodb:Query", rows + "/index/GSI1", "DUE#0", "SweepTasks"},
	{"dynamodb:Query", rows + "/index/GSI1", "TENANT#t#PENDING", "RelayChanges ServeConsole SweepTasks UpdateCard"},
	{"dynamodb:Query", rows + "/index/GSI2", "AUDIT#t", "ServeConsole"},
	{"dynamodb:Query", rows + "/index/GSI3", "TENANT#t#BY#u", "ServeConsole UpdateCard"},
	{"dynamodb:BatchGetItem", rows, "TASK#t", "ServeConsole SweepTasks UpdateCard"},
	{"dynamodb:BatchGetItem", rows, "TENANT#t", ""},
	{"dynamodb:GetRecords", rows + "/stream/1", "", "RelayChanges SealAudit"},
	// Cards show no result, only the console what models were sent, and nobody deletes what people approved.
	{"s3:GetObject", bucket + "results/1", "", "ExecuteProcess ServeConsole"},
	{"s3:GetObject", bucket + "prompts/1", "", "ServeConsole"},
	{"s3:GetObject", bucket + "arguments/1", "", "AnswerMessage CallTool RunAction " + drawing},
	{"s3:GetObject", bucket + "talks/1", "", "AnswerMessage ServeGate " + drawing},
	{"s3:GetObject", bucket + "files/1", "", "DraftPrompt ExtractTask PlanProcess " + drawing},
	{"s3:GetObject", bucket + "attached/1", "", drawing},
	{"s3:GetObject", bucket + "workspaces/versions/1", "", "AnswerMessage RunAction " + drawing},
	{"s3:GetObject", bucket + "contests/1", "", "DraftPrompt HoldContest RunRound " + drawing},
	{"s3:GetObject", "contests/files/1", "", "DraftPrompt"},
	{"s3:PutObject", bucket + "results/1", "", "ExecuteProcess"},
	{"s3:PutObject", bucket + "prompts/1", "",
		"AnswerMessage DraftPrompt ExecuteProcess ExtractTask PlanProcess RunRound"},
	{"s3:PutObject", bucket + "arguments/1", "", "AnswerMessage ExecuteProcess ReceiveInteraction ServeConsole"},
	{"s3:PutObject", bucket + "talks/1", "", "AnswerMessage CallTool ExecuteProcess"},
	{"s3:PutObject", bucket + "attached/1", "", "ExecuteProcess ExtractTask"},
	{"s3:PutObject", bucket + "workspaces/versions/1", "", "ExecuteProcess FetchSource RunAction"},
	{"s3:PutObject", bucket + "other/1", "", "ExecuteProcess"},
	{"s3:ListBucketVersions", "ringi-resultsbucket", "", "SweepTasks"},
	{"s3:DeleteObject", bucket + "results/1", "", "SweepTasks"},
	{"s3:DeleteObject", bucket + "arguments/1", "", ""},
	{"s3:DeleteObject", bucket + "attached/1", "", ""},
	{"s3:DeleteObjectVersion", bucket + "talks/1", "", "SweepTasks"},
	{"s3:DeleteObjectVersion", bucket + "prompts/1", "", "SweepTasks"},
	{"s3:DeleteObjectVersion", bucket + "workspaces/versions/1", "", "SweepTasks"},
	{"s3:DeleteObjectVersion", bucket + "arguments/1", "", ""},
	{"s3:DeleteObjectVersion", bucket + "attached/1", "", ""},
	// Who gets a missing object is told so only if they may list.
	{"s3:ListBucket", "ringi-resultsbucket", "", "AnswerMessage CallTool DraftPrompt ExtractTask HoldContest " +
		"PlanProcess RunAction RunRound ServeGate SweepTasks " + drawing},
	{"s3:ListBucket", "contests", "", "DraftPrompt"},
	// Credentials are opened by tenant and provider. Nobody approved what members of a contest read.
	{"kms:Decrypt", sealed, "", ""},
	{"kms:Decrypt", sealed, "freee", "CallTool ExecuteProcess ServeConsole ServeGate"},
	{"kms:Decrypt", sealed, "github", "CallTool ExecuteProcess FetchSource ServeConsole"},
	{"kms:Decrypt", sealed, "mcp:x", "CallTool ExecuteProcess RunRound ServeConsole ServeGate"},
	{"kms:Decrypt", sealed, "slack", "AnswerMessage CallTool ExecuteProcess ExtractTask ReceiveInteraction ResumeTask " +
		"ServeConsole ServeGate UpdateCard"},
	{"kms:GenerateDataKey", sealed, "", ""},
	{"kms:GenerateDataKey", sealed, "slack", "CallTool ExecuteProcess ServeConsole"},
	{"kms:GenerateDataKey", sealed, "mcp:x", "CallTool ExecuteProcess RunRound ServeConsole ServeGate"},
	{"secretsmanager:GetSecretValue", "secret:ringi-SlackSecret", "", "AnswerMessage CallTool ExecuteProcess " +
		"ExtractTask ReceiveEvent ReceiveInteraction ResumeTask ServeConsole ServeGate UpdateCard"},
	{"secretsmanager:GetSecretValue", "secret:ringi-ModelSecret", "",
		"AnswerMessage DraftPrompt ExecuteProcess ExtractTask PlanProcess RunRound"},
	// Calls, runs and messages.
	{"lambda:InvokeFunction", "function:RunSandboxFunction", "", "RunAction RunRound"},
	{"lambda:InvokeFunction", "function:ReadFileFunction", "", "AnswerMessage ExtractTask"},
	{"lambda:InvokeFunction", "function:HoldContestFunction", "", "Contest"},
	{"lambda:InvokeFunction", "function:ExecuteProcessFunction", "", "Pipeline"},
	{"lambda:InvokeFunction", "function:CallToolFunction", "", "Chat"},
	{"lambda:InvokeFunction", "function:ServeConsoleFunction", "", ""},
	{"states:StartExecution", "stateMachine:ringi-Pipeline", "", "RelayChanges SweepTasks"},
	{"states:StartExecution", "stateMachine:ringi-Chat", "", "RelayChanges SweepTasks"},
	{"states:DescribeExecution", "execution:ringi-Contest:1", "", "RelayChanges SweepTasks"},
	{"states:SendTaskSuccess", "stateMachine:ringi-Pipeline", "", "RelayChanges RequestApproval SweepTasks"},
	{"sqs:SendMessage", "ringi-CardQueue.fifo", "", "ReceiveEvent RelayChanges SweepTasks"},
	{"sqs:SendMessage", "ringi-ChangeDeadLetters", "", "RelayChanges SealAudit"},
	{"sqs:SendMessage", "ringi-CardDeadLetters.fifo", "", ""},
	{"sqs:DeleteMessage", "ringi-CardQueue.fifo", "", "UpdateCard"},
}

// harmless are the actions beside them.
var harmless = []string{
	"bedrock:InvokeModel", "dynamodb:DescribeStream", "dynamodb:GetItem", "dynamodb:GetShardIterator",
	"dynamodb:ListStreams", "logs:CreateLogStream", "logs:PutLogEvents", "sqs:ChangeMessageVisibility",
	"sqs:GetQueueAttributes", "sqs:ReceiveMessage",
}

// may reports whether a role allows a request, in a transaction if it is about a row.
func may(role template.Role, action, on, with string) bool {
	service, _, _ := strings.Cut(action, ":")
	arn := "arn:aws:" + service + ":us-east-1:123456789012:" + on
	if service == "s3" {
		arn = "arn:aws:s3:::" + on
	}
	key, attributes, _ := strings.Cut(with, " ")
	context := map[string][]string{"dynamodb:EnclosingOperation": {"TransactWriteItems"},
		"dynamodb:LeadingKeys": {key}, "dynamodb:Attributes": strings.Fields("PK SK rev " + attributes),
		"kms:SigningAlgorithm": {"ECDSA_SHA_256"}}
	if service == "kms" && with != "" {
		context["kms:EncryptionContext:tenant_id"] = []string{"t"}
		context["kms:EncryptionContext:provider"] = []string{with}
	}
	return role.Judge(template.Request{Action: action, Resource: arn, Context: context}).Allowed
}

// rightRule: everybody has the rights of the table, and nobody others or on what is somebody else's.
func rightRule(s *stack, wrong report) {
	known := slices.Clone(harmless)
	for _, r := range rights {
		known = append(known, r.action)
		var have []string
		for id, role := range s.roles {
			if may(role, r.action, r.on, r.with) {
				have = append(have, strings.TrimSuffix(id, "Function"))
			}
		}
		want := slices.Sorted(slices.Values(strings.Fields(r.who)))
		slices.Sort(have)
		wrong.where(!slices.Equal(have, want), "%s on %s %q is for %v, and %v have it", r.action, r.on, r.with, want, have)
	}
	for _, id := range slices.Sorted(maps.Keys(s.functions)) {
		for _, p := range s.roles[id].Policies {
			for _, st := range p.Statements {
				for _, action := range st.Actions {
					wrong.where(!st.Deny && !slices.Contains(known, action), "%s may do %s, of which nothing is known", id, action)
					wrong.where(may(s.roles[id], action, "elsewhere", "TASK#t"), "%s may do %s on what is somebody else's", id, action)
				}
			}
		}
	}
}

// auditRule: an entry of the audit log is put together with the change that it records, never alone, and never changed.
func auditRule(s *stack, wrong report) {
	for id := range s.functions {
		q := template.Request{Action: "dynamodb:PutItem", Resource: "arn:aws:dynamodb:us-east-1:123456789012:" + rows,
			Context: map[string][]string{"dynamodb:LeadingKeys": {"AUDIT#t"}}}
		wrong.where(s.roles[id].Judge(q).Allowed, "%s may put entries into the audit log that no change comes with", id)
		for _, action := range []string{"UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert", "PartiQLUpdate",
			"PartiQLDelete"} {
			q.Action = "dynamodb:" + action
			v := s.roles[id].Judge(q)
			wrong.where(v.Allowed || v.By == "" && id != readerFunction, "nothing keeps %s from %s in the audit log", id, action)
		}
	}
}

// aloneRule: two functions meet what strangers wrote, code that runs and files that are read. They have no right but to
// write the log, and are told nothing.
func aloneRule(s *stack, wrong report) {
	for id, own := range map[string]string{sandboxFunction: "ec2:", readerFunction: "logs:"} {
		for _, p := range s.roles[id].Policies {
			for _, st := range p.Statements {
				for _, action := range st.Actions {
					wrong.where(!st.Deny && !strings.HasPrefix(action, own), "the code of %s may do %s", id, action)
				}
			}
		}
		for name, v := range object(at(s.resources[id].Properties, "Environment", "Variables")) {
			wrong.where(v != "", "%s: its code would read %s", id, name)
		}
	}
	// Lambda makes the network interfaces; calls of the function's own code carry the key.
	interfaces := template.Request{Action: "ec2:DescribeSubnets", Resource: "*",
		Context: map[string][]string{"lambda:SourceFunctionArn": {"its own"}}}
	wrong.where(s.roles[sandboxFunction].Judge(interfaces).Allowed, "commands may use the rights of %s", sandboxFunction)
	checkSandbox(s, wrong)
}
