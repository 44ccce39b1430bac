package infra_test

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/store"
)

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
		return st.effect == "Allow" && slices.Contains(st.actions, action) && slices.Contains(st.resources, s.table.ID+".Arn") &&
			(slices.Contains(st.rows, row) || st.conditions["ForAllValues:StringLike"] == nil)
	})
}
