package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

type toolsData struct {
	Own     []ownTool
	Servers []serverSum
}

// ownTool is one of Ringi's own tools with the form of its permission.
type ownTool struct {
	Name, Title, About string
	Version            string // for the settings' list of reads
	Write              bool
	Mark               string // of a write, what its amount is and where it goes
	Allowed            bool
	Rev                int
	Open               bool
	Unread             bool // the saved constraints can't be read
	Bounds             []web.Field
	Problems           int
}

// serverSum is an MCP server with the number of its tools that are on, and of those that are off since they changed.
type serverSum struct {
	Name, URL   string
	On, Changed int
}

// typedTool is a form to show again.
type typedTool struct {
	name     string
	form     url.Values
	wrong    map[tenancy.Constraint]bool
	conflict bool
}

func (c *Pages) tools(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	return c.showTools(w, r, v, typedTool{})
}

func (c *Pages) showTools(w http.ResponseWriter, r *http.Request, v *web.Viewer, sent typedTool) error {
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	rows, err := c.Store.ToolPermissions(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	catalog, err := tool.Builtin()
	if err != nil {
		return err
	}
	t := toolsTexts{v.Texts("tools")}
	data := toolsData{Servers: serverSums(settings.MCPServers, rows)}
	for _, s := range catalog.All() {
		data.Own = append(data.Own, t.own(v.Locale, s, tenancy.Standing(rows, v.Tenant, s.Name), sent))
	}
	d := web.Document{Here: "tools", Data: data, Status: web.Answer(sent.conflict, len(sent.wrong) > 0)}
	return c.Show(w, r, v, d, "tools")
}

const toolsPath = "/console/tools"

// own returns a tool with its saved permission or, if the form was sent, with the typed values.
func (t toolsTexts) own(locale string, s tool.Spec, p tenancy.ToolPermission, sent typedTool) ownTool {
	x := ownTool{Name: s.Name, Version: s.Version(), Title: s.Title(locale), About: s.About.In(locale),
		Write: s.Access == aggregate.Write, Allowed: p.Allowed, Rev: p.Rev}
	if x.Write && s.Name != tenancy.DecideTool {
		x.Mark = markTexts{web.TextsOf("tool-mark", locale)}.sum(p.Marked(x.Version), x.Version)
	}
	bounds, err := p.Bounds(s.Knows())
	x.Unread = err != nil
	form := formOfBounds(bounds)
	if sent.name == s.Name {
		form, x.Open, x.Problems = sent.form, true, len(sent.wrong)
		x.Allowed = form.Get("allowed") == "true"
	}
	for _, name := range s.Knows() {
		in := web.Field{Name: string(name), ID: "b-" + s.Name + "-" + string(name), Label: t.In("bound_label", name),
			Hint: t.In("bound_about", name), Value: form.Get(string(name)), Rows: "3"}
		if in.HintID = "a-" + in.ID; name == tenancy.MaxRows {
			in.Rows, in.Mode = "", "numeric"
		}
		if sent.name == s.Name && sent.wrong[name] {
			in.Problems = []web.Fault{{Text: t.In("bound_wrong", name)}}
		}
		x.Bounds = append(x.Bounds, in)
	}
	return x
}

func formOfBounds(c tenancy.Constraints) url.Values {
	f := url.Values{}
	for _, name := range []tenancy.Constraint{tenancy.OnlySpreadsheets, tenancy.OnlyRecipients, tenancy.OnlyDepartments} {
		f.Set(string(name), strings.Join(c.Listed(name), "\n"))
	}
	if c.MaxRows > 0 {
		f.Set(string(tenancy.MaxRows), strconv.Itoa(c.MaxRows))
	}
	return f
}

// boundsOf reads the constraints that a tool has from a form. The second result marks invalid ones.
func boundsOf(form url.Values, knows []tenancy.Constraint) (aggregate.JSON, map[tenancy.Constraint]bool) {
	all, wrong := map[tenancy.Constraint]any{}, map[tenancy.Constraint]bool{}
	for _, name := range knows {
		list := web.Lines(form.Get(string(name)))
		if list == nil {
			continue
		}
		var value any = list
		if name == tenancy.MaxRows {
			if n, err := strconv.Atoi(web.Digits(list[0])); err == nil && len(list) == 1 {
				value = n
			}
		}
		all[name] = value
		one := tenancy.ToolPermission{Constraints: aggregate.Details(map[string]any{string(name): value})}
		if _, err := one.Bounds(knows); err != nil {
			wrong[name] = true
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return "{}", wrong // of texts and numbers
	}
	return aggregate.JSON(b), wrong
}

// saveTool replaces all constraints of a permission with the form's, including saved ones that could not be read.
func (c *Pages) saveTool(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	catalog, err := tool.Builtin()
	if err != nil {
		return err
	}
	spec, ok := catalog.Lookup(r.PathValue("name"))
	if !ok {
		return web.ErrNoPage
	}
	for _, name := range spec.Knows() {
		if !r.PostForm.Has(string(name)) { // an empty input removes a constraint; a missing input is an error
			return aggregate.Problem{Field: string(name), Code: "must be in the form, if only empty"}
		}
	}
	sent := typedTool{name: spec.Name, form: r.PostForm}
	allowed := r.PostForm.Get("allowed")
	bounds, wrong := boundsOf(r.PostForm, spec.Knows())
	if sent.wrong = wrong; len(wrong) > 0 || allowed != "true" && allowed != "false" {
		return c.showTools(w, r, v, sent)
	}
	p, _, err := c.Store.ToolPermission(r.Context(), v.Tenant, spec.Name)
	if err != nil {
		return err
	}
	p.Allowed, p.Constraints, err = allowed == "true", bounds, aggregate.ErrConflict
	if web.RevisionOf(r.PostForm) == p.Rev {
		_, err = c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), spec.Knows()...)
	}
	if errors.Is(err, aggregate.ErrConflict) {
		sent.conflict = true
		return c.showTools(w, r, v, sent)
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, "/console/tools#"+spec.Name, "saved")
}

// serverSums returns the servers of the settings.
func serverSums(servers []tenancy.MCPServer, rows []tenancy.ToolPermission) (all []serverSum) {
	for _, s := range servers {
		sum := serverSum{Name: s.Name, URL: s.URL}
		for _, p := range rows {
			server, _, ok := tenancy.ServerTool(p.ToolName)
			switch {
			case !ok || server != s.Name || !p.Allowed:
			case p.ChangedAt != nil:
				sum.Changed++
			default:
				sum.On++
			}
		}
		all = append(all, sum)
	}
	return all
}

// namedServer returns the page of a server of the settings, or aggregate.ErrNotFound.
func (c *Pages) namedServer(r *http.Request, v *web.Viewer) (d serverData, err error) {
	settings, err := c.Settings(r, v)
	for _, s := range settings.MCPServers {
		if s.Name == r.PathValue("server") {
			d.Server = s
			return d, err
		}
	}
	return d, cmp.Or(err, aggregate.ErrNotFound)
}

type toolsTexts struct{ web.Texts }
