package settings

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

func formOf(s tenancy.Settings) url.Values {
	form := url.Values{}
	for _, f := range s.Fields() {
		switch {
		case !f.OnPage():
		case f.Kind == tenancy.KindRows:
		case hourly(f.Name):
			n, of := int(f.Value.Int()), 1
			if n > day && n%day == 0 {
				of = day
			}
			form.Set(f.Name, strconv.Itoa(n/of))
			form.Set(f.Name+unit, strconv.Itoa(of))
		case f.Kind == tenancy.KindPeople, f.Kind == tenancy.KindGroups:
			form[f.Name] = slices.Clone(f.Value.Interface().([]string))
		case f.Kind == tenancy.KindDollars:
			form.Set(f.Name, strconv.FormatFloat(f.Value.Float(), 'f', -1, 64))
		default:
			form.Set(f.Name, fmt.Sprint(f.Value.Interface()))
		}
	}
	addRows(form, s)
	return form
}

// A setting in hours has a second input, whose name ends in unit: the hours of what is typed, 1 or those of a day.
const (
	unit = ".in"
	day  = 24
)

func hourly(name string) bool { return strings.HasSuffix(name, "_hours") }

// hoursOf returns how many hours a form says.
func hoursOf(form url.Values, name string) (int, error) {
	n, err := strconv.Atoi(web.Digits(strings.TrimSpace(form.Get(name))))
	if form.Get(name+unit) == strconv.Itoa(day) {
		if n > math.MaxInt/day || n < -math.MaxInt/day {
			return n, strconv.ErrRange
		}
		n *= day
	}
	return n, err
}

// sentForm returns a form with one value of each flag, since the box is sent before what stands for no, and one of each
// row. Whatever a language calls everybody is what is saved for it.
func sentForm(form url.Values) url.Values {
	for list := range rowsLists {
		if name := linesOf(list); form.Has(name) {
			form[name] = append(web.Lines(strings.Join(form[name], "\n")), "") // which says that it was asked
		}
	}
	for name, values := range form {
		for _, locale := range language.All {
			called := web.TextsOf("settings", locale).In("columns", name+"="+agent.Everybody)
			for i, text := range values {
				if called != "" && strings.TrimSpace(text) == called {
					values[i] = agent.Everybody
				}
			}
		}
		if x, ok := tenancy.SettingNamed(name); ok && x.Kind == tenancy.KindFlag && len(values) > 1 {
			form[name] = values[:1]
		}
	}
	return form
}

// typed applies a form to settings and returns all problems. Settings that the form lacks stay as they are.
func typed(form url.Values, over tenancy.Settings) (tenancy.Settings, aggregate.Problems) {
	s := over
	unread := map[string]string{}
	for _, f := range s.Fields() {
		if form.Has(f.Name) && f.OnPage() {
			if rule := typedOver(f, form); rule != "" {
				unread[f.Name] = rule
			}
		}
	}
	typedRows(form, &s)
	return s, problemsOf(s, unread)
}

// typedOver sets one setting from the form. If the value can't be read it returns the rule that the value breaks.
func typedOver(f tenancy.Field, form url.Values) string {
	text := strings.TrimSpace(form.Get(f.Name))
	switch f.Kind {
	case tenancy.KindFlag:
		f.Value.SetBool(form.Get(f.Name) == "true")
		if form.Get(f.Name) != "true" && form.Get(f.Name) != "false" {
			return "flag"
		}
	case tenancy.KindWhole:
		n, err := hoursOf(form, f.Name) // of others than hours: what is typed
		if f.Value.SetInt(int64(n)); err != nil {
			return "whole"
		}
	case tenancy.KindDollars:
		x, err := strconv.ParseFloat(web.Digits(text), 64)
		if f.Value.SetFloat(x); err != nil {
			return "number"
		}
	case tenancy.KindText, tenancy.KindChoice:
		f.Value.SetString(text)
	case tenancy.KindPeople, tenancy.KindGroups:
		f.Value.Set(reflect.ValueOf(append([]string{}, web.Ticked(form[f.Name])...)))
	}
	return ""
}

// problemsOf returns the problems of settings. A value that could not be read has only the problem in unread.
func problemsOf(s tenancy.Settings, unread map[string]string) (all aggregate.Problems) {
	for _, section := range tenancy.Sections {
		for _, x := range section.Settings {
			if rule := unread[x.Name]; rule != "" {
				all = append(all, aggregate.Problem{Field: x.Name, Code: rule})
			}
		}
	}
	for _, p := range s.Problems() {
		if unread[p.Field] == "" {
			all = append(all, p)
		}
	}
	return all
}

// alike compares the values of an input, ignoring empty ones.
func alike(a, b []string) bool {
	return slices.Equal(filled(a), filled(b))
}

func filled(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.TrimSpace(v) == "" })
}

// exportSettings sends the settings as a YAML file; a comment after each id has the name.
func (c *Pages) exportSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, s tenancy.Settings) error {
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	m := c.members(r, v)
	named := func(id string) string {
		if name := nameOf(m, id); name != id {
			return name
		}
		return "" // without Slack, ids stand alone
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
	Unasked  string
	Conflict bool // somebody else saved meanwhile
	Changes  changes
	Save     bool // it may be saved
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
		faults, err = c.faultsOf(r.Context(), v, now, &file)
		if data.Unasked = t.unasked(r.Context(), err); err != nil && data.Unasked == "" {
			return err
		}
	}
	silent := data.Unasked != ""
	data.Faults = web.FaultsOf(web.Each(faults, func(f web.YAMLFault) web.Fault { return t.fault(file, f) }))
	// If the text was edited after its changes were shown, show the new changes first.
	if len(faults) == 0 && !silent && r.PostFormValue("act") == "save" && r.PostFormValue("seen") == data.Seen {
		if data.Conflict = web.RevisionOf(r.PostForm) != now.Rev; !data.Conflict {
			if err := c.keep(r, v, now, file.Settings); err != nil {
				return err
			}
			return c.Done(w, r, "/console/settings/history", "saved")
		}
	}
	if len(faults) == 0 {
		data.Changes = t.changes(c.members(r, v), tenancy.Differences(now, file.Settings))
	}
	data.Save = len(data.Changes.All) > 0 && !silent
	d := web.Document{Title: t.Say("import_title"), Here: "settings", Data: data,
		Came: web.Came{Silent: silent, Conflict: data.Conflict, Wrong: len(faults) > 0}}
	return c.Show(w, r, v, d, "settings/import")
}

// faultsOf returns the rules that a file's values break: first those of settings, then those for the approvers whom the
// file names, then those for what others must be asked about.
func (c *Pages) faultsOf(ctx context.Context, v *web.Viewer, now tenancy.Settings, file *SettingsFile) (
	all []web.YAMLFault, err error) {
	s := &file.Settings
	problems := s.Problems()
	if len(problems) == 0 {
		var users, groups []string
		if file.Line("approvers.users")+file.Line("approvers.usergroups") > 0 {
			users, groups = s.Approvers.Users, s.Approvers.Usergroups
		}
		problems, err = c.unfit(ctx, v, *s, users, groups)
	}
	if err == nil && len(problems) == 0 {
		problems, err = c.listable(ctx, v, now, s)
	}
	return web.Each(problems, func(p aggregate.Problem) web.YAMLFault {
		return web.YAMLFault{Problem: p, Line: file.Line(p.Field)}
	}), err
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

// form leaves out the settings that are unique to one workspace.
var form = web.YAMLForm{
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
	return form.Write(s, about, named)
}

// Read applies a file to settings; settings that the file lacks stay as they are. It returns all of the file's faults
// at once, including broken rules of settings. If the file has none, the caller must still check the rules of the
// resulting settings.
func ReadYAML(text []byte, over tenancy.Settings) (SettingsFile, []web.YAMLFault) {
	f := SettingsFile{Settings: over}
	var faults []web.YAMLFault
	f.YAMLFile, faults = form.Read(text, &f.Settings)
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
