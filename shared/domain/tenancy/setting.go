package tenancy

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// Kind is the form that a setting's value has.
type Kind string

// The kinds of settings, with the type of their fields.
const (
	KindFlag    Kind = "flag"   // bool
	KindWhole   Kind = "whole"  // int
	KindDollars Kind = "usd"    // float64, 0 to maxUSD
	KindText    Kind = "text"   // string
	KindChoice  Kind = "choice" // string, one of Choices
	KindPeople  Kind = "people" // ids of Slack users
	KindGroups  Kind = "groups" // ids of Slack user groups
	KindRows    Kind = "rows"   // a list of structs
)

// Setting is a row of the table: all that is said, asked and checked about one setting.
type Setting struct {
	Name     string // a member of an object is named after it, with a dot between
	Kind     Kind
	Min, Max int                    // of a number, a text's characters or a list's length; Max 0 of a text: see fits
	Choices  []string               // the first is the default
	Default  any                    // nil: nothing, or the first choice
	Own      bool                   // each workspace has its own: it is in no file
	OnCards  bool                   // cards show it while they wait for a decision
	Limit    bool                   // it is a number that 0 leaves without a bound
	Rule     Rule                   // that a text, or each text of a list, breaks when it does not fit
	fits     func(text string) bool // nil: any text does
	Says     language.Spoken[Words]
}

// Words say what a setting is for.
type Words struct {
	Label, About, Unit string   // without a label no page asks for it
	Choices            []string // those of the setting, in the same order
	Hint               string   // how rows are filled in
	Logged             string   // what the audit log calls it, if not by label and unit
}

// Section is a part of the page of settings.
type Section struct {
	Key      string
	Title    language.Spoken[string]
	Settings []Setting
}

// byName are all settings, by name.
var byName = sync.OnceValue(func() map[string]Setting {
	all := map[string]Setting{}
	for _, s := range append(slices.Clone(Sections), Section{Settings: unasked}) {
		for _, x := range s.Settings {
			all[x.Name] = x
		}
	}
	return all
})

// SettingNamed is the setting of a name, false when there is none.
func SettingNamed(name string) (Setting, bool) {
	x, ok := byName()[name]
	return x, ok
}

var withUnit = language.InEach("%s(%s)", "%s (%s)")

// Asked reports whether a page asks for the setting.
func (x Setting) Asked() bool { return x.Says[0].Label != "" }

// LogName is what the audit log calls a setting.
func (x Setting) LogName(locale string) string {
	w := x.Says.In(locale)
	switch {
	case w.Logged != "":
		return w.Logged
	case w.Unit == "":
		return w.Label
	}
	return fmt.Sprintf(withUnit.In(locale), w.Label, w.Unit)
}

// Member is a value within a struct, by the names that JSON has.
type Member struct {
	Name  string
	Value reflect.Value
}

// Members are the values of the struct that row points to, in its order, and those of structs within.
func Members(row any) []Member { return membersUnder("", reflect.ValueOf(row).Elem()) }

func membersUnder(before string, v reflect.Value) (all []Member) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i); {
		case name == "-":
		case f.Kind() == reflect.Struct:
			all = append(all, membersUnder(before+name+".", f)...)
		default:
			all = append(all, Member{before + name, f})
		}
	}
	return all
}

// Field is a setting with its value.
type Field struct {
	Setting
	Value reflect.Value
}

// Fields are all settings with their values in s, which can be set, in the order of the row.
func (s *Settings) Fields() (all []Field) {
	for _, m := range Members(s) {
		x, ok := SettingNamed(m.Name)
		if !ok {
			panic(fmt.Sprintf("the setting %s has no row in the table", m.Name)) // tests make all of them
		}
		all = append(all, Field{x, m.Value})
	}
	return all
}

var defaults = sync.OnceValue(func() (s Settings) {
	for _, f := range s.Fields() {
		switch {
		case f.Default != nil:
			f.Value.Set(reflect.ValueOf(f.Default))
		case f.Kind == KindChoice:
			f.Value.SetString(f.Choices[0])
		case f.Value.Kind() == reflect.Slice:
			f.Value.Set(reflect.MakeSlice(f.Value.Type(), 0, 0))
		}
	}
	return s
})

// DefaultSettings are the seed's, for a tenant that has saved none.
func DefaultSettings() Settings { return defaults() }

// sizeProblems are those of a number that is out of bounds, and of a text or a list that is too short or too long.
func (f Field) sizeProblems() []Problem {
	n, rule := 0, RuleCount
	switch f.Kind {
	case KindWhole:
		n, rule = int(f.Value.Int()), RuleBetween
	case KindText:
		n, rule = utf8.RuneCountInString(f.Value.String()), RuleLength
	case KindPeople, KindGroups, KindRows:
		n = f.Value.Len()
	default:
		return nil
	}
	if f.Max == 0 || n >= f.Min && n <= f.Max {
		return nil
	}
	return []Problem{{Field: f.Name, Rule: rule, Min: f.Min, Max: f.Max}}
}

// contentProblems are those of a value that has the right size.
func (f Field) contentProblems() []Problem {
	switch f.Kind {
	case KindDollars:
		if usd := f.Value.Float(); !(usd >= 0 && usd <= maxUSD) { // NaN fails both comparisons
			return []Problem{{Field: f.Name, Rule: RuleBetween, Max: maxUSD}}
		}
	case KindChoice:
		if !slices.Contains(f.Choices, f.Value.String()) {
			return []Problem{{Field: f.Name, Rule: RuleOneOf, Words: f.Choices}}
		}
	case KindText:
		if f.fits != nil && !f.fits(f.Value.String()) {
			return []Problem{{Field: f.Name, Rule: f.Rule}}
		}
	case KindPeople, KindGroups: // with names instead of ids nobody would match, and nobody could decide
		return idProblems(f.Name, f.Value.Interface().([]string), f.fits, f.Rule)
	}
	return nil
}

// like reports whether a text has a form.
func like(form func() *regexp.Regexp) func(string) bool {
	return func(text string) bool { return form().MatchString(text) }
}
