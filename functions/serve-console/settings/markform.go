package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

type markTexts struct{ web.Texts }

type markData struct {
	Name, Title, Back string
	Rev               int
	Version           string
	Stale             bool // the saved mark was made for another version of the tool
	web.Came
	Hows            []howChoice
	HowProblem      string
	Numbers, Places []pick
	Units, Asides   []pick
	UnitsProblem    string
	NumbersProblem  string
	PlacesProblem   string
	Currency        string
	CurrencyProblem string
	Example         string
	Reading         reading
}

type howChoice struct {
	Value, Text, About string
	Chosen             bool
}

// pick is one select of arguments.
type pick struct {
	ID, Label string
	Groups    []pickGroup
}

type pickGroup struct {
	Label   string
	Options []web.Choice
}

// reading is how the example's arguments are read.
type reading struct {
	Amount, AmountWhy string
	Known             bool
	To                []string
}

var hows = []rules.How{rules.HowUnknown, rules.HowNothing, rules.HowSum, rules.HowProduct}

func (t markTexts) data(m markable, typed typedMark, wrong []aggregate.ErrField) markData {
	p := m.row
	d := markData{
		Name: p.ToolName, Title: m.title, Back: m.back, Rev: p.Rev, Version: m.version,
		Stale:    p.Mark != nil && p.Mark.Version != m.version,
		Currency: typed.Currency, Example: typed.Example,
	}
	for _, how := range hows {
		if _, _, foreign := tenancy.ServerTool(p.ToolName); how == rules.HowUnknown && !foreign {
			continue // what Ringi's own tools do is known
		}
		d.Hows = append(d.Hows, howChoice{
			string(how), t.In("hows", how), t.In("hows_about", how), string(how) == typed.How,
		})
	}
	all := choices(m.schema)
	d.Numbers = t.picks(typed.Pointers, all, "pointer", func(c choice) bool { return c.Number })
	d.Places = t.picks(typed.Destinations, all, "destination", func(c choice) bool { return c.Text })
	d.Units = t.picks(typed.Units, all, "unit", func(c choice) bool { return c.Text })
	d.Asides = t.picks(typed.Asides, all, "aside", func(c choice) bool { return c.Text })
	fields := map[string]*string{
		"units": &d.UnitsProblem, "asides": &d.UnitsProblem,
		"how": &d.HowProblem, "pointers": &d.NumbersProblem, "currency": &d.CurrencyProblem,
		"destinations": &d.PlacesProblem,
	}
	for _, x := range wrong {
		field, text := t.problem(x)
		if fields[field] != nil {
			*fields[field] = text
		}
	}
	p.Mark = typed.mark(m.version)
	d.Reading = t.reading(p.Call(m.version, aggregate.Write, aggregate.JSON(typed.Example), p.Mark))
	return d
}

// leastPicks is how many selects a list has at the least. There is always an empty one, up to the most that a mark may
// have.
const leastPicks = 2

// picks are a list's selects. First come the arguments that suit it; others are offered behind them, as some vendors
// take numbers as texts. What was chosen stays, also if the schema has no such argument.
func (t markTexts) picks(chosen []string, all []choice, name string, suits func(choice) bool) (out []pick) {
	chosen = chosen[:min(len(chosen), rules.MaxPointers)]
	for i := range min(max(len(chosen)+1, leastPicks), rules.MaxPointers) {
		is := ""
		if i < len(chosen) {
			is = chosen[i]
		}
		first, rest := pickGroup{Label: t.In("suits", name)}, pickGroup{Label: t.Say("others")}
		for _, c := range all {
			into := &rest
			if suits(c) {
				into = &first
			}
			into.Options = append(into.Options, web.Choice{Value: c.Pointer, Text: t.option(c), Chosen: c.Pointer == is})
		}
		gone := !slices.ContainsFunc(all, func(c choice) bool { return c.Pointer == is })
		if is != "" && gone {
			rest.Options = append(rest.Options, web.Choice{Value: is, Text: shown(is), Chosen: true})
		}
		groups := slices.DeleteFunc([]pickGroup{first, rest}, func(g pickGroup) bool { return len(g.Options) == 0 })
		out = append(out, pick{
			ID: fmt.Sprintf("%s-%d", name, i+1), Label: t.In("pick", name, "n", i+1), Groups: groups,
		})
	}
	return out
}

func (t markTexts) option(c choice) string {
	if c.About == "" {
		return shown(c.Pointer)
	}
	return shown(c.Pointer) + " — " + c.About
}

// problem says what is wrong with a field of the form. The version is none: the page sends it.
func (t markTexts) problem(e aggregate.ErrField) (field, text string) {
	field, _, _ = strings.Cut(e.Field, "[")
	what := field
	switch {
	case strings.Contains(e.Limit, "same rows"):
		what = "rows"
	case strings.Contains(e.Limit, "must be absent"):
		what = "unused"
	case strings.Contains(e.Limit, "there twice"):
		what = "twice"
	case strings.Contains(e.Limit, "what it is in"):
		what = "within"
	}
	if of, unsaid := strings.CutPrefix(e.Limit, rules.UnsaidOf); unsaid {
		return field, t.Say("unsaid", "of", shown(of))
	}
	return field, t.In("wrong", what)
}

func (t markTexts) reading(c rules.Call) reading {
	r := reading{Known: c.Amount.Known(), To: c.Destinations}
	switch {
	case !r.Known:
		r.AmountWhy = t.In("whys", c.Amount.Why)
	case c.Amount.Currency == "":
		r.Amount = t.Say("no_amount")
	default:
		r.Amount = grouped(string(c.Amount.Value)) + " " + c.Amount.Currency
	}
	return r
}

// grouped writes commas between thousands.
func grouped(number string) string {
	whole, decimals, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimals != "" {
		return whole + "." + decimals
	}
	return whole
}

// sum says in one line what a tool's mark is, for lists of tools.
func (t markTexts) sum(m *rules.Mark, version string) string {
	if m == nil {
		return t.Say("unmarked")
	}
	if m.Version != version {
		return t.Say("stale")
	}
	each := func(pointers []string) (all []string) {
		for _, p := range pointers {
			all = append(all, shown(p))
		}
		return all
	}
	between := map[rules.How]string{rules.HowSum: " + ", rules.HowProduct: " × "}[m.How]
	text := t.In("sums", m.How, "of", strings.Join(each(m.Pointers), between), "currency", m.Currency)
	if len(m.Destinations) > 0 {
		return text + " " + t.Say("goes", "to", strings.Join(each(m.Destinations), ", "))
	}
	return text + " " + t.Say("goes_unknown")
}

// choice is an argument of a tool that an administrator can mark.
type choice struct {
	Pointer      string
	About        string // what the schema says of it
	Number, Text bool
}

const (
	maxChoices = 200
	maxDepth   = 8
	maxAbout   = 80 // characters
)

// rows is the part of a pointer that stands for every row of a list.
const rows = "*"

// choices returns the numbers and texts among a tool's arguments, as its schema declares them. Those of one row of a
// list stand for those of each row.
func choices(input string) []choice {
	var c chooser
	c.walk(inlined(input), nil, "")
	return c.all
}

// inlined returns a schema without references, nil if it can't be read.
func inlined(input string) any {
	text, err := schema.Inline(input)
	if err != nil {
		return nil
	}
	v, err := schema.Decode(text)
	if err != nil {
		return nil
	}
	return v
}

type chooser struct{ all []choice }

// walk adds what a schema declares at a path. about is what is said of the list in whose rows it is.
func (c *chooser) walk(v any, path []string, about string) {
	s, ok := v.(map[string]any)
	if !ok || len(path) > maxDepth {
		return
	}
	title, _ := s["title"].(string)
	description, _ := s["description"].(string)
	about = cmp.Or(title, description, about)
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range list(s[keyword]) {
			c.walk(one, path, about)
		}
	}
	number, text := false, s["enum"] != nil && s["type"] == nil
	for _, kind := range kinds(s) {
		number = number || kind == "number" || kind == "integer"
		text = text || kind == "string"
	}
	if (number || text) && len(path) > 0 {
		c.add("/"+strings.Join(path, "/"), about, number, text)
	}
	members, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "" && name != rows {
			c.walk(members[name], append(slices.Clone(path), escape(name)), "")
		}
	}
	c.walk(s["items"], append(slices.Clone(path), rows), about)
}

func (c *chooser) add(pointer, about string, number, text bool) {
	i := slices.IndexFunc(c.all, func(x choice) bool { return x.Pointer == pointer })
	if i < 0 {
		if len(c.all) == maxChoices {
			return
		}
		i = len(c.all)
		c.all = append(c.all, choice{Pointer: pointer, About: legible.Clip(legible.OneLine(about), maxAbout)})
	}
	c.all[i].Number, c.all[i].Text = c.all[i].Number || number, c.all[i].Text || text
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// kinds are the types that a schema allows.
func kinds(s map[string]any) (all []string) {
	for _, v := range append(list(s["type"]), s["type"]) {
		if kind, ok := v.(string); ok {
			all = append(all, kind)
		}
	}
	return all
}

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// shown returns a pointer as people read it: items[] › price.
func shown(pointer string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if last := len(parts) - 1; part == rows && last >= 0 {
			parts[last] += "[]"
			continue
		}
		parts = append(parts, legible.Spelled(strings.NewReplacer("~1", "/", "~0", "~").Replace(part)))
	}
	return strings.Join(parts, " › ")
}

// example returns arguments that a tool takes: an example of its schema or, without one, made from the schema.
func example(input string) string {
	b, err := json.Marshal(sample(inlined(input), 0))
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	var text bytes.Buffer
	if err := json.Indent(&text, b, "", "  "); err != nil {
		return ""
	}
	return text.String()
}

func sample(v any, depth int) any {
	s, _ := v.(map[string]any)
	if given := append(list(s["examples"]), s["default"], s["const"]); depth <= maxDepth {
		given = append(given, list(s["enum"])...)
		if i := slices.IndexFunc(given, func(v any) bool { return v != nil }); i >= 0 {
			return given[i]
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if all := list(s[keyword]); len(all) > 0 && len(kinds(s)) == 0 {
			return sample(all[0], depth+1)
		}
	}
	all := slices.DeleteFunc(kinds(s), func(kind string) bool { return kind == "null" })
	switch kind := append(all, "object")[0]; {
	case depth > maxDepth:
		return nil
	case kind == "array":
		return []any{sample(s["items"], depth+1)}
	case kind == "object":
		members, _ := s["properties"].(map[string]any)
		out := map[string]any{}
		for name, member := range members {
			out[name] = sample(member, depth+1)
		}
		return out
	case kind == "boolean":
		return false
	case kind == "string":
		return "…"
	}
	return 1
}
