package settings

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool/mcp"
	"ringi/shared/words/language"
)

// ServerTools, as mcp.Admin, lists the tools of MCP servers, and allows or forbids them for tasks and contests.
type ServerTools interface {
	Tools(ctx context.Context, tenant, server string) ([]mcp.Listed, error)
	Allow(ctx context.Context, tenant, name, hash string, access aggregate.Access, by aggregate.Actor) error
	Forbid(ctx context.Context, tenant, name string, by aggregate.Actor) error
	ForContests(ctx context.Context, tenant, name, hash string, on bool, by aggregate.Actor) error
}

// serverData shows everything that a server says about its tools, because allowing a tool allows all of that.
type serverData struct {
	Server  tenancy.MCPServer
	Filter  web.Filter
	Problem string // why the act was refused, or why the server doesn't answer
	Tools   []serverTool
	Count   string // how many of how many are shown, where not all are
}

// The page shows so many of a server's tools, with so many bytes of what the server says: the others are searched.
const (
	maxShown     = 100
	maxShownSize = 1 << 20
)

type serverTool struct {
	mcp.Listed
	Stands, Badge string
	About         string // the first sentence of what the server says of it
	Version       string // once it is allowed, for the settings' list of reads
	Says          []saying
	Mark          string // of a write that is on, what its amount is and where it goes
}

// saying is one text that a server sends about a tool, and the text that was allowed if it differs.
type saying struct {
	Label, Is, Was string
	Changed, Code  bool
}

func (c *Pages) server(w http.ResponseWriter, r *http.Request, v *web.Viewer, data serverData) error {
	t := toolsTexts{v.Texts("tools")}
	d := web.Document{Title: t.Say("server") + " " + data.Server.Name, Here: "tools",
		Status: web.Answer(data.Problem != "", false)}
	rows, err := c.Store.ToolPermissions(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	all, err := []mcp.Listed(nil), errors.New("this deployment can't ask servers")
	if c.Servers != nil {
		all, err = c.Servers.Tools(r.Context(), v.Tenant, data.Server.Name)
	}
	if err != nil {
		data.Problem = cmp.Or(data.Problem, t.silence(v.Locale, err))
	}
	for _, x := range data.searched(t, strings.TrimSpace(r.URL.Query().Get("q")), all) {
		data.Tools = append(data.Tools, t.serverTool(x, tenancy.Standing(rows, v.Tenant, x.Name)))
	}
	d.Data = data
	return c.Show(w, r, v, d, "tools/server")
}

// searched returns the tools that are shown: of those that are searched, first the one with that very name, then those
// that were allowed and are off since, then the others that somebody decided on, all by name.
func (d *serverData) searched(t toolsTexts, query string, all []mcp.Listed) (shown []mcp.Listed) {
	d.Filter = web.Filter{Path: serverPath(d.Server.Name), Search: true, Submit: t.Say("filter"),
		Fields: []web.Field{{Name: "q", Label: t.Say("search_label"), Value: query}}}
	all = slices.DeleteFunc(slices.Clone(all), func(x mcp.Listed) bool {
		said := strings.ToLower(x.Name + "\n" + x.Tool.Title + "\n" + x.Tool.Description)
		return !strings.Contains(said, strings.ToLower(query))
	})
	rank := func(x mcp.Listed) int {
		switch {
		case query == x.Name || query == x.Tool.Name:
			return 0
		case x.State == mcp.Changed || x.State == mcp.Gone:
			return 1
		case x.Access != "":
			return 2
		}
		return 3
	}
	slices.SortFunc(all, func(a, b mcp.Listed) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.Name, b.Name))
	})
	size := 0
	for _, x := range all {
		size += len(x.Tool.Description) + len(x.Tool.Input) + len(x.Tool.Output)
		if len(shown) == maxShown || len(shown) > 0 && size > maxShownSize {
			d.Count = t.Say("of_all", "n", len(shown), "all", len(all))
			break
		}
		shown = append(shown, x)
	}
	return shown
}

func serverPath(name string) string { return toolsPath + "/servers/" + name }

// silence says why a server doesn't answer.
func (t toolsTexts) silence(locale string, err error) string {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		return explain.FailedCall(locale, e.Problem, e.Args...)
	}
	return t.Say("silent")
}

func (t toolsTexts) serverTool(x mcp.Listed, p tenancy.ToolPermission) serverTool {
	out, pin := serverTool{Listed: x, Stands: t.In("states", x.State), Badge: badges[x.State]}, p.Pin
	line, _, _ := strings.Cut(strings.TrimSpace(x.Tool.Description), "\n")
	out.About = language.ForeignLine(language.Beginning(explain.Happened(line), mostAbout))
	if x.State == mcp.Off && p.Rev == 0 {
		out.Stands = t.In("states", "undecided")
	}
	if x.Problem != "" {
		out.Problem = t.Problem(aggregate.Problem{Code: x.Problem}, nil)
	}
	if x.State == mcp.On && pin != nil {
		out.Version = pin.Version()
	}
	if x.State == mcp.On && x.Access == aggregate.Write {
		out.Mark = markTexts{web.TextsOf("tool-mark", t.Locale())}.sum(p.Marked(out.Version), out.Version)
	}
	was, at := x.Tool, x.URL
	if x.State == mcp.Changed && pin != nil {
		was = mcp.Tool{Title: pin.Title, Description: pin.Description, Input: string(pin.Input), Output: string(pin.Output)}
		if at = pin.URL; x.Tool.Title == "" && was.Title == x.Tool.Name { // without a title it is kept under its name
			was.Title = ""
		}
	}
	for i, one := range []saying{
		{t.Say("address"), x.URL, at, false, false},
		{t.Say("tool_title"), x.Tool.Title, was.Title, false, false},
		{t.Say("description"), x.Tool.Description, was.Description, false, false},
		{t.Say("arguments"), web.Indented(x.Tool.Input), web.Indented(was.Input), false, true},
		{t.Say("result"), web.Indented(x.Tool.Output), web.Indented(was.Output), false, true},
	} {
		one.Changed = one.Is != one.Was
		if one.Changed || one.Is != "" && i > 1 { // the address and the title stand above
			one.Is, one.Was = spelled(one.Is), spelled(one.Was)
			out.Says = append(out.Says, one)
		}
	}
	return out
}

// mostAbout is how many characters of a tool's description the page shows beside its name.
const mostAbout = 160

var badges = map[mcp.State]string{
	mcp.On: "badge-good", mcp.Changed: "badge-bad", mcp.Gone: "badge-bad", mcp.Unfit: "badge-wait", mcp.Off: "",
}

// spelled spells out invisible characters, but keeps each line's leading spaces.
func spelled(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		lines[i] = line[:len(line)-len(rest)] + language.Spelled(rest)
	}
	return strings.Join(lines, "\n")
}

// decideServerTool allows a tool exactly as it was shown, or forbids it.
func (c *Pages) decideServerTool(w http.ResponseWriter, r *http.Request, v *web.Viewer, d serverData) (err error) {
	t, f := toolsTexts{v.Texts("tools")}, r.PostForm
	refuse := func(why string) error {
		d.Problem = why
		return c.server(w, r, v, d)
	}
	name := f.Get("tool")
	if server, _, ok := tenancy.ServerTool(name); !ok || server != d.Server.Name || c.Servers == nil {
		return refuse(t.Say("refused"))
	}
	access := aggregate.Access(f.Get("effect"))
	switch f.Get("act") {
	case "forbid":
		err = c.Servers.Forbid(r.Context(), v.Tenant, name, v.Actor())
	case "contests", "no-contests":
		err = c.Servers.ForContests(r.Context(), v.Tenant, name, f.Get("hash"), f.Get("act") == "contests", v.Actor())
	case "allow":
		if access != aggregate.Read && access != aggregate.Write {
			return refuse(t.Say("say_effect"))
		}
		err = c.Servers.Allow(r.Context(), v.Tenant, name, f.Get("hash"), access, v.Actor())
	default:
		return refuse(t.Say("refused"))
	}
	var field aggregate.Problem
	switch {
	case errors.Is(err, mcp.ErrChanged), errors.Is(err, aggregate.ErrConflict):
		return refuse(t.Say("changed_now"))
	case errors.As(err, new(*explain.CallError)):
		return refuse(t.silence(v.Locale, err))
	case errors.As(err, &field):
		return refuse(t.Problem(field, nil))
	case err != nil:
		return err
	}
	return c.Done(w, r, serverPath(d.Server.Name), "saved")
}
