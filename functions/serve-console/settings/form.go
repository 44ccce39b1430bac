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

// formOf are the inputs of the page as settings fill them.
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

// typed are the settings with what was typed over them, and all that is wrong with it. What the form does not have
// stays: a page of an earlier release does not ask for everything.
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

// typedOver sets a setting to what a form has. It returns the rule that a value breaks which can't be read.
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
		f.Value.Set(reflect.ValueOf(chosen(form[f.Name])))
	}
	return ""
}

// problemsOf are the problems of settings; a value that could not be read has its own, and no other.
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

// chosen are the ids of ticked boxes, each once, in their order. The empty one says that the boxes were there.
func chosen(ids []string) []string {
	out := []string{}
	for _, id := range ids {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// merged is a form with what somebody else has saved since it was opened as base, and the names of inputs that both
// changed. For these the typed value stays.
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

// alike compares values of an input; an empty one among several is none.
func alike(a, b []string) bool {
	return slices.Equal(filled(a), filled(b))
}

func filled(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.TrimSpace(v) == "" })
}
