package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// markable is a tool that writes, as it may be called now.
type markable struct {
	row            tenancy.ToolPermission
	title, version string
	schema         string
	back           string // the page that lists the tool
	knows          []tenancy.Constraint
}

// markable returns a tool that can be marked. It returns ErrNoPage if the tool only reads or is none that is allowed.
func (c *Pages) markable(r *http.Request, v *web.Viewer) (m markable, err error) {
	name := r.PathValue("name")
	if m.row, _, err = c.Store.ToolPermission(r.Context(), v.Tenant, name); err != nil {
		return m, err
	}
	if server, _, foreign := tenancy.ServerTool(name); foreign {
		pin := m.row.Pin
		if pin == nil || !m.row.Allowed || pin.Access != aggregate.Write {
			return m, web.ErrNoPage
		}
		m.title, m.version, m.schema = pin.Title, pin.Version(), string(pin.Input)
		m.back = serverPath(server) + "#" + name
		return m, nil
	}
	tools, err := tool.Builtin()
	if err != nil {
		return m, err
	}
	s, ok := tools.Lookup(name)
	if !ok || s.Access != aggregate.Write || name == catalog.Decide { // its mark is made from the form
		return m, web.ErrNoPage
	}
	m.title, m.version, m.schema, m.knows = s.Title(v.Locale), s.Version(), s.InputSchema, s.Knows()
	m.back = toolsPath + "#" + name
	return m, nil
}

// Roles of an argument.
const (
	roleTimes    = "times" // a number that is multiplied
	rolePlus     = "plus"  // a number that is added
	roleCurrency = "currency"
	roleLabel    = "label" // by whose value rules tell calls apart
)

// hows are how the amount follows from the numbers of a role.
var hows = map[string]rules.How{roleTimes: rules.HowProduct, rolePlus: rules.HowSum}

var roles = []string{"", roleTimes, rolePlus, roleCurrency, roleLabel}

// markForm is the form of a mark, with arguments to try it on.
type markForm struct {
	At, Role []string // of each argument
	Currency string
	Free     bool // calls never move money
	Example  string
}

const maxArguments = 200

// arguments returns the texts, numbers and yes or no that a schema declares, by their pointers.
func arguments(text string) (at []string, all []schema.Member) {
	for _, m := range schema.Members(text) {
		if m.Leaf && len(all) < maxArguments {
			m.About = legible.Clip(legible.OneLine(m.About), 80)
			at, all = append(at, rules.Pointer(m.Path)), append(all, m)
		}
	}
	return at, all
}

// formOfMark returns the form of a mark. Of what the mark names and the schema has no more there is a row, too.
func formOfMark(m *rules.Mark, of markable) markForm {
	if m == nil {
		m = &rules.Mark{}
	}
	f := markForm{Currency: cmp.Or(m.Currency, "JPY"), Free: m.How == rules.HowNothing, Example: example(of.schema)}
	role := map[string]string{m.CurrencyAt: roleCurrency}
	for _, at := range m.Pointers {
		for name, how := range hows {
			if how == m.How {
				role[at] = name
			}
		}
	}
	labels := web.Each(m.LabelledBy, func(l rules.Label) string { return l.Pointer })
	for _, at := range labels {
		role[at] = roleLabel
	}
	f.At, _ = arguments(of.schema)
	for _, at := range slices.Concat(m.Pointers, []string{m.CurrencyAt}, labels) {
		if at != "" && !slices.Contains(f.At, at) {
			f.At = append(f.At, at)
		}
	}
	f.Role = web.Each(f.At, func(at string) string { return role[at] })
	return f
}

// mark returns what was filled in as a mark of a tool's version, nil if nothing was, and what no mark can say. What the
// form doesn't have stays.
func (f markForm) mark(m markable) (*rules.Mark, []aggregate.Problem) {
	x := &rules.Mark{}
	if m.row.Mark != nil {
		*x = *m.row.Mark
	}
	x.Version, x.How, x.Pointers, x.Currency, x.CurrencyAt, x.LabelledBy = m.version, "", nil, "", "", nil
	var wrong []aggregate.Problem
	for i, at := range f.At {
		switch how := hows[f.Role[i]]; {
		case how != "":
			if x.How != "" && x.How != how {
				wrong = append(wrong, aggregate.Problem{Field: "mixed"})
			}
			x.How, x.Pointers, x.Currency = how, append(x.Pointers, at), f.Currency
		case f.Role[i] == roleCurrency:
			if x.CurrencyAt != "" {
				wrong = append(wrong, aggregate.Problem{Field: "currency_at"})
			}
			x.CurrencyAt = at
		case f.Role[i] == roleLabel:
			x.LabelledBy = append(x.LabelledBy, rules.Label{Name: m.label(at), Pointer: at})
		}
	}
	if x.CurrencyAt != "" {
		x.Currency = ""
	}
	if reflect.DeepEqual(x, &rules.Mark{Version: m.version}) && !f.Free {
		return nil, wrong
	}
	if f.Free || !m.foreign() && x.How == rules.HowUnknown {
		x.How = rules.HowNothing
	}
	return x, append(wrong, x.Problems()...)
}

func (m markable) foreign() bool {
	_, _, is := tenancy.ServerTool(m.row.ToolName)
	return is
}

// label returns what rules call the label at a pointer: as they do already, else as the schema calls the argument.
func (m markable) label(at string) string {
	if was := m.row.Mark; was != nil {
		if i := slices.IndexFunc(was.LabelledBy, func(l rules.Label) bool { return l.Pointer == at }); i >= 0 {
			return was.LabelledBy[i].Name
		}
	}
	pointers, said := arguments(m.schema)
	if i := slices.Index(pointers, at); i >= 0 && rules.IsName(said[i].Title, rules.MaxNamed) {
		return said[i].Title
	}
	path := slices.DeleteFunc(rules.Tokens(at), func(part string) bool { return part == schema.Rows })
	return path[len(path)-1]
}

func (c *Pages) mark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	return c.showMark(w, r, v, m, formOfMark(m.row.Marked(m.version), m), nil, 0)
}

// saveMark saves the mark that a form has, or shows how arguments are read with it.
func (c *Pages) saveMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	sent := r.PostForm
	f := markForm{At: sent["at"], Role: sent["role"], Free: sent.Get("free") != "", Example: sent.Get("example"),
		Currency: strings.ToUpper(strings.TrimSpace(sent.Get("currency")))}
	if len(f.At) != len(f.Role) {
		return web.ErrBadForm
	}
	mark, wrong := f.mark(m)
	if sent.Get("act") != "save" {
		return c.showMark(w, r, v, m, f, wrong, 0)
	}
	if len(wrong) > 0 {
		return c.showMark(w, r, v, m, f, wrong, http.StatusUnprocessableEntity)
	}
	err := aggregate.ErrConflict
	if web.RevisionOf(sent) == m.row.Rev && sent.Get("version") == m.version {
		p := m.row
		p.Mark = mark
		_, err = c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), m.knows...)
	}
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		return c.showMark(w, r, v, m, f, nil, http.StatusConflict)
	case err != nil:
		return err
	}
	return c.Done(w, r, "/console/tools/marks/"+m.row.ToolName, "saved")
}

type markData struct {
	Name, Version, Back string
	Rev                 int
	Foreign             bool // it isn't one of Ringi's own tools
	Stale               bool // the saved mark was made for another version of the tool
	Rows                []markRow
	Problems            []web.Fault
	Currency, Example   string
	Free                bool
	Amount, Why         string // of the example
	Labels              []string
}

// markRow is an argument with what it is for.
type markRow struct {
	At, Shown, About string
	Roles            []web.Choice
}

func (c *Pages) showMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable, f markForm,
	wrong []aggregate.Problem, status int) error {
	t, p := markTexts{v.Texts("tool-mark")}, m.row
	d := markData{Name: p.ToolName, Version: m.version, Back: m.back, Rev: p.Rev, Foreign: m.foreign(),
		Stale: p.Mark != nil && p.Mark.Version != m.version, Currency: f.Currency, Free: f.Free, Example: f.Example}
	pointers, said := arguments(m.schema)
	for i, at := range f.At {
		row := markRow{At: at, Shown: shownPointer(at)}
		if k := slices.Index(pointers, at); k >= 0 {
			row.About = said[k].About
		}
		row.Roles = web.Each(roles, func(role string) web.Choice {
			return web.Choice{Value: role, Text: t.In("roles", role), Chosen: role == f.Role[i]}
		})
		d.Rows = append(d.Rows, row)
	}
	for _, x := range wrong {
		field, _, _ := strings.Cut(x.Field, "[")
		said := web.Fault{Text: cmp.Or(t.In("wrong", field), x.Error())}
		if !slices.Contains(d.Problems, said) {
			d.Problems = append(d.Problems, said)
		}
	}
	if mark, wrong := f.mark(m); len(wrong) == 0 {
		p.Mark = mark
		call := p.Call(m.version, aggregate.Write, aggregate.JSON(f.Example), mark)
		if d.Amount = t.Say("no_amount"); call.Amount != rules.Nothing() {
			d.Amount = explain.Money(v.Locale, call.Amount)
		}
		if !call.Amount.Known() {
			d.Why = t.In("whys", call.Amount.Why)
		}
		for _, name := range slices.Sorted(maps.Keys(call.Labels)) {
			d.Labels = append(d.Labels, legible.OneLine(name+": "+strings.Join(call.Labels[name], ", ")))
		}
	}
	return c.Show(w, r, v, web.Document{Title: cmp.Or(m.title, p.ToolName), Here: "tools", Data: d, Status: status},
		"tools/mark")
}

type markTexts struct{ web.Texts }

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
		currency = shownPointer(m.CurrencyAt)
	}
	return t.In("sums", m.How, "of", web.Joined(m.Pointers, shownPointer, between), "currency", currency)
}

// shownPointer returns a pointer as people read it: items[] › price.
func shownPointer(pointer string) string {
	path := web.Each(rules.Tokens(pointer), legible.Spelled)
	return strings.ReplaceAll(strings.Join(path, " › "), " › "+schema.Rows, "[]")
}

// example returns arguments that a tool takes: an example of its schema or, without one, made from the schema.
func example(input string) string {
	b, err := json.Marshal(sample(schema.Parsed(input), 0))
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	return web.Indented(string(b))
}

func sample(v any, depth int) any {
	s, _ := v.(map[string]any)
	given := slices.Concat(schema.List(s["examples"]), []any{s["default"], s["const"]}, schema.List(s["enum"]))
	if i := slices.IndexFunc(given, func(v any) bool { return v != nil }); i >= 0 {
		return given[i]
	}
	members, _ := s["properties"].(map[string]any)
	switch kind := append(schema.Types(s), "object")[0]; {
	case depth > 8:
		return nil
	case kind == "array":
		return []any{sample(s["items"], depth+1)}
	case kind == "object":
		out := map[string]any{}
		for name, member := range members {
			out[name] = sample(member, depth+1)
		}
		return out
	case kind == "string":
		return "…"
	}
	return 1
}
