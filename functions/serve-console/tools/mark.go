package tools

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
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
func (c *Pages) markable(ctx context.Context, v *web.Viewer, name string) (m markable, err error) {
	if m.row, _, err = c.Store.ToolPermission(ctx, v.Tenant, name); err != nil {
		return m, err
	}
	if server, _, foreign := tenancy.ServerTool(name); foreign {
		pin := m.row.Pin
		if pin == nil || !m.row.Allowed || pin.Access != aggregate.Write {
			return m, web.ErrNoPage
		}
		m.title, m.version, m.schema = pin.Title, pin.Version(), string(pin.Input)
		m.back = "/console/tools/servers/" + server + "#" + name
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
	chosen := func(name string) []string {
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

// markOutcome says what became of a form.
type markOutcome struct {
	problems []aggregate.ErrField
	conflict bool
}

func (c *Pages) mark(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	m, err := c.markable(r.Context(), v, r.PathValue("name"))
	if err != nil {
		return err
	}
	return c.showMark(w, r, v, m, typedOf(m.row.Marked(m.version), m.schema), markOutcome{})
}

// saveMark saves the mark that a form has, or shows how arguments are read with it.
func (c *Pages) saveMark(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	m, err := c.markable(r.Context(), v, r.PathValue("name"))
	if err != nil {
		return err
	}
	typed, out := typedIn(r), markOutcome{}
	mark := typed.mark(m.version)
	if mark != nil {
		out.problems = append(mark.Problems(), mark.Unsaid(m.schema)...)
	}
	if r.PostForm.Get("act") != "save" || len(out.problems) > 0 {
		return c.showMark(w, r, v, m, typed, out)
	}
	rev, _ := strconv.Atoi(r.PostForm.Get("rev"))
	out.conflict = rev != m.row.Rev || r.PostForm.Get("version") != m.version
	if !out.conflict {
		p := m.row
		p.Mark = mark
		_, err = c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), m.knows...)
		out.conflict = errors.Is(err, aggregate.ErrConflict)
	}
	switch {
	case out.conflict:
		return c.showMark(w, r, v, m, typed, out)
	case err != nil:
		return err
	}
	return c.Done(w, r, "/console/tools/marks/"+m.row.ToolName, "saved")
}

func (c *Pages) showMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable, typed typedMark,
	out markOutcome) error {
	t := markTexts{v.Texts("tool-mark")}
	d := web.Document{Title: t.Say("title"), Here: "tools", Data: t.data(m, typed, out)}
	switch {
	case out.conflict:
		d.Status = http.StatusConflict
	case len(out.problems) > 0 && r.PostForm.Get("act") == "save":
		d.Status = http.StatusUnprocessableEntity
	}
	return c.Show(w, r, v, d, "tool-mark.html")
}
