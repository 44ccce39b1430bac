package settings

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// exportSettings sends the settings and the rules as a YAML file; a comment after each id has the name.
func (c *Pages) exportSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, s tenancy.Settings) error {
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		return err
	}
	named := func(id string) string { return nameOf(&m, id) }
	x, _, err := c.ruled(r.Context(), v)
	if err != nil {
		return err
	}
	text, err := WriteYAML(s, x, v.Texts("settings").Say("about", "workspace", owner.Name), named)
	if err != nil {
		return err
	}
	return web.Attach(w, r, "application/yaml", "ringi-settings.yaml", text)
}

type importData struct {
	Text   string
	Faults []web.Fault
}

// importSettings saves a file, or says what is wrong with it. It refuses people unknown to Slack.
func (c *Pages) importSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, now tenancy.Settings) error {
	text, err := web.YAML(r)
	if err != nil {
		return err
	}
	ruled, rev, err := c.ruled(r.Context(), v)
	if err != nil {
		return err
	}
	tools, err := c.KnownTools(r.Context(), v)
	if err != nil {
		return err
	}
	file, faults := ReadYAML(text, now, ruled)
	if len(faults) == 0 && len(file.Rules) > 0 {
		faults = file.located((&rules.Rules{Rules: file.Rules}).Problems(web.KnownToRules(tools)))
	}
	if len(faults) == 0 {
		was := now
		if file.Line("approvers.users")+file.Line("approvers.usergroups") > 0 {
			was.Approvers = tenancy.Approvers{} // whom a file names is looked up, whoever stood there
		}
		wrong, err := c.problems(r.Context(), v, was, &file.Settings)
		if err != nil {
			return err
		}
		faults = file.located(wrong)
	}
	if len(faults) > 0 {
		t, form := settingsTexts{v.Texts("settings")}, formOf(file.Settings)
		said := web.Each(faults, func(f mistake) web.Fault { return t.fault(form, f) })
		d := web.Document{Title: t.Say("import"), Here: "settings", Status: web.Answer(false, true),
			Data: importData{string(text), said}}
		return c.Show(w, r, v, d, "settings/import")
	}
	if err = c.keep(r, v, file.Settings); err == nil && !web.Alike(ruled, file.Rules) {
		_, _, err = c.Store.SaveRules(r.Context(), v.Tenant, &rules.Rules{Rules: file.Rules}, rev, web.KnownToRules(tools),
			v.Actor(), c.Now())
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, settingsPath, "saved")
}

// fault describes a fault: the line, the setting, and the person's id.
func (t settingsTexts) fault(form url.Values, f mistake) web.Fault {
	out := web.Fault{Label: t.label(f.Field), Text: t.problem(f.Problem)}
	if f.Line > 0 {
		out.Line = t.Say("line", "n", f.Line)
	}
	if id := idAt(form, f.Field); id != "" {
		out.Label += ": " + id
	}
	return out
}

// said is what a file says.
type said struct {
	tenancy.Settings
	Rules []rules.Rule `json:"rules,omitempty"`
}

// ruled returns the tenant's rules with their revision.
func (c *Pages) ruled(ctx context.Context, v *web.Viewer) ([]rules.Rule, int, error) {
	x, rev, err := c.Store.Rules(ctx, v.Tenant)
	if x == nil {
		return nil, rev, err
	}
	return x.Rules, rev, err
}

// located returns problems with their lines.
func (f SettingsFile) located(all aggregate.Problems) []mistake {
	return web.Each(all, func(p aggregate.Problem) mistake { return mistake{Problem: p, Line: f.Line(p.Field)} })
}

// WriteYAML formats settings and rules as YAML. named returns the name for an id, which becomes a comment after
// it, or a text as it is. about becomes a comment at the top.
func WriteYAML(s tenancy.Settings, x []rules.Rule, about string, named func(id string) string) ([]byte, error) {
	return write(said{s, x}, about, named)
}

// ReadYAML applies a file to settings and rules; what the file lacks stays as it is, and a rule without an id gets one.
// It returns all of the file's faults at once, including broken rules of settings. If the file has none, the caller
// must still check the rules of the resulting settings.
func ReadYAML(text []byte, over tenancy.Settings, x []rules.Rule) (SettingsFile, []mistake) {
	into := said{over, slices.Clone(x)}
	f, faults := read(text, &into)
	f.Settings, f.Rules = into.Settings, into.Rules
	for i := range f.Rules {
		f.Rules[i].ID = cmp.Or(f.Rules[i].ID, aggregate.NewID())
	}
	if len(faults) > 0 {
		faults = append(faults, f.broken(faults)...)
		slices.SortStableFunc(faults, func(a, b mistake) int { return a.Line - b.Line })
		f.Settings = over
	}
	return f, faults
}

// broken returns the rules of settings that a faulty file's readable values break.
func (f SettingsFile) broken(faults []mistake) (all []mistake) {
	for _, p := range f.Settings.Problems() {
		known := slices.ContainsFunc(faults, func(f mistake) bool {
			rest, ok := strings.CutPrefix(p.Field, f.Field)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if line := f.Line(p.Field); line > 0 && !known {
			all = append(all, mistake{Problem: p, Line: line})
		}
	}
	return all
}
