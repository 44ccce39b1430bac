package web

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/people"
	"ringi/shared/words/language"
)

// catalogs has a folder for each language, with a file for each page or few of them.
//
//go:embed texts
var catalogs embed.FS

// Texts is one catalog in one language: each key has a text, a table of texts, or a table of lists. In templates
// $w.asked_by is a text.
type Texts map[string]any

var read sync.Map

// TextsOf returns a catalog in a language. It always exists: a test reads every catalog that a page names.
func TextsOf(catalog, locale string) Texts {
	name := "texts/" + locale + "/" + catalog + ".yaml"
	if t, known := read.Load(name); known {
		return t.(Texts)
	}
	t := Texts{}
	if catalog != common {
		maps.Copy(t, TextsOf(common, locale))
	}
	if err := t.read(name); err != nil {
		panic(fmt.Errorf("texts of the console: %w", err))
	}
	t[localeKey] = locale
	read.Store(name, t)
	return t
}

// common is the catalog of texts that several pages have. A catalog's own text comes before one of these.
const common = "common"

// localeKey is the key under which Texts has its language.
const localeKey = "locale"

func (t Texts) read(name string) error {
	file, err := catalogs.ReadFile(name)
	if err != nil {
		return err
	}
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal(file, &nodes); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for key, n := range nodes {
		table, lists := map[string]string{}, map[string][]string{}
		switch {
		case n.Kind == yaml.ScalarNode:
			t[key] = n.Value
		case n.Decode(&table) == nil:
			t[key] = table
		case n.Decode(&lists) == nil:
			t[key] = lists
		default:
			return fmt.Errorf("%s: %s is no text and no table", name, key)
		}
	}
	return nil
}

func (t Texts) Locale() string { return t.Say(localeKey) }

// Table is what the template "items" draws.
type Table struct {
	Columns []Column
	Long    bool // cells are phrases
	Rows    [][]string
}

// Column is a table's. Number: all its values are numbers.
type Column struct {
	Name   string
	Number bool
}

// Columns returns the heads of a table's columns by their keys, with # before those of numbers.
func (t Texts) Columns(keys ...string) []Column {
	return Each(keys, func(key string) Column {
		name, number := strings.CutPrefix(key, "#")
		return Column{Name: t.Say(name), Number: number}
	})
}

// Say returns the text of a key with {names} replaced by values: Say("row", "n", 3).
func (t Texts) Say(key string, values ...any) string {
	text, _ := t[key].(string)
	return language.Fill(text, values...)
}

// In returns a table's text for a value, or "" if there is none; the empty value has the key "none".
func (t Texts) In(table string, value any, values ...any) string {
	texts, _ := t[table].(map[string]string)
	name := fmt.Sprint(value)
	if name == "" {
		name = "none"
	}
	return language.Fill(texts[name], values...)
}

// Problem says what is wrong with a field. called says what one of a list of choices is called.
func (t Texts) Problem(p aggregate.Problem, called func(string) string) string {
	var values []any
	for i, x := range p.Args {
		switch is := x.(type) {
		case int:
			x = Count(int64(is))
		case []string:
			x = Joined(is, called, " / ")
		}
		values = append(values, strconv.Itoa(i), x)
	}
	return cmp.Or(TextsOf("problems", t.Locale()).In("problems", p.Code, values...), p.Code)
}

// List returns a list from a table.
func (t Texts) List(table, name string) []string {
	lists, _ := t[table].(map[string][]string)
	return lists[name]
}

// Joined joins what values are called.
func Joined[T any](all []T, called func(T) string, separator string) string {
	return strings.Join(Each(all, called), separator)
}

// Each returns what of makes of each one.
func Each[T, U any](all []T, of func(T) U) (out []U) {
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// Mentions names people in the place of their mentions. As on cards, only the first task.MaxMentioned get names.
func Mentions(s string, name func(id string) string) string {
	ids := task.Mentioned(s)
	var pairs []string
	for _, id := range ids[:min(len(ids), task.MaxMentioned)] {
		pairs = append(pairs, "<@"+id+">", "@"+name(id))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// Named is Mentions that also names channels, as far as the viewer may know them.
func (r Reader) Named(s string, person func(id string) string) string {
	if s = Mentions(s, person); r.ChannelOf == nil {
		return s
	}
	return people.ChannelForm.Get().ReplaceAllStringFunc(s, func(is string) string {
		return cmp.Or(r.ChannelOf(is[2:len(is)-1]), is[2:len(is)-1])
	})
}

// Named returns what people are called: with the id if another's name looks the same, since anybody may choose any.
func Named(names map[string]string) func(id string) string {
	called := map[string]string{}
	for id, name := range names {
		called[id] = cmp.Or(language.ForeignLine(name), id)
	}
	Distinct(called)
	return func(id string) string { return cmp.Or(called[id], id) }
}

// Identified is like called, with the id behind each name.
func Identified(called func(id string) string) func(id string) string {
	return func(id string) string { return strings.TrimSuffix(called(id), " ("+id+")") + " (" + id + ")" }
}
