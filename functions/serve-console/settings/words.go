package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
)

type settingsTexts struct{ web.Texts }

// rule describes the rule that a value breaks.
func (t settingsTexts) rule(r tenancy.Rule, values ...any) string {
	return t.In("rules", r, append(values, "commands", agent.OpenCommands())...)
}

// problem says in the reader's language why a field's value is refused.
func (t settingsTexts) problem(p tenancy.Problem) string {
	var words []string
	for _, w := range p.Words {
		words = append(words, t.value(p.Field, w))
	}
	return cmp.Or(
		t.rule(p.Rule, "min", web.Count(int64(p.Min)), "max", web.Count(int64(p.Max)), "words", strings.Join(words, " / ")),
		string(p.Rule),
	)
}

// label returns a field's readable name; a field in a list has its number appended, and its column if it has one.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Say("client"), provider)
	}
	base, at, _ := strings.Cut(field, "[")
	x, ok := tenancy.SettingNamed(base)
	switch {
	case field == "admins":
		return t.Say("admins")
	case !ok || !x.Asked():
		return field
	}
	label := x.Says.In(t.Locale()).Label
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		label = fmt.Sprintf("%s (%d)", label, n+1)
		if _, column, ok := strings.Cut(at, "]."); ok {
			label += ": " + cmp.Or(t.In("columns", base+"."+column), column)
		}
	}
	return label
}

// value returns the label of one of a fixed set of values, or else the value itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says.In(t.Locale()).Choices[i]
	}
	return is
}
