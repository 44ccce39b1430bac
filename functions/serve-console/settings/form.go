package settings

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
)

// formOf returns the page's inputs, filled from settings.
func formOf(s tenancy.Settings) url.Values {
	form := url.Values{}
	for _, f := range s.Fields() {
		switch {
		case !f.Asked() || f.Kind == tenancy.KindRows:
		case f.Kind == tenancy.KindPeople, f.Kind == tenancy.KindGroups:
			form[f.Name] = slices.Clone(f.Value.Interface().([]string))
		case f.Kind == tenancy.KindDollars:
			form.Set(f.Name, strconv.FormatFloat(f.Value.Float(), 'f', -1, 64))
		default:
			form.Set(f.Name, fmt.Sprint(f.Value.Interface()))
		}
	}
	addRows(form, s)
	return form
}

// typed applies a form to settings and returns all problems. Settings that the form lacks stay as they are.
func typed(form url.Values, over tenancy.Settings) (tenancy.Settings, []tenancy.Problem) {
	s := over
	unread := map[string]tenancy.Rule{}
	for _, f := range s.Fields() {
		if form.Has(f.Name) && f.Asked() {
			if rule := typedOver(f, form); rule != "" {
				unread[f.Name] = rule
			}
		}
	}
	typedRows(form, &s)
	return s, problemsOf(s, unread)
}

// typedOver sets one setting from the form. If the value can't be read it returns the rule that the value breaks.
func typedOver(f tenancy.Field, form url.Values) tenancy.Rule {
	text := strings.TrimSpace(form.Get(f.Name))
	switch f.Kind {
	case tenancy.KindFlag:
		f.Value.SetBool(form.Get(f.Name) == "true")
		if form.Get(f.Name) != "true" && form.Get(f.Name) != "false" {
			return tenancy.RuleFlag
		}
	case tenancy.KindWhole:
		n, err := strconv.Atoi(web.Digits(text))
		if f.Value.SetInt(int64(n)); err != nil {
			return tenancy.RuleWhole
		}
	case tenancy.KindDollars:
		x, err := strconv.ParseFloat(web.Digits(text), 64)
		if f.Value.SetFloat(x); err != nil {
			return tenancy.RuleNumber
		}
	case tenancy.KindText, tenancy.KindChoice:
		f.Value.SetString(text)
	case tenancy.KindPeople, tenancy.KindGroups:
		f.Value.Set(reflect.ValueOf(append([]string{}, web.Ticked(form[f.Name])...)))
	}
	return ""
}

// problemsOf returns the problems of settings. A value that could not be read has only the problem in unread.
func problemsOf(s tenancy.Settings, unread map[string]tenancy.Rule) (all []tenancy.Problem) {
	for _, section := range tenancy.Sections {
		for _, x := range section.Settings {
			if rule := unread[x.Name]; rule != "" {
				all = append(all, tenancy.Problem{Field: x.Name, Rule: rule})
			}
		}
	}
	for _, p := range s.Problems() {
		if unread[p.Field] == "" {
			all = append(all, p)
		}
	}
	return all
}

// merged applies what somebody else saved since the form was opened (from base to now) to the form. It also returns the
// inputs that both changed; there the typed value wins.
func merged(form, base, now url.Values) (out url.Values, both []string) {
	out = url.Values{}
	for name, values := range form {
		out[name] = values
	}
	for _, section := range tenancy.Sections {
		for _, x := range section.Settings {
			names := inputsOf(x)
			mine, theirs := false, false
			for _, name := range names {
				mine = mine || form.Has(name) && !alike(form[name], base[name])
				theirs = theirs || !alike(now[name], base[name])
			}
			for _, name := range names {
				if theirs && !mine {
					out[name] = now[name]
				}
			}
			differs := func(name string) bool { return !alike(form[name], now[name]) }
			if mine && theirs && slices.ContainsFunc(names, differs) {
				both = append(both, x.Name)
			}
		}
	}
	return out, both
}

// alike compares the values of an input, ignoring empty ones.
func alike(a, b []string) bool {
	return slices.Equal(filled(a), filled(b))
}

func filled(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.TrimSpace(v) == "" })
}
