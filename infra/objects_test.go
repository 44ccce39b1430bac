package infra_test

import (
	"slices"
	"strings"
)

// objectRule checks who reads the bucket and deletes from it. Without the right to list the bucket, a missing object
// gives 403 AccessDenied instead of 404 NoSuchKey (API reference, GetObject, "Permissions"). What waits for a person
// may also be a conversation's payload, whose key doesn't begin with arguments/.
func objectRule(s *stack, wrong report) {
	const bucket, results, prompts, arguments = "ResultsBucket.Arn", "ResultsBucket.Arn/results/*", "ResultsBucket.Arn/prompts/*", "ResultsBucket.Arn/arguments/*"
	for id := range s.functions {
		all := s.statements(s.role(id))
		has := func(effect, action, on string) bool {
			return slices.ContainsFunc(all, func(st statement) bool {
				return st.effect == effect && st.conditions == nil && slices.Contains(st.actions, action) && slices.Contains(st.resources, on)
			})
		}
		for _, st := range all {
			for _, on := range st.resources {
				ours := id == "SweepTasksFunction" && on != bucket+"/*" && !strings.HasPrefix(on, bucket+"/arguments/") ||
					id == "ExpireResultsFunction" && on == bucket+"/workspaces/versions/*"
				wrong.where(st.effect == "Allow" && slices.Contains(st.actions, "s3:DeleteObjectVersion") &&
					strings.HasPrefix(on, bucket) && !ours, "%s may delete for good what is not its to forget", id)
			}
		}
		if s.allows(s.role(id), "s3:DeleteObject") && !slices.Contains(s.talkers(), id) {
			wrong.where(!has("Deny", "s3:DeleteObject", arguments), "%s may delete arguments that people approved", id)
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
			"CallToolFunction", "RunRoundFunction", "CloseContestFunction", "BeginContestFunction", "ExtractTaskFunction", "DraftPromptFunction", "PlanProcessFunction"}, id) {
			chatObjects(s, id, wrong)
			continue
		}
		exports := id == "ExportAuditFunction" && s.allowsOn(s.role(id), "s3:PutObject", bucket+"/exports/*")
		thinks, keepsResults := s.allowsOn(s.role(id), "secretsmanager:GetSecretValue", "ModelSecret"), id == "ExecuteProcessFunction"
		wrong.where(thinks && !has("Allow", "s3:PutObject", prompts), "%s may not keep what models were sent", id)
		stamps := slices.Contains([]string{"ReceiveInteractionFunction", "ServeConsoleFunction"}, id)
		wrong.where(stamps && !has("Allow", "s3:PutObject", arguments), "%s may not keep what people stamp", id)
		wrong.where(!keepsResults && (s.allowsIn(s.role(id), "s3:PutObject", bucket) && !thinks && !exports && !stamps ||
			s.allowsOn(s.role(id), "s3:PutObject", bucket+"/*")), "%s may put more than prompts into the bucket", id)
		wrong.where(stamps && s.allowsOn(s.role(id), "s3:PutObject", prompts), "%s may put more than what people stamp", id)
		if !s.allows(s.role(id), "s3:GetObject") {
			continue
		}
		console := id == "ServeConsoleFunction"
		wrong.where(!console && !has("Deny", "s3:GetObject", prompts),
			"%s may get prompts, which the console alone shows", id)
		wrong.where(!has("Allow", "s3:ListBucket", bucket), "%s may get objects and is not told which are gone", id)
		wrong.where(!has("Allow", "s3:GetObject", bucket+"/*"),
			"%s may not get what waits for a person", id)
		wrong.where(!keepsResults && !console && !has("Deny", "s3:GetObject", results),
			"%s may get results; cards show arguments only", id)
	}
}

// chatObjects: functions for agents may only reach the objects that they need, such as payloads among the arguments;
// only fetch-source and run-action put files of conversations, which answer-message reads; call-tool opens what was
// stamped and puts what it got; only the functions of contests reach objects of contests.
func chatObjects(s *stack, id string, wrong report) {
	const bucket = "ResultsBucket.Arn"
	// What came too late into a conversation that is forgotten, its writer deletes.
	deletes := map[string][]string{
		"AnswerMessageFunction": {bucket + "/talks/*", bucket + "/prompts/*", bucket + "/workspaces/attached/*"},
		"RunActionFunction":     {bucket + "/workspaces/versions/*"},
		"FetchSourceFunction":   {bucket + "/workspaces/versions/*"},
		"CallToolFunction":      {bucket + "/talks/*"},
	}[id]
	theirs := map[string][]string{
		"AnswerMessageFunction": {bucket, bucket + "/workspaces/attached/*", bucket + "/talks/*", bucket + "/arguments/*",
			bucket + "/prompts/*",
			bucket + "/workspaces/versions/*"},
		"FetchSourceFunction":  {bucket + "/workspaces/versions/*"},
		"RunActionFunction":    {bucket, bucket + "/talks/*", bucket + "/arguments/*", bucket + "/workspaces/*"},
		"CallToolFunction":     {bucket, bucket + "/talks/*", bucket + "/arguments/*"},
		"RunRoundFunction":     {bucket, bucket + "/contests/*", bucket + "/turns/*", bucket + "/prompts/*"},
		"CloseContestFunction": {bucket, bucket + "/contests/*"},
		"BeginContestFunction": {bucket, bucket + "/contests/*"},
		"DraftPromptFunction":  {bucket, bucket + "/contests/*", bucket + "/files/*", bucket + "/prompts/*"},
		"ExtractTaskFunction":  {bucket, bucket + "/files/*", bucket + "/prompts/*"},
		"PlanProcessFunction":  {bucket, bucket + "/files/*", bucket + "/prompts/*"},
	}[id]
	for _, st := range s.statements(s.role(id)) {
		for _, on := range st.resources {
			if slices.Equal(st.actions, []string{"s3:DeleteObject"}) && slices.Contains(deletes, on) {
				continue
			}
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
		"exports/":              {"1", "exports of the audit log for more than a day"},
		"workspaces/downloads/": {"1", "saved files of conversations for more than a day"},
		"turns/":                {"8", "models' answers of contests for more or less than a day beyond their rows"},
	} {
		if !slices.ContainsFunc(list(at(s.resources["ResultsBucket"].Properties, "LifecycleConfiguration", "Rules")), func(r any) bool {
			return at(r, "Prefix") == prefix && at(r, "Status") == "Enabled" && at(r, "ExpirationInDays") == forget.days && at(r, "NoncurrentVersionExpiration", "NoncurrentDays") == "1"
		}) {
			wrong("ResultsBucket keeps %s", forget.what)
		}
	}
	wrong.where(!slices.ContainsFunc(list(at(s.resources["HeadsBucket"].Properties, "LifecycleConfiguration", "Rules")), func(r any) bool {
		return target(at(r, "ExpirationInDays")) == "HeadRetentionDays"
	}), "HeadsBucket keeps heads beyond their lock")
}
