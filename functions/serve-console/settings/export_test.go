package settings

import "ringi/shared/domain/tenancy"

// Exported for the tests of the pages.
var (
	FormOf = formOf
)

type Texts = settingsTexts

func (t settingsTexts) Rule(r tenancy.Rule) string { return t.rule(r) }

func (t settingsTexts) Label(field string) string { return t.label(field) }
