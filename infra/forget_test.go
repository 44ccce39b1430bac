package infra_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/conversation"
)

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

	"INTEGRATIONS#*": "credentials that were renewed",
	"TENANT#*":       "that a server changed its tool",
}

// forgetRule: whatever conversations' functions may write is deleted when the conversation is forgotten, and the sweeper
// may delete it, or it stays for a reason.
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
				late := strings.Replace(on, "/workspaces/*", "/workspaces/versions/*", 1) // the bucket deletes the rest
				wrong.where(s.forgets(sweeper, below) && !s.allowsOn(s.role(id), "s3:DeleteObject", late),
					"%s may not delete what it put too late below %s", id, below)
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
