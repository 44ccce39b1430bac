package refused

import (
	"strings"

	"ringi/shared/domain/conversation"
)

// ByRules says why the tenant's rules let an action not be proposed. text shows what others wrote, at most so many
// characters of it.
func ByRules(locale string, e conversation.ErrByRules, text func(s string, most int) string) string {
	said := fill(wordsOf.In(locale).ByRules[e.Why], "rule", text(e.Rule.Name, maxName), "text", text(e.Detail, maxDetail))
	return strings.TrimSpace(said)
}
