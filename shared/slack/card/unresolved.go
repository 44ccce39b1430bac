package card

import "ringi/shared/domain/rules"

// Unresolved says why a request can't go round, and whom to tell. Names of stages are an administrator's words; without
// admins it names none.
func Unresolved(u *rules.Unresolved, admins []string, locale string) string {
	w, texts := wordsOf.In(locale), routeWordsOf.In(locale)
	text := fill(or(texts.Unresolved[u.Why], texts.Unresolved[rules.LeftVacant]),
		"stage", or(inline(u.Name, maxStage), texts.ThisStage), "max", rules.MaxPeople)
	if len(admins) == 0 {
		return text + texts.TellAdmin
	}
	names := ""
	for i, user := range admins[:min(len(admins), maxNamed)] {
		if i > 0 {
			names += " "
		}
		names += w.mention(user)
	}
	if more := len(admins) - maxNamed; more > 0 {
		names = fill(texts.Others, "who", names, "n", more)
	}
	return text + fill(texts.TellAdmins, "admins", names)
}
