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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// markable is a tool that writes, as it may be called now, with the form of its mark.
type markable struct {
	markForm
	Row                  tenancy.ToolPermission
	Title, Version, Back string // Back: the page that lists the tool
	Foreign              bool   // it isn't one of Ringi's own tools
	schema               string
	knows                []tenancy.Constraint

	wrong       []aggregate.Problem // with the form
	status      int                 // of the answer
	Problems    []web.Fault
	Rows        []markRow
	Amount, Why string // of the example
	Labels      []string
}

// markable returns a tool that can be marked, with the mark that is saved. It returns ErrNoPage if the tool only reads
// or is none that is allowed.
func (c *Pages) markable(r *http.Request, v *web.Viewer) (m markable, err error) {
	var server string
	name := r.PathValue("name")
	if m.Row, _, err = c.Store.ToolPermission(r.Context(), v.Tenant, name); err != nil {
		return m, err
	}
	if server, _, m.Foreign = tenancy.ServerTool(name); m.Foreign {
		pin := m.Row.Pin
		if pin == nil || !m.Row.Allowed || pin.Access != aggregate.Write {
			return m, web.ErrNoPage
		}
		m.Title, m.Version, m.schema = pin.Title, pin.Version(), string(pin.Input)
		m.Back = serverPath(server) + "#" + name
		m.read(m.Row.Marked(m.Version))
		return m, nil
	}
	tools, err := tool.Builtin()
	if err != nil {
		return m, err
	}
	s, ok := tools.Lookup(name)
	if !ok || s.Access != aggregate.Write || name == tenancy.DecideTool { // its mark is made from the form
		return m, web.ErrNoPage
	}
	m.Title, m.Version, m.schema, m.knows = s.Title(v.Locale), s.Version(), s.InputSchema, s.Knows()
	m.Back = toolsPath + "#" + name
	m.read(m.Row.Marked(m.Version))
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
func arguments(text string) (at []string, all []tool.Member) {
	for _, m := range tool.SchemaMembers(text) {
		if m.Leaf && len(all) < maxArguments {
			m.About = language.Clip(language.OneLine(m.About), 80)
			at, all = append(at, rules.Pointer(m.Path)), append(all, m)
		}
	}
	return at, all
}

// read fills in the form of a mark. Of what the mark names and the schema has no more there is a row, too.
func (m *markable) read(is *rules.Mark) {
	is = cmp.Or(is, &rules.Mark{})
	m.Currency, m.Free, m.Example = cmp.Or(is.Currency, "JPY"), is.How == rules.HowNothing, example(m.schema)
	role := map[string]string{is.CurrencyAt: roleCurrency}
	for _, at := range is.Pointers {
		for name, how := range hows {
			if how == is.How {
				role[at] = name
			}
		}
	}
	labels := web.Each(is.LabelledBy, func(l rules.Label) string { return l.Pointer })
	for _, at := range labels {
		role[at] = roleLabel
	}
	m.At, _ = arguments(m.schema)
	for _, at := range slices.Concat(is.Pointers, []string{is.CurrencyAt}, labels) {
		if at != "" && !slices.Contains(m.At, at) {
			m.At = append(m.At, at)
		}
	}
	m.Role = web.Each(m.At, func(at string) string { return role[at] })
}

// made returns what was filled in as a mark of a tool's version, nil if nothing was, and what no mark can say. What the
// form doesn't have stays.
func (m markable) made() (*rules.Mark, []aggregate.Problem) {
	x := &rules.Mark{}
	if m.Row.Mark != nil {
		*x = *m.Row.Mark
	}
	x.Version, x.How, x.Pointers, x.Currency, x.CurrencyAt, x.LabelledBy = m.Version, "", nil, "", "", nil
	var wrong []aggregate.Problem
	for i, at := range m.At {
		switch how := hows[m.Role[i]]; {
		case how != "":
			if x.How != "" && x.How != how {
				wrong = append(wrong, aggregate.Problem{Field: "mixed"})
			}
			x.How, x.Pointers, x.Currency = how, append(x.Pointers, at), m.Currency
		case m.Role[i] == roleCurrency:
			if x.CurrencyAt != "" {
				wrong = append(wrong, aggregate.Problem{Field: "currency_at"})
			}
			x.CurrencyAt = at
		case m.Role[i] == roleLabel:
			x.LabelledBy = append(x.LabelledBy, rules.Label{Name: m.label(at), Pointer: at})
		}
	}
	if x.CurrencyAt != "" {
		x.Currency = ""
	}
	if reflect.DeepEqual(x, &rules.Mark{Version: m.Version}) && !m.Free {
		return nil, wrong
	}
	if m.Free || !m.Foreign && x.How == rules.HowUnknown {
		x.How = rules.HowNothing
	}
	return x, append(wrong, x.Problems()...)
}

// label returns what rules call the label at a pointer: as they do already, else as the schema calls the argument.
func (m markable) label(at string) string {
	if was := m.Row.Mark; was != nil {
		if i := slices.IndexFunc(was.LabelledBy, func(l rules.Label) bool { return l.Pointer == at }); i >= 0 {
			return was.LabelledBy[i].Name
		}
	}
	pointers, said := arguments(m.schema)
	if i := slices.Index(pointers, at); i >= 0 && rules.IsName(said[i].Title, rules.MaxNamed) {
		return said[i].Title
	}
	path := slices.DeleteFunc(rules.Tokens(at), func(part string) bool { return part == tool.Rows })
	return path[len(path)-1]
}

// saveMark saves the mark that a form has, or shows how arguments are read with it.
func (c *Pages) saveMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	sent := r.PostForm
	m.markForm = markForm{At: sent["at"], Role: sent["role"], Free: sent.Get("free") != "",
		Example: sent.Get("example"), Currency: strings.ToUpper(strings.TrimSpace(sent.Get("currency")))}
	if len(m.At) != len(m.Role) {
		return web.ErrBadForm
	}
	var mark *rules.Mark
	if mark, m.wrong = m.made(); sent.Get("act") != "save" {
		return c.mark(w, r, v, m)
	}
	if m.status = web.Answer(false, len(m.wrong) > 0); m.status > 0 {
		return c.mark(w, r, v, m)
	}
	err := aggregate.ErrConflict
	if web.RevisionOf(sent) == m.Row.Rev && sent.Get("version") == m.Version {
		p := m.Row
		p.Mark = mark
		_, err = c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), m.knows...)
	}
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		m.status = http.StatusConflict
		return c.mark(w, r, v, m)
	case err != nil:
		return err
	}
	return c.Done(w, r, "/console/tools/marks/"+m.Row.ToolName, "saved")
}

// markRow is an argument with what it is for.
type markRow struct {
	At, Shown, Title, About string
	Roles                   []web.Choice
}

func (c *Pages) mark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	t := markTexts{v.Texts("tool-mark")}
	pointers, said := arguments(m.schema)
	for i, at := range m.At {
		row := markRow{At: at, Shown: shownPointer(at)}
		if k := slices.Index(pointers, at); k >= 0 {
			row.Title, row.About = language.ForeignLine(said[k].Title), said[k].About
		}
		row.Roles = web.Each(roles, func(role string) web.Choice {
			return web.Choice{Value: role, Text: t.In("roles", role), Chosen: role == m.Role[i]}
		})
		m.Rows = append(m.Rows, row)
	}
	for _, x := range m.wrong {
		field, _, _ := strings.Cut(x.Field, "[")
		said := web.Fault{Text: cmp.Or(t.In("wrong", field), x.Error())}
		if !slices.Contains(m.Problems, said) {
			m.Problems = append(m.Problems, said)
		}
	}
	if mark, wrong := m.made(); len(wrong) == 0 && m.Example != "" {
		p := m.Row
		p.Mark = mark
		call := p.Call(m.Version, aggregate.Write, aggregate.JSON(m.Example), mark)
		if m.Amount = t.Say("no_amount"); call.Amount != rules.Nothing() {
			m.Amount = explain.Money(v.Locale, call.Amount)
		}
		if !call.Amount.Known() {
			m.Why = t.In("whys", call.Amount.Why)
		}
		for _, name := range slices.Sorted(maps.Keys(call.Labels)) {
			m.Labels = append(m.Labels, language.OneLine(name+": "+strings.Join(call.Labels[name], ", ")))
		}
	}
	title := v.Texts("tools").Say("mark") + ": " + cmp.Or(m.Title, m.Row.ToolName)
	return c.Show(w, r, v, web.Document{Title: title, Here: "tools", Data: m, Status: m.status}, "tools/mark")
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
	path := web.Each(rules.Tokens(pointer), language.Spelled)
	return strings.ReplaceAll(strings.Join(path, " › "), " › "+tool.Rows, "[]")
}

// example returns the first example of a tool's arguments in its schema, "" without one.
func example(input string) string {
	s, _ := tool.ParsedSchema(input).(map[string]any)
	all, _ := s["examples"].([]any)
	if len(all) == 0 {
		return ""
	}
	b, _ := json.Marshal(all[0]) // it was read as JSON
	return web.Indented(string(b))
}
