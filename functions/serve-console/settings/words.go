package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
)

type settingsTexts struct{ web.Texts }

// value returns the label of one of a fixed set of values, or else the value itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says.In(t.Locale()).Choices[i]
	}
	return is
}

func (t settingsTexts) problem(p aggregate.Problem) string {
	return t.Problem(p, func(w string) string { return t.value(p.Field, w) })
}

// label returns a field's readable name; a field in a list has its number and its member appended.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Say("client"), explain.Provider(provider).Called(t.Locale()))
	}
	base, at, _ := strings.Cut(field, "[")
	x, ok := tenancy.SettingNamed(base)
	switch {
	case field == "admins":
		return t.Say("admins")
	case !ok:
		return field
	}
	label := x.Says.In(t.Locale()).Label
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		label = fmt.Sprintf("%s (%d)", label, n+1)
		if _, column, ok := strings.Cut(at, "]."); ok {
			label += ": " + column
		}
	}
	return label
}

func (t settingsTexts) changes(m *people.Members, diff []tenancy.Difference) (all []explain.LogChange) {
	for _, d := range diff {
		all = append(all, explain.LogChange{Name: t.label(d.Field), Was: t.values(m, d.Field, d.Was),
			Is: t.values(m, d.Field, d.Is)})
	}
	return all
}

// Told returns the changes in details of the log by their fields.
func Told(locale string, m *people.Members, details aggregate.JSON) map[string]explain.LogChange {
	t, out := settingsTexts{web.TextsOf("settings", locale)}, map[string]explain.LogChange{}
	for _, d := range tenancy.ReadDifferences(details) {
		for _, x := range t.changes(m, []tenancy.Difference{d}) {
			out[d.Field] = x
		}
	}
	return out
}

// values returns the values of a setting as people read them.
func (t settingsTexts) values(m *people.Members, field string, is aggregate.JSON) (all []string) {
	x, known := tenancy.SettingNamed(field)
	unit := ""
	if known {
		unit = x.Says.In(t.Locale()).Unit
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(is), &list) != nil {
		list = []json.RawMessage{json.RawMessage(is)}
	}
	for _, one := range list {
		var v any
		if json.Unmarshal(one, &v) != nil {
			v = string(one)
		}
		switch v := v.(type) {
		case nil:
		case bool:
			all = append(all, t.In("flags", v))
		case float64:
			text := strings.TrimSpace(string(one) + " " + unit)
			if v == 0 && x.Limit {
				text = t.Say("no_limit")
			} else if x.Kind == tenancy.KindWhole {
				text = strings.TrimSpace(web.Count(int64(v)) + " " + unit)
			}
			all = append(all, text)
		case string:
			if strings.Contains(field, "approvers.u") || field == "admins" {
				if name := nameOf(m, v); name != v {
					v = name + " (" + v + ")" // others may have the same name
				}
			}
			all = append(all, t.value(field, v))
		default:
			all = append(all, strings.TrimSpace(written(one)))
		}
	}
	if all = slices.DeleteFunc(all, func(s string) bool { return s == "" }); len(all) == 0 {
		all = []string{t.Say("nothing")}
	}
	return all
}
