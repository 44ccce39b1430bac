package settings

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// markable is a tool that writes, as it may be called now.
type markable struct {
	row            tenancy.ToolPermission
	title, version string
	schema         string
	back           string // the page that lists the tool
	knows          []tenancy.Constraint
}

// markable returns a tool whose amount and destinations can be marked. It returns ErrNoPage if the tool only reads or
// is none that is allowed.
func (c *ToolPages) markable(r *http.Request, v *web.Viewer) (m markable, err error) {
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
	catalog, err := tool.Builtin()
	if err != nil {
		return m, err
	}
	s, ok := catalog.Lookup(name)
	if !ok || s.Access != aggregate.Write {
		return m, web.ErrNoPage
	}
	m.title, m.version, m.schema, m.knows = s.Title(v.Locale), s.Version(), s.InputSchema, s.Knows()
	m.back = "/console/tools#" + name
	return m, nil
}

// typedMark is a mark as a form has it, with arguments to try it on.
type typedMark struct {
	How, Currency          string
	Pointers, Destinations []string
	Units, Asides          []string
	Example                string
}

func typedOf(m *rules.Mark, schema string) typedMark {
	t := typedMark{Currency: "JPY", Example: example(schema)}
	if m != nil {
		t.How, t.Pointers, t.Destinations = string(m.How), m.Pointers, m.Destinations
		t.Units, t.Asides = m.Units, m.Asides
		if m.Currency != "" {
			t.Currency = m.Currency
		}
	}
	return t
}

func typedIn(r *http.Request) typedMark {
	chosen := func(name string) []string { // a value that is chosen twice is refused
		return slices.DeleteFunc(slices.Clone(r.PostForm[name]), func(s string) bool { return s == "" })
	}
	return typedMark{
		How: r.PostForm.Get("how"), Currency: strings.ToUpper(strings.TrimSpace(r.PostForm.Get("currency"))),
		Pointers: chosen("pointer"), Destinations: chosen("destination"), Units: chosen("unit"),
		Asides: chosen("aside"), Example: r.PostForm.Get("example"),
	}
}

// mark returns what was typed as a mark of a tool's version, nil if nothing was marked.
func (t typedMark) mark(version string) *rules.Mark {
	m := &rules.Mark{
		Version: version, How: rules.How(t.How), Pointers: t.Pointers, Destinations: t.Destinations,
	}
	if m.How != rules.HowUnknown && m.How != rules.HowNothing {
		m.Currency, m.Units, m.Asides = t.Currency, t.Units, t.Asides
	}
	if m.How == rules.HowUnknown && len(m.Pointers)+len(m.Destinations) == 0 {
		return nil
	}
	return m
}

func (c *ToolPages) mark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	return c.showMark(w, r, v, m, typedOf(m.row.Marked(m.version), m.schema), nil, false)
}

// saveMark saves the mark that a form has, or shows how arguments are read with it.
func (c *ToolPages) saveMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	typed := typedIn(r)
	mark := typed.mark(m.version)
	var wrong []aggregate.ErrField
	if mark != nil {
		wrong = append(mark.Problems(), mark.Unsaid(m.schema)...)
	}
	if r.PostForm.Get("act") != "save" || len(wrong) > 0 {
		return c.showMark(w, r, v, m, typed, wrong, false)
	}
	if web.RevisionOf(r.PostForm) != m.row.Rev || r.PostForm.Get("version") != m.version {
		return c.showMark(w, r, v, m, typed, nil, true)
	}
	p := m.row
	p.Mark = mark
	_, err := c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), m.knows...)
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		return c.showMark(w, r, v, m, typed, nil, true)
	case err != nil:
		return err
	}
	return c.Done(w, r, "/console/tools/marks/"+m.row.ToolName, "saved")
}

func (c *ToolPages) showMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable, typed typedMark,
	wrong []aggregate.ErrField, conflict bool) error {
	t := markTexts{v.Texts("tool-mark")}
	data := t.data(m, typed, wrong)
	data.Came = web.Came{Conflict: conflict, Wrong: len(wrong) > 0}
	d := web.Document{Title: t.Say("title"), Here: "tools", Data: data}
	if r.PostForm.Get("act") == "save" {
		d.Status = data.Status()
	}
	return c.Show(w, r, v, d, "tools/mark")
}
