package tenancy

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Kind is the type of a setting's value.
type Kind string

// The kinds of settings, with their Go types.
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

// Setting describes one setting: its texts, its default and its limits.
type Setting struct {
	Name     string // members of objects are named with dots
	Kind     Kind
	Min, Max int                    // of a number, a text's or a list's length; fits checks a text with Max 0
	Choices  []string               // the first is the default
	Default  any                    // nil: the zero value, or the first choice
	OnCards  bool                   // shown on cards that wait for a decision
	Limit    bool                   // a number where 0 means no limit
	Code     string                 // of the problem of a text, or of a text in a list, that does not fit
	fits     func(text string) bool // nil: any text fits
}

// Words are the texts about a setting.
type Words struct {
	Label, About, Unit string
	Choices            []string // in the order of Setting.Choices
	Hint               string   // how to fill in the rows
}

// Section is a section of the settings page.
type Section struct {
	Key      string
	Settings []Setting
}

//go:embed texts
var texts embed.FS

// saidOf are the titles of sections by key and the texts about settings by name.
var saidOf = language.Catalog[struct {
	Sections map[string]string
	Settings map[string]Words
}]{Files: &texts, Folder: "texts"}

// Title returns what a section is called.
func (s Section) Title(locale string) string { return saidOf.In(locale).Sections[s.Key] }

// Says returns the texts about a setting.
func (x Setting) Says(locale string) Words { return saidOf.In(locale).Settings[x.Name] }

// byName returns all settings by name.
var byName = sync.OnceValue(func() map[string]Setting {
	all := map[string]Setting{}
	for _, s := range Sections {
		for _, x := range s.Settings {
			all[x.Name] = x
		}
	}
	return all
})

// SettingNamed returns the setting with this name, and false if there is none.
func SettingNamed(name string) (Setting, bool) {
	x, ok := byName()[name]
	return x, ok
}

// Member is a field of a struct under its JSON name.
type Member struct {
	Name  string
	Value reflect.Value
}

// Members returns the fields of the struct that row points to, in order, with nested fields under dotted names.
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

// Fields returns all settings with their values in s, in the order of the struct. The values can be set.
func (s *Settings) Fields() (all []Field) {
	for _, m := range Members(s) {
		x, ok := SettingNamed(m.Name)
		if !ok {
			panic(fmt.Sprintf("the setting %s has no row in the table", m.Name)) // tests cover every setting
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

// DefaultSettings returns the settings of a tenant that has saved none.
func DefaultSettings() Settings { return defaults() }

// checkSize reports a number out of range, or a text or list that is too short or too long.
func (f Field) checkSize(all *aggregate.Problems) {
	n, code := 0, "count"
	switch f.Kind {
	case KindWhole:
		n, code = int(f.Value.Int()), "between"
	case KindText:
		n, code = utf8.RuneCountInString(f.Value.String()), "length"
	case KindPeople, KindGroups, KindRows:
		n = f.Value.Len()
	default:
		return
	}
	all.Unless(f.Max == 0 || n >= f.Min && n <= f.Max, f.Name, code, f.Min, f.Max)
}

// checkContent reports a value of a valid size that does not fit.
func (f Field) checkContent(all *aggregate.Problems) {
	switch f.Kind {
	case KindDollars:
		usd := f.Value.Float()
		all.Unless(usd >= 0 && usd <= maxUSD, f.Name, "between", 0, maxUSD) // NaN fails both comparisons
	case KindChoice:
		all.Unless(slices.Contains(f.Choices, f.Value.String()), f.Name, "one_of", f.Choices)
	case KindText:
		all.Unless(f.fits == nil || f.fits(f.Value.String()), f.Name, f.Code)
	case KindPeople, KindGroups: // a name instead of an id would match nobody, and nobody could decide
		all.Each(f.Name, f.Value.Interface().([]string), f.fits, f.Code)
	}
}

// like returns a function that reports whether a text matches the form.
func like(form *language.Regexp) func(string) bool {
	return func(text string) bool { return form.Get().MatchString(text) }
}
