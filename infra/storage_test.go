package infra_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/store/large"
)

// storageRules are about data that must survive a mistaken update, a deleted stack or a lost message.
func storageRules() []rule {
	return []rule{keptRule, tableRule, bucketRule, forgettingRule, homeRule, deadLetterRule, secretAndLogRule}
}

func keptRule(s *stack, wrong report) {
	stateful := []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key", "AWS::SecretsManager::Secret"}
	for _, kind := range stateful {
		for _, id := range s.of(kind) {
			keep := "RetainExceptOnCreate" // deletes what a failed first deployment made
			if kind == "AWS::DynamoDB::Table" {
				keep = "Retain" // its deletion protection would make that deletion fail
			}
			if r := s.resources[id]; r.DeletionPolicy != keep || r.UpdateReplacePolicy != "Retain" {
				wrong("%s holds what cannot be made again: DeletionPolicy must be %s, UpdateReplacePolicy Retain", id, keep)
			}
		}
	}
}

func tableRule(s *stack, wrong report) {
	p := s.resources[s.table.ID].Properties
	for _, path := range [][]string{
		{"DeletionProtectionEnabled"}, {"PointInTimeRecoverySpecification",
			"PointInTimeRecoveryEnabled"}, {"SSESpecification", "SSEEnabled"},
	} {
		wrong.where(at(p, path...) != "true", "%s: %s must be true", s.table.ID, strings.Join(path, "."))
	}
	wrong.where(p["TableName"] != nil,
		"%s: with a TableName of its own a replacement would collide with what it replaces", s.table.ID)
	wrong.where(s.table.Expiry != "delete_after",
		"%s: the TTL attribute is %q, not delete_after", s.table.ID, s.table.Expiry)
}

func bucketRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::S3::Bucket") {
		p := s.resources[id].Properties
		for _, name := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
			wrong.where(at(p, "PublicAccessBlockConfiguration", name) != "true",
				"%s: PublicAccessBlockConfiguration.%s must be true", id, name)
		}
		wrong.where(p["BucketEncryption"] == nil || p["LifecycleConfiguration"] == nil,
			"%s: BucketEncryption and LifecycleConfiguration are wanted", id)
		wrong.where(!s.refusesPlainHTTP(id), "%s: no bucket policy refuses plain http", id)
	}
}

func deadLetterRule(s *stack, wrong report) {
	for _, q := range s.queues {
		if q.DeadLetters == "" {
			continue
		}
		dead, ok := s.queues[q.DeadLetters]
		switch {
		case !ok:
			wrong("%s: its dead letters go nowhere", q.ID)
		case dead.FIFO() != q.FIFO():
			wrong("%s and its dead letters' %s must both be FIFO, or neither", q.ID, dead.ID)
		case number(dead.Attributes["MessageRetentionPeriod"]) <= number(q.Attributes["MessageRetentionPeriod"]):
			wrong("%s must keep messages longer than %s, whose age they bring along", dead.ID, q.ID)
		}
	}
}

func secretAndLogRule(s *stack, wrong report) {
	wrong.where(strings.Contains(s.text, "{{resolve:"),
		"a dynamic reference ({{resolve:…}}) would put a secret into a resource's readable configuration")
	for _, id := range s.of("AWS::Logs::LogGroup") {
		wrong.where(s.resources[id].Properties["RetentionInDays"] == nil, "%s keeps logs for ever", id)
	}
}

func (s *stack) refusesPlainHTTP(bucket string) bool {
	for _, id := range s.of("AWS::S3::BucketPolicy") {
		p := s.resources[id].Properties
		if target(p["Bucket"]) != bucket {
			continue
		}
		for _, st := range list(at(p, "PolicyDocument", "Statement")) {
			if at(st, "Effect") == "Deny" && at(st, "Principal") == "*" &&
				at(st, "Condition", "Bool", "aws:SecureTransport") == "false" && len(list(at(st, "Resource"))) == 2 {
				return true
			}
		}
	}
	return false
}

// objectRule checks who reads the bucket and deletes from it. Without the right to list the bucket, a missing object
// gives 403 AccessDenied instead of 404 NoSuchKey (API reference, GetObject, "Permissions"). What waits for a person
// may also be a conversation's payload, whose key doesn't begin with arguments/.
func objectRule(s *stack, wrong report) {
	const bucket, results, prompts, arguments = "ResultsBucket.Arn", "ResultsBucket.Arn/results/*",
		"ResultsBucket.Arn/prompts/*", "ResultsBucket.Arn/arguments/*"
	for id := range s.functions {
		all := s.statements(s.role(id))
		has := func(effect, action, on string) bool {
			return slices.ContainsFunc(all, func(st statement) bool {
				return st.effect == effect && st.conditions == nil && slices.Contains(st.actions, action) &&
					slices.Contains(st.resources, on)
			})
		}
		for _, st := range all {
			for _, on := range st.resources {
				ours := id == "SweepTasksFunction" && on != bucket+"/*" && !strings.HasPrefix(on, bucket+"/arguments/")
				wrong.where(st.effect == "Allow" && slices.Contains(st.actions, "s3:DeleteObjectVersion") &&
					strings.HasPrefix(on, bucket) && !ours, "%s may delete for good what is not its to forget", id)
			}
		}
		if s.allows(s.role(id), "s3:DeleteObject") {
			wrong.where(!has("Deny", "s3:DeleteObject", arguments), "%s may delete arguments that people approved", id)
			wrong.where(!has("Deny", "s3:DeleteObject", bucket+"/attached/*"), "%s may delete files that people approved", id)
			wrong.where(!has("Allow", "s3:ListBucket", bucket) || !has("Allow", "s3:DeleteObject", bucket+"/*"),
				"%s may not find and delete results", id)
		}
		// Contest files are in a bucket outside the stack, which a parameter names.
		elsewhere := func(st statement) bool {
			return st.effect == "Allow" && slices.Contains(st.actions, "s3:ListBucket") && slices.Contains(st.resources, "")
		}
		if _, reads := s.functions[id].Environment["MIXSEEK_WORKSPACE"]; reads && !slices.ContainsFunc(all, elsewhere) {
			wrong("%s reads the files of contests and is not told which are not there", id)
		}
		if slices.Contains([]string{"AnswerMessageFunction", "FetchSourceFunction", "RunActionFunction",
			"CallToolFunction", "RunRoundFunction", "HoldContestFunction", "ExtractTaskFunction",
			"DraftPromptFunction", "PlanProcessFunction", "ServeGateFunction"}, id) {
			chatObjects(s, id, wrong)
			continue
		}
		thinks, keepsResults := s.allowsOn(s.role(id), "secretsmanager:GetSecretValue",
			"ModelSecret"), id == "ExecuteProcessFunction"
		wrong.where(thinks && !has("Allow", "s3:PutObject", prompts), "%s may not keep what models were sent", id)
		stamps := slices.Contains([]string{"ReceiveInteractionFunction", "ServeConsoleFunction"}, id)
		wrong.where(stamps && !has("Allow", "s3:PutObject", arguments), "%s may not keep what people stamp", id)
		wrong.where(!keepsResults && (s.allowsIn(s.role(id), "s3:PutObject", bucket) && !thinks && !stamps ||
			s.allowsOn(s.role(id), "s3:PutObject", bucket+"/*")), "%s may put more than prompts into the bucket", id)
		wrong.where(stamps && s.allowsOn(s.role(id), "s3:PutObject", prompts), "%s may put more than what people stamp", id)
		if !s.allows(s.role(id), "s3:GetObject") {
			continue
		}
		console := id == "ServeConsoleFunction"
		wrong.where(!console && !has("Deny", "s3:GetObject", prompts),
			"%s may get prompts, which the console alone shows", id)
		wrong.where(!has("Allow", "s3:ListBucket", bucket), "%s may get objects and is not told which are gone", id)
		wrong.where(!has("Allow", "s3:GetObject", bucket+"/*"), "%s may not get what waits for a person", id)
		wrong.where(!keepsResults && !console && !has("Deny", "s3:GetObject", results),
			"%s may get results; cards show arguments only", id)
	}
}

// chatObjects: functions for agents may only reach the objects that they need, such as payloads among the arguments;
// only fetch-source and run-action put files of conversations, which answer-message reads; call-tool opens what was
// stamped and puts what it got; only the functions of contests reach objects of contests.
func chatObjects(s *stack, id string, wrong report) {
	const bucket = "ResultsBucket.Arn"
	theirs := map[string][]string{
		"AnswerMessageFunction": {bucket, bucket + "/workspaces/attached/*", bucket + "/talks/*", bucket + "/arguments/*",
			bucket + "/prompts/*",
			bucket + "/workspaces/versions/*"},
		"FetchSourceFunction": {bucket + "/workspaces/versions/*"},
		"RunActionFunction":   {bucket, bucket + "/talks/*", bucket + "/arguments/*", bucket + "/workspaces/*"},
		"CallToolFunction":    {bucket, bucket + "/talks/*", bucket + "/arguments/*"},
		"ServeGateFunction":   {bucket, bucket + "/talks/*"},
		"RunRoundFunction":    {bucket, bucket + "/contests/*", bucket + "/turns/*", bucket + "/prompts/*"},
		"HoldContestFunction": {bucket, bucket + "/contests/*"},
		"DraftPromptFunction": {bucket, bucket + "/contests/*", bucket + "/files/*", bucket + "/prompts/*"},
		"ExtractTaskFunction": {bucket, bucket + "/files/*", bucket + "/attached/*", bucket + "/prompts/*"},
		"PlanProcessFunction": {bucket, bucket + "/files/*", bucket + "/prompts/*"},
	}[id]
	for _, st := range s.statements(s.role(id)) {
		for _, on := range st.resources {
			ours := !slices.Contains(st.actions, "s3:DeleteObject") && slices.Contains(theirs, on) &&
				!(on == bucket+"/prompts/*" && slices.Contains(st.actions, "s3:GetObject")) &&
				!(on == bucket+"/workspaces/versions/*" && id == "AnswerMessageFunction" &&
					slices.Contains(st.actions, "s3:PutObject")) &&
				(id != "CallToolFunction" || on != bucket+"/talks/*" || !slices.Contains(st.actions, "s3:GetObject")) &&
				(id != "CallToolFunction" || on != bucket+"/arguments/*" || !slices.Contains(st.actions, "s3:PutObject"))
			wrong.where(st.effect == "Allow" && strings.HasPrefix(on, bucket) && !ours,
				"%s: %v on %s, which is not its business", id, st.actions, on)
		}
	}
	gets := s.allows(s.role(id), "s3:GetObject")
	wrong.where(id == "FetchSourceFunction" && gets, "%s may get objects; it only puts versions", id)
	wrong.where(gets && !s.allowsOn(s.role(id), "s3:ListBucket", bucket),
		"%s may get objects and is not told which are gone", id)
	wrong.where(id == "RunRoundFunction" && !(s.allowsOn(s.role(id), "s3:PutObject", bucket+"/turns/*") &&
		s.allowsOn(s.role(id), "s3:GetObject", bucket+"/turns/*")),
		"%s may not keep the answers that a round goes on from", id)
}

// forgettingRule: objects that are only needed for a time expire after some days, with their older versions. A model's
// answer outlives its row, which expires after seven.
func forgettingRule(s *stack, wrong report) {
	for prefix, forget := range map[string]struct{ days, what string }{
		"workspaces/downloads/": {"1", "saved files of conversations for more than a day"},
		"turns/":                {"8", "models' answers of contests for more or less than a day beyond their rows"},
	} {
		if !slices.ContainsFunc(list(at(s.resources["ResultsBucket"].Properties, "LifecycleConfiguration", "Rules")),
			func(r any) bool {
				return at(r, "Prefix") == prefix && at(r, "Status") == "Enabled" && at(r, "ExpirationInDays") == forget.days &&
					at(r, "NoncurrentVersionExpiration", "NoncurrentDays") == "1"
			}) {
			wrong("ResultsBucket keeps %s", forget.what)
		}
	}
	wrong.where(!slices.ContainsFunc(list(at(s.resources["HeadsBucket"].Properties, "LifecycleConfiguration", "Rules")),
		func(r any) bool {
			return target(at(r, "ExpirationInDays")) == "HeadRetentionDays"
		}), "HeadsBucket keeps heads beyond their lock")
}

// talkers are the functions that write what is said and done in conversations: those of their state machine.
func (s *stack) talkers() (ids []string) {
	for _, v := range object(s.resources["Chat"].Properties["DefinitionSubstitutions"]) {
		if id, ok := strings.CutSuffix(target(v), ".Arn"); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// outlive says of what conversations' functions may write why it stays when a conversation is forgotten.
var outlive = map[string]string{
	"NUMBER#*":    "numbers of decisions, without gaps",
	"arguments/*": "what was stamped, as long as the audit log",
	"AUDIT#*":     "the audit log has no content",
	"QUOTA#*":     "counters of people and days",
	"CALL#*":      "calls of outside agents, which are of no conversation",
	"TASK#*":      "tasks, which are of none either",

	"INTEGRATIONS#*": "credentials that were renewed",
	"TENANT#*":       "that a server changed its tool",
}

// forgetRule: whatever conversations' functions may write is deleted when the conversation is forgotten, and the
// sweeper may delete it, or it stays for a reason.
func forgetRule(s *stack, wrong report) {
	const bucket, sweeper = "ResultsBucket.Arn/", "SweepTasksFunction"
	erased := append([]string{conversation.Kind.Prefix}, conversation.Kind.Lists...)
	for _, id := range s.talkers() {
		for _, st := range s.statements(s.role(id)) {
			if st.effect != "Allow" {
				continue
			}
			if slices.ContainsFunc([]string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:BatchWriteItem"},
				func(a string) bool { return slices.Contains(st.actions, a) }) {
				for _, row := range st.rows {
					forgotten := slices.Contains(erased, strings.TrimSuffix(row, "*")) &&
						s.allowsRow(s.role(sweeper), "dynamodb:DeleteItem", row)
					wrong.where(!forgotten && outlive[row] == "", "%s may write rows %s, which stay when a conversation "+
						"is forgotten", id, row)
				}
				wrong.where(st.rows == nil, "%s may write any row", id)
			}
			if !slices.Contains(st.actions, "s3:PutObject") {
				continue
			}
			for _, on := range st.resources {
				below, _ := strings.CutPrefix(on, bucket)
				wrong.where(!s.forgets(sweeper, below) && outlive[below] == "",
					"%s may put objects %s, which stay when a conversation is forgotten", id, below)
			}
		}
	}
	for _, prefix := range conversation.Objects {
		wrong.where(!s.forgets(sweeper, prefix+"*"), "%s may not delete %s for good", sweeper, prefix)
	}
	for _, list := range erased {
		wrong.where(!s.allowsRow(s.role(sweeper), "dynamodb:DeleteItem", list+"*"),
			"%s may not delete rows %s", sweeper, list)
	}
}

// goes says how the bucket's objects below each prefix go away. Whoever forgets a tenant's results or a conversation
// looks below these, so an object elsewhere would stay for ever.
var goes = map[string]string{
	large.ResultsPrefix: "sweep-tasks, and so do the next two", large.FilesPrefix: "", conversation.PromptsPrefix: "",
	conversation.StampedPrefix: "stays as long as the audit log", "contests/": "with the rows that name them",
	conversation.TalksPrefix: "with their conversation", "workspaces/": "with their conversation, or by the bucket",
	"turns/":    "the bucket, by forgettingRule",
	"attached/": "stays as long as the audit log",
}

// homeRule: whatever functions may put into the bucket lies below a known prefix. Only execute-process, which stores
// under the kinds' own prefixes, may put anywhere.
func homeRule(s *stack, wrong report) {
	for id := range s.functions {
		for _, st := range s.statements(s.role(id)) {
			for _, on := range st.resources {
				below, ours := strings.CutPrefix(on, "ResultsBucket.Arn/")
				prefix, _, _ := strings.Cut(below, "/")
				_, known := goes[prefix+"/"]
				wrong.where(ours && st.effect == "Allow" && slices.Contains(st.actions, "s3:PutObject") && !known &&
					(below != "*" || id != "ExecuteProcessFunction"), "%s may put objects %s, which nobody forgets", id, below)
			}
		}
	}
}

// forgets reports whether everything below a pattern of keys is deleted with its conversation, and the function may do
// so.
func (s *stack) forgets(function, below string) bool {
	prefix := strings.TrimSuffix(below, "*")
	may := slices.ContainsFunc(s.statements(s.role(function)), func(st statement) bool {
		return st.effect == "Allow" && slices.Contains(st.actions, "s3:DeleteObjectVersion") &&
			slices.ContainsFunc(st.resources, func(on string) bool {
				return strings.HasPrefix("ResultsBucket.Arn/"+prefix, strings.TrimSuffix(on, "*"))
			})
	})
	whole := slices.ContainsFunc(conversation.Objects, func(p string) bool { return strings.HasPrefix(prefix, p) }) ||
		prefix == "workspaces/" && slices.Contains(conversation.Objects, conversation.VersionsPrefix) &&
			slices.Contains(conversation.Objects, conversation.AttachedPrefix) &&
			slices.Contains(conversation.Objects, conversation.ActionsPrefix)
	return may && whole
}
