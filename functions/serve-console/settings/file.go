package settings

import (
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// file offers the file of settings.
func (c *Pages) file(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	t := settingsTexts{v.Texts("settings")}
	return c.Show(w, r, v, web.Document{Title: t.Say("file"), Here: "settings", Data: t.tabs("file")}, "settings/file")
}

// exportSettings sends the settings as a YAML file; a comment after each id has the name.
func (c *Pages) exportSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, s tenancy.Settings) error {
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		return err
	}
	named := func(id string) string {
		if name := nameOf(&m, id); name != id {
			return name
		}
		return ""
	}
	text, err := WriteYAML(s, v.Texts("settings").Say("about", "workspace", owner.Name), named)
	if err != nil {
		return err
	}
	return web.Attach(w, web.KindYAML, "ringi-settings.yaml", text)
}

type importData struct {
	Rev  int
	Text string
	Seen string // hash of the text whose changes are shown
	web.Faults
	Conflict bool // somebody else saved meanwhile
	Changes  []change
}

// importSettings shows what a file would change, and saves it once confirmed. It refuses people unknown to Slack.
func (c *Pages) importSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, now tenancy.Settings) error {
	text, err := web.YAML(r)
	if err != nil {
		return err
	}
	t := settingsTexts{v.Texts("settings")}
	data := importData{Rev: now.Rev, Text: string(text), Seen: aggregate.HashOf(string(text))}
	file, faults := ReadYAML(text, now)
	if len(faults) == 0 {
		was := now
		if file.Line("approvers.users")+file.Line("approvers.usergroups") > 0 {
			was.Approvers = tenancy.Approvers{} // whom a file names is looked up, whoever stood there
		}
		wrong, err := c.problems(r.Context(), v, was, &file.Settings)
		if err != nil {
			return err
		}
		faults = web.Each(wrong, func(p aggregate.Problem) web.YAMLFault {
			return web.YAMLFault{Problem: p, Line: file.Line(p.Field)}
		})
	}
	data.Faults = web.FaultsOf(web.Each(faults, func(f web.YAMLFault) web.Fault { return t.fault(file, f) }))
	// If the text was edited after its changes were shown, show the new changes first.
	if len(faults) == 0 && r.PostFormValue("act") == "save" && r.PostFormValue("seen") == data.Seen {
		if data.Conflict = web.RevisionOf(r.PostForm) != now.Rev; !data.Conflict {
			if err := c.keep(r, v, now, file.Settings); err != nil {
				return err
			}
			return c.Done(w, r, sectionPath("file"), "saved")
		}
	}
	if len(faults) == 0 {
		m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
		if err != nil {
			return err
		}
		data.Changes = t.changes(&m, tenancy.Differences(now, file.Settings))
	}
	d := web.Document{Title: t.Say("import_title"), Here: "settings", Data: data,
		Came: web.Came{Conflict: data.Conflict, Wrong: len(faults) > 0}}
	return c.Show(w, r, v, d, "settings/import")
}

// fault describes a fault: the line, the setting, and the person's name in the file.
func (t settingsTexts) fault(file SettingsFile, f web.YAMLFault) web.Fault {
	out := web.Fault{Label: t.label(f.Field), Text: t.problem(f.Problem)}
	if f.Line > 0 {
		out.Line = t.Say("line", "n", f.Line)
	}
	if id := idAt(formOf(file.Settings), f.Field); id != "" {
		out.Label += ": " + id
		if name := file.Names[id]; name != "" {
			out.Label += " (" + name + ")"
		}
	}
	return out
}

// asYAML leaves out the settings that are unique to one workspace.
var asYAML = web.YAMLForm{
	Own: func(name string) bool {
		x, ok := tenancy.SettingNamed(name)
		return ok && x.Own
	},
	Called: map[string]string{"aiAgents": "agents", "aiSessions": "ai_sessions", "isDefault": "is_default",
		"authRef": "auth_ref"},
}

// SettingsFile is settings as they are saved, compared or copied to another workspace, with where the file says what.
type SettingsFile struct {
	web.YAMLFile
	Settings tenancy.Settings
}

// WriteYAML formats the settings as YAML. named returns the name for an id, or "" if unknown; the name becomes a
// comment after the id. about becomes a comment at the top.
func WriteYAML(s tenancy.Settings, about string, named func(id string) string) ([]byte, error) {
	return asYAML.Write(s, about, named)
}

// Read applies a file to settings; settings that the file lacks stay as they are. It returns all of the file's faults
// at once, including broken rules of settings. If the file has none, the caller must still check the rules of the
// resulting settings.
func ReadYAML(text []byte, over tenancy.Settings) (SettingsFile, []web.YAMLFault) {
	f := SettingsFile{Settings: over}
	var faults []web.YAMLFault
	f.YAMLFile, faults = asYAML.Read(text, &f.Settings)
	if len(faults) > 0 {
		faults = append(faults, f.broken(faults)...)
		slices.SortStableFunc(faults, func(a, b web.YAMLFault) int { return a.Line - b.Line })
		f.Settings = over
	}
	return f, faults
}

// broken returns the rules of settings that a faulty file's readable values break.
func (f SettingsFile) broken(faults []web.YAMLFault) (all []web.YAMLFault) {
	for _, p := range f.Settings.Problems() {
		known := slices.ContainsFunc(faults, func(f web.YAMLFault) bool {
			rest, ok := strings.CutPrefix(p.Field, f.Field)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if line := f.Line(p.Field); line > 0 && !known {
			all = append(all, web.YAMLFault{Problem: p, Line: line})
		}
	}
	return all
}
