package explain

import (
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// ByRules says why the tenant's rules let an action not be proposed. text shows what others wrote, at most so many
// characters of it, person names a person.
func RefusedByRules(locale string, e conversation.ErrByRules, text func(s string, most int) string,
	person func(id string) string) string {
	detail := text(e.Detail, maxDetail)
	if e.Why == task.ReasonNoRowWords {
		detail = person(e.Detail)
	}
	said := fill(refusalWordsOf.In(locale).ByRules[e.Why], "rule", text(e.Rule.Name, maxName), "text", detail)
	return strings.TrimSpace(said)
}
