package infra_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// statement is a statement of a role, with lists where the template may have a single value.
type statement struct {
	effect     string
	actions    []string
	resources  []string
	rows       []string // the partition keys that it is limited to; nil is all
	conditions map[string]any
}

// statements returns all statements of a role: its own, those of its managed policies, and of policies that name it.
func (s *stack) statements(role string) []statement {
	if all, known := s.said[role]; known {
		return all
	}
	documents := []any{}
	for _, p := range list(s.resources[role].Properties["Policies"]) {
		documents = append(documents, at(p, "PolicyDocument"))
	}
	for _, id := range s.of("AWS::IAM::ManagedPolicy") {
		named := func(refs any) bool {
			return slices.ContainsFunc(list(refs), func(v any) bool { return target(v) == id || target(v) == role })
		}
		if p := s.resources[id].Properties; named(s.resources[role].Properties["ManagedPolicyArns"]) || named(p["Roles"]) {
			documents = append(documents, p["PolicyDocument"])
		}
	}
	var all []statement
	for _, d := range documents {
		for _, v := range list(at(d, "Statement")) {
			all = append(all, readStatement(v))
		}
	}
	s.said[role] = all
	return all
}

func readStatement(v any) statement {
	st := statement{effect: text(at(v, "Effect")), conditions: object(at(v, "Condition"))}
	for _, a := range list(at(v, "Action")) {
		st.actions = append(st.actions, text(a))
	}
	for _, r := range list(at(v, "Resource")) {
		st.resources = append(st.resources, target(r))
	}
	for _, by := range []string{"ForAllValues:StringLike", "ForAnyValue:StringLike"} {
		for _, key := range list(at(st.conditions, by, "dynamodb:LeadingKeys")) {
			st.rows = append(st.rows, text(key))
		}
	}
	return st
}

func (s *stack) role(function string) string {
	id, _, _ := strings.Cut(target(s.resources[function].Properties["Role"]), ".")
	return id
}

func (s *stack) allows(role, action string) bool { return s.allowsOn(role, action, "") }

// allowsOn is like allows, for one resource unless that is empty.
func (s *stack) allowsOn(role, action, resource string) bool {
	return slices.ContainsFunc(s.statements(role), func(st statement) bool {
		return st.effect == "Allow" && slices.Contains(st.actions, action) &&
			(resource == "" || slices.Contains(st.resources, resource))
	})
}

// allowsIn is like allowsOn, for a resource or a part of it, such as a bucket's objects.
func (s *stack) allowsIn(role, action, resource string) bool {
	return slices.ContainsFunc(s.statements(role), func(st statement) bool {
		return st.effect == "Allow" && slices.Contains(st.actions, action) &&
			slices.ContainsFunc(st.resources, func(r string) bool {
				return resource == "" || r == resource || strings.HasPrefix(r, resource+"/")
			})
	})
}

// needs says which variables go with which rights.
var needs = []struct {
	variable string
	actions  []string // any of them
	on       string   // the resource, or "" for any
}{
	{"TABLE_NAME", []string{"dynamodb:PutItem", "dynamodb:GetItem"}, ""},
	{"SLACK_SECRET_ID", []string{"secretsmanager:GetSecretValue"}, "SlackSecret"},
	{"MODEL_SECRET_ID", []string{"secretsmanager:GetSecretValue"}, "ModelSecret"},
	{"BEDROCK_BASE_URL", []string{"bedrock:InvokeModel"}, ""},
	{"STATE_MACHINE_ARN", []string{"states:StartExecution"}, "Pipeline"},
	{"CHAT_ARN", []string{"states:StartExecution"}, "Chat"},
	{"CONTEST_ARN", []string{"states:StartExecution"}, "Contest"},
	{"CARD_QUEUE_URL", []string{"sqs:SendMessage", "sqs:ChangeMessageVisibility"}, "CardQueue.Arn"},
	{"RESULTS_BUCKET", []string{"s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"},
		"ResultsBucket.Arn"},
	{"HEADS_BUCKET", []string{"s3:PutObject"}, "HeadsBucket.Arn"},
	{"CHAIN_KEY_ID", []string{"kms:Sign"}, "ChainKey.Arn"},
	{"CREDENTIALS_KEY_ID", []string{"kms:Decrypt", "kms:GenerateDataKey"}, ""},
	{"READ_FILE_FUNCTION", []string{"lambda:InvokeFunction"}, "ReadFileFunction.Arn"},
	{"HOLD_CONTEST_FUNCTION", []string{"lambda:InvokeFunction"}, "HoldContestFunction.Arn"},
}

// permissionRules are about who may do what.
func permissionRules() []rule {
	return []rule{ownRoleRule, actionRule, auditRule, rowRule, noteRule, objectRule, forgetRule, needRule,
		encryptionContextRule, pipelineCallRule, kindRule, commitRule, sealRule, sandboxRule, readerRule}
}

const readerFunction = "ReadFileFunction"

// readerRule: this function reads what strangers wrote. It may write its log, is told nothing, and is called by the
// functions that fetch files.
func readerRule(s *stack, wrong report) {
	f := s.resources[readerFunction].Properties
	for _, st := range s.statements(s.role(readerFunction)) {
		for _, a := range st.actions {
			may := st.effect == "Deny" || slices.Contains([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, a)
			wrong.where(!may, "%s may do %s: whoever attaches a file could", readerFunction, a)
		}
	}
	for name, v := range s.functions[readerFunction].Environment {
		wrong.where(v != "", "%s: its code would read %s", readerFunction, name)
	}
	wrong.where(f["Tracing"] != "PassThrough", "%s: traces need a right", readerFunction)
	for id := range s.functions {
		wrong.where(id != "AnswerMessageFunction" && id != "ExtractTaskFunction" &&
			s.allowsOn(s.role(id), "lambda:InvokeFunction", readerFunction+".Arn"),
			"%s calls %s", id, readerFunction)
	}
}

func ownRoleRule(s *stack, wrong report) {
	owners := map[string]string{}
	for id := range s.functions {
		role := s.role(id)
		wrong.where(s.resources[role].Type != "AWS::IAM::Role",
			"%s has no Role: SAM would attach policies that reach the whole account", id)
		if other := owners[role]; other != "" {
			wrong("%s and %s share %s", id, other, role)
		}
		owners[role] = id
		wrong.where(s.resources[id].Properties["Policies"] != nil,
			"%s: beside a Role, Policies are ignored without a word", id)
	}
}

func actionRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::IAM::Role") {
		for _, st := range s.statements(id) {
			if st.effect == "Deny" || id == sandboxRole {
				continue // sandboxRule checks the sandbox's rights
			}
			for _, a := range st.actions {
				anywhere := strings.HasPrefix(a, "xray:") || strings.HasPrefix(a, "logs:") && strings.Contains(a, "Deliver") ||
					slices.Contains([]string{"logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups"}, a)
				wrong.where(slices.Contains(st.resources, "*") && !anywhere, "%s: %s on every resource of the account", id, a)
				wrong.where(strings.Contains(a, "*"), "%s: %s says more than is meant", id, a)
			}
		}
		for _, p := range list(s.resources[id].Properties["ManagedPolicyArns"]) {
			wrong.where(s.resources[target(p)].Type != "AWS::IAM::ManagedPolicy",
				"%s carries %s, a policy of somebody else", id, target(p))
		}
	}
}

func auditRule(s *stack, wrong report) {
	for id := range s.functions {
		if id == readerFunction { // readerRule says that it has no right to the table
			continue
		}
		for _, action := range rewriting {
			wrong.where(!s.deniesAudit(id, action, 1), "%s may rewrite the audit log by %s", id, action)
		}
		wrong.where(!s.deniesAudit(id, "dynamodb:PutItem", 2),
			"%s may put entries into the audit log that no change comes with", id)
	}
}

func needRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, n := range needs {
			_, told := f.Environment[n.variable]
			told = told && id != readerFunction // it is told nothing
			may := slices.ContainsFunc(n.actions, func(a string) bool { return s.allowsIn(s.role(id), a, n.on) })
			wrong.where(told && !may, "%s is told %s but may do none of %v", id, n.variable, n.actions)
			wrong.where(may && !told, "%s may do %v but is not told %s", id, n.actions, n.variable)
		}
	}
}

func encryptionContextRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::IAM::Role") {
		for _, st := range s.statements(id) {
			context := object(st.conditions["Null"])
			opens := slices.Contains(st.actions, "kms:Decrypt") || slices.Contains(st.actions, "kms:GenerateDataKey")
			wrong.where(opens && (context["kms:EncryptionContext:tenant_id"] != "false" ||
				context["kms:EncryptionContext:provider"] != "false"),
				"%s may use the key without saying whose credentials they are", id)
			if of := at(st.conditions, "StringLike", "kms:EncryptionContext:provider"); opens && id == "RunRoundRole" &&
				of != tenancy.ServerProvider+"*" {
				wrong("%s may open credentials of %v: nobody approved what members of a contest read", id, of)
			}
		}
	}
}

func pipelineCallRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::Serverless::StateMachine") {
		checkCalls(s, id, wrong)
	}
}

// checkCalls compares the functions that a state machine calls with those that its role may call.
func checkCalls(s *stack, id string, wrong report) {
	machine := s.resources[id].Properties
	role, _, _ := strings.Cut(target(machine["Role"]), ".")
	called := map[string]bool{}
	for name, v := range object(machine["DefinitionSubstitutions"]) {
		if name == "Partition" {
			continue
		}
		called[target(v)] = true
		wrong.where(!strings.HasSuffix(target(v), ".Arn"), "%s calls %s; a worker has no alias", id, target(v))
	}
	for _, st := range s.statements(role) {
		if !slices.Contains(st.actions, "lambda:InvokeFunction") {
			continue
		}
		for _, r := range st.resources {
			wrong.where(!called[r], "%s may call %s, and does not", id, r)
			delete(called, r)
		}
	}
	for r := range called {
		wrong("%s may not call %s", id, r)
	}
}

// rewriting are the actions that change or remove a row. IAM can't tell a PutItem that replaces a row from one that
// adds it.
var rewriting = []string{
	"dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem",
	"dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete",
}

// deniesAudit reports whether a function is denied an action on the audit log: with one condition always, with two
// outside of transactions.
func (s *stack) deniesAudit(id, action string, conditions int) bool {
	return slices.ContainsFunc(s.statements(s.role(id)), func(st statement) bool {
		outside := at(st.conditions, "StringNotEquals", "dynamodb:EnclosingOperation") == "TransactWriteItems"
		return st.effect == "Deny" && slices.Contains(st.actions, action) && slices.Equal(st.rows, []string{"AUDIT#*"}) &&
			st.conditions["ForAnyValue:StringLike"] != nil && len(st.conditions) == conditions && outside == (conditions == 2) &&
			slices.Equal(st.resources, []string{s.table.ID + ".Arn"})
	})
}

// kindOf returns the kind whose aggregates have such keys, "" for none.
func kindOf(row string) string {
	for _, k := range store.Kinds() {
		if row == k.Prefix+"*" || slices.Contains(k.Lists, strings.TrimSuffix(row, "*")) {
			return k.Name
		}
	}
	return ""
}

// ofAllKinds are the functions that serve every kind of aggregates.
var ofAllKinds = []string{"ReceiveEventFunction", "ReceiveInteractionFunction", "ServeConsoleFunction",
	"RelayChangesFunction", "SweepTasksFunction", "UpdateCardFunction"}

// ofCallsToo are the functions of conversations that work on calls of outside agents, too; give-up also on tasks.
var ofCallsToo = []string{"CallToolFunction", "GiveUpFunction"}

// kindRule: relay, sweeper and card updater write the rows of each kind, functions outside of ofAllKinds those of one.
func kindRule(s *stack, wrong report) {
	for id := range s.functions {
		written := map[string]bool{}
		for _, st := range s.statements(s.role(id)) {
			if st.effect != "Allow" || !slices.Contains(st.actions, "dynamodb:UpdateItem") {
				continue
			}
			for _, row := range st.rows {
				if kind := kindOf(row); kind == contest.TeamKind.Name {
					written[contest.Kind.Name] = true // teams are a contest's
				} else if kind != "" {
					written[kind] = true
				}
			}
		}
		if slices.Contains(ofCallsToo, id) {
			delete(written, "call")
		}
		if id == "GiveUpFunction" {
			delete(written, "task")
		}
		switch serves := slices.Index(ofAllKinds, id); {
		case serves < 0 && len(written) > 1:
			wrong("%s writes the rows of %d kinds; one is its own", id, len(written))
		case serves > 2 && len(written) < len(store.Kinds())-1:
			wrong("%s may not write the rows of every kind", id)
		}
	}
}

// sealRule: only one function writes and signs the audit log's chain, and saved heads can't be changed.
func sealRule(s *stack, wrong report) {
	for id := range s.functions {
		seals := id == "SealAuditFunction"
		for _, st := range s.statements(s.role(id)) {
			if st.effect != "Allow" {
				continue
			}
			wrong.where(!seals && (slices.Contains(st.actions, "kms:Sign") ||
				slices.ContainsFunc(st.rows, func(r string) bool { return strings.HasPrefix(r, "CHAIN#") })),
				"%s may forge the chain of the audit log", id)
			for _, a := range st.actions {
				onHeads := slices.ContainsFunc(st.resources, func(r string) bool { return strings.HasPrefix(r, "HeadsBucket") })
				wrong.where(onHeads && (!seals || a != "s3:PutObject"), "%s: %s on the heads that are put away", id, a)
			}
		}
	}
	for _, id := range s.of("AWS::S3::Bucket") {
		p := s.resources[id].Properties
		wrong.where(id == "HeadsBucket" && (p["ObjectLockEnabled"] != "true" ||
			at(p, "ObjectLockConfiguration", "Rule", "DefaultRetention", "Mode") == nil), "%s locks nothing", id)
	}
}

// committed returns the partition keys of rows that commits to aggregates of some kinds put or update: their own, their
// lists', the counters' and the audit log's. A command's output lines are put without a commit.
func committed(of ...aggregate.Kind) (rows []string) {
	for _, k := range of {
		rows = append(rows, k.Prefix+"*")
		for _, list := range k.Lists {
			if list != conversation.LogList {
				rows = append(rows, list+"*")
			}
		}
	}
	return append(rows, "QUOTA#*", "AUDIT#*")
}

// commitRule: a function that moves the head of an aggregate may write every row that any decision on it writes, even
// if the function rarely makes that decision.
func commitRule(s *stack, wrong report) {
	for id := range s.functions {
		role := s.role(id)
		for _, k := range store.Kinds() {
			if !s.allowsRow(role, "dynamodb:UpdateItem", k.Prefix+"*") {
				continue
			}
			needs := map[string][]string{"dynamodb:PutItem": committed(k), "dynamodb:UpdateItem": committed(k)}
			if k.Name == conversation.Kind.Name { // commits delete old messages and actions, and check settings
				needs["dynamodb:DeleteItem"], needs["dynamodb:ConditionCheckItem"] = []string{k.Prefix + "*"}, []string{"TENANT#*"}
			}
			if k.Name == task.Kind.Name { // commits check these rows: the task's, settings and tools
				needs["dynamodb:ConditionCheckItem"] = []string{k.Prefix + "*", "TENANT#*"}
			}
			for action, rows := range needs {
				for _, row := range rows {
					wrong.where(!s.allowsRow(role, action, row),
						"%s decides on a %s and may not %s on %s, which a decision may write or rely on", id, k.Name, action, row)
				}
			}
		}
	}
}

// allowsRow reports whether a role's statements allow an action on the rows with such partition keys.
func (s *stack) allowsRow(role, action, row string) bool {
	return slices.ContainsFunc(s.statements(role), func(st statement) bool {
		return st.effect == "Allow" && slices.Contains(st.actions, action) &&
			slices.Contains(st.resources, s.table.ID+".Arn") &&
			(slices.Contains(st.rows, row) || st.conditions["ForAllValues:StringLike"] == nil)
	})
}
