package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

type markTexts struct{ web.Texts }

type markData struct {
	Name, Version string
	Back          string
	Rev           int
	Foreign       bool // it isn't one of Ringi's own tools
	Stale         bool // the saved mark was made for another version of the tool
	web.Came
	Acts                      []web.Choice
	Rows                      []markRow
	Problems                  []string // of the roles
	Currency                  string
	CurrencyProblem           []web.Fault
	Free                      bool
	Labels                    []typedLabel // the last one is empty
	ActProblem, LabelsProblem string
	Example                   string
	Reading                   reading
}

// Said reports whether the server says something of an argument.
func (d markData) Said() bool {
	return slices.ContainsFunc(d.Rows, func(x markRow) bool { return x.About != "" })
}

// markRow is an argument with what is said of it.
type markRow struct {
	N                     int
	At, Shown, About, Now string // Now is its value in the example
	Roles                 []web.Choice
	Wrong                 string // with its role
}

// reading is how the example's arguments are shown and read.
type reading struct {
	Effect subject.Effect
	Money  string
	Why    string // the amount is unknown
}

func (t markTexts) data(m markable, typed typedMark, wrong []aggregate.Problem) markData {
	p := m.row
	d := markData{Name: p.ToolName, Version: m.version, Back: m.back, Rev: p.Rev, Foreign: m.own == nil,
		Stale: p.Mark != nil && p.Mark.Version != m.version, Currency: typed.Currency, Free: typed.Free,
		Example: typed.Example, Labels: append(slices.Clone(typed.Labels), typedLabel{})}
	for _, act := range append([]rules.Act{""}, rules.Acts...) {
		d.Acts = append(d.Acts, web.Choice{Value: string(act), Text: t.In("acts", act), Chosen: string(act) == typed.Act})
	}
	d.Rows = t.rows(m, typed)
	for _, x := range wrong {
		t.tell(&d, x)
	}
	mark, _ := typed.mark(m)
	p.Mark = mark
	d.Reading = t.reading(p.Call(m.version, aggregate.Write, aggregate.JSON(typed.Example), mark), task.Step{Order: 1,
		Tool: p.ToolName, ToolVersion: m.version, Access: aggregate.Write, ToolInput: aggregate.JSON(typed.Example),
		Mark: mark})
	return d
}

func (t markTexts) rows(m markable, typed typedMark) (all []markRow) {
	places, said := choices(m.schema)
	var example any
	_ = json.Unmarshal([]byte(typed.Example), &example) // what can't be read has no values
	for i, row := range typed.Rows {
		x := markRow{N: i + 1, At: row.At, Shown: shown(row.At), Now: valueAt(example, row.At)}
		if k := slices.IndexFunc(places, func(at string) bool { return bare(at) == bare(row.At) }); k >= 0 {
			x.About = said[k].About
		}
		offered := roles
		if !slices.Contains(roles, row.Role) {
			offered = append(slices.Clone(roles), row.Role)
		}
		for _, role := range offered {
			if t.suits(m, row, role) {
				x.Roles = append(x.Roles, web.Choice{Value: role, Text: t.role(row, role), Chosen: role == row.Role})
			}
		}
		if m.own != nil {
			x.Roles[0].Text = t.Say("as_ringi") // the first is none
		}
		all = append(all, x)
	}
	return all
}

// suits reports whether the form offers a role to an argument: of Ringi's own tool it is known what cards show and that
// it moves no money, and nobody is paid in each row.
func (t markTexts) suits(m markable, row typedRow, role string) bool {
	parts := strings.Split(role, "+")
	if role == row.Role {
		return true
	}
	only := func(role string) bool { return role == roleParty || role == roleWords }
	return !(m.own != nil && role != "" || inRows(row.At) && slices.ContainsFunc(parts, only))
}

// inRows reports whether an argument stands in the rows of a list, as a member of each.
func inRows(at string) bool { return strings.Contains(bare(at), "/"+schema.Rows+"/") }

func (t markTexts) role(row typedRow, role string) string {
	if role == "" {
		return t.Say("as_is")
	}
	text := t.In("roles", role)
	if text == "" {
		named := func(part string) string { return t.In("roles", part) }
		text = web.Joined(strings.Split(role, "+"), named, t.Say("middot"))
	}
	if inRows(row.At) {
		text = t.Say("in_row", "role", text)
	}
	return legible.Capital(text)
}

// valueAt returns the first value at a pointer as a text.
func valueAt(v any, pointer string) string {
	for _, name := range rules.Tokens(pointer) {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			if v = nil; len(of) > 0 && name == schema.Rows {
				v = of[0]
			}
		default:
			return ""
		}
	}
	switch v.(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return legible.Clip(legible.OneLine(fmt.Sprint(v)), maxAbout)
	}
	text, _ := json.Marshal(v) // was read as JSON
	return string(text)
}

// tell says what is wrong where it is. The version is not among it: the page sends it.
func (t markTexts) tell(d *markData, e aggregate.Problem) {
	field, _, _ := strings.Cut(e.Field, "[")
	text := t.In("wrong", field)
	for part, what := range map[string]string{"same rows": "rows", "must be absent": "unused", "of both": "mixed"} {
		if strings.Contains(e.Code, part) && t.In("wrong", what) != "" {
			text = t.In("wrong", what)
		}
	}
	switch field {
	case "act":
		d.ActProblem = text
		return
	case "labels":
		d.LabelsProblem = t.In("wrong", field)
		return
	case "currency":
		d.CurrencyProblem = []web.Fault{{Text: text}}
		return
	}
	placed := false
	for _, p := range placesOf(&rules.Mark{}) {
		for i := range d.Rows {
			is := func(c web.Choice) bool { return c.Chosen && slices.Contains(strings.Split(c.Value, "+"), p.role) }
			if p.field == field && slices.ContainsFunc(d.Rows[i].Roles, is) {
				d.Rows[i].Wrong, placed = cmp.Or(d.Rows[i].Wrong, text), true
			}
		}
	}
	if !placed && !slices.Contains(d.Problems, text) {
		d.Problems = append(d.Problems, text)
	}
}

func (t markTexts) reading(c rules.Call, s task.Step) reading {
	reader := subject.Reader{Locale: t.Locale(), Person: func(id string) string { return id }}
	e := explain.EffectOf(t.Locale(), s, nil, nil)
	e.Amount = rules.Nothing() // it stands above it
	r := reading{Effect: reader.Effect(e)}
	if c.Amount != rules.Nothing() {
		r.Money = explain.Money(t.Locale(), c.Amount)
	}
	if !c.Amount.Known() {
		r.Why = t.In("whys", c.Amount.Why)
	}
	return r
}

// sum says in one line what a tool's mark is, for lists of tools.
func (t markTexts) sum(m *rules.Mark, version string) string {
	if m == nil {
		return t.Say("unmarked")
	}
	if m.Version != version {
		return t.Say("stale")
	}
	between := map[rules.How]string{rules.HowSum: " + ", rules.HowProduct: " × "}[m.How]
	currency := m.Currency
	if m.CurrencyAt != "" {
		currency = shown(m.CurrencyAt)
	}
	return t.In("sums", m.How, "of", web.Joined(m.Pointers, shown, between), "currency", currency)
}
