package settings

import (
	"errors"
	"net/http"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// exportSettings sends the settings as a YAML file; a comment after each id has the name.
func (c *Pages) exportSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	s, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
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

// importData lists a file's changes, or its faults.
type importData struct {
	Rev  int
	Text string
	Seen string // hash of the text whose changes are shown
	web.Faults
	web.Came // Silent: Slack could not be asked who the approvers are
	Changes  []change
	NoGitHub bool // GitHub could not be asked for the sources
	NoFiles  bool // the files of contests could not be checked
	Save     bool // it may be saved
}

// importSettings shows what a file would change, and saves it once confirmed. It refuses ids of people whom Slack
// doesn't know.
func (c *Pages) importSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	text, err := web.YAML(r)
	if err != nil {
		return err
	}
	now, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t := settingsTexts{v.Texts("settings")}
	data := importData{Rev: now.Rev, Text: string(text), Seen: aggregate.HashOf(string(text))}
	file, faults := ReadYAML(text, now)
	if len(faults) == 0 {
		if faults, err = c.faultsOf(r, v, file); errors.Is(err, explain.ErrUnverified) {
			data.Silent, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	if len(faults) == 0 && !data.Silent {
		if faults, err = c.listFile(r, v, now, &file); err != nil {
			data.NoFiles = errors.Is(err, errNoFiles)
			data.NoGitHub = !data.NoFiles
		}
	}
	var wrong []web.Fault
	for _, f := range faults {
		wrong = append(wrong, t.fault(file, f))
	}
	data.Faults = web.FaultsOf(wrong)
	// If the text was edited after its changes were shown, show the new changes first.
	if len(faults) == 0 && !data.Silent && err == nil && r.PostFormValue("act") == "save" && r.PostFormValue("seen") == data.Seen {
		if web.RevisionOf(r.PostForm) == now.Rev {
			return c.saveFile(w, r, v, now, file.Settings)
		}
		data.Conflict = true
	}
	if len(faults) == 0 {
		data.Changes = t.differences(c.members(r, v), tenancy.Differences(now, file.Settings))
	}
	silent := data.Silent || data.NoGitHub || data.NoFiles
	data.Save = len(data.Changes) > 0 && !silent
	came := web.Came{Silent: silent, Conflict: data.Conflict, Wrong: len(faults) > 0}
	d := web.Document{Title: t.Say("import_title"), Here: "settings", Data: data, Status: came.Status()}
	return c.Show(w, r, v, d, "settings-import.html")
}

func (c *Pages) saveFile(w http.ResponseWriter, r *http.Request, v *web.Viewer, now, x tenancy.Settings) error {
	x.SelfApprovalChosen = x.SelfApprovalChosen || x.AllowSelfApproval != now.AllowSelfApproval
	if _, err := c.Store.SaveSettings(r.Context(), v.Tenant, x, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/settings", "saved")
}

// faultsOf returns the rules that a file's values break, including those for approvers.
func (c *Pages) faultsOf(r *http.Request, v *web.Viewer, file SettingsFile) (all []web.YAMLFault, err error) {
	for _, p := range file.Settings.Problems() {
		all = append(all, web.YAMLFault{Problem: p, Line: file.Line(p.Field)})
	}
	s := file.Settings
	if file.Line("direct_approvers.channel") > 0 && len(all) == 0 {
		problems, err := c.unjoined(r.Context(), s)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			all = append(all, web.YAMLFault{Problem: p, Line: file.Line(p.Field)})
		}
	}
	users := slices.Concat(s.Approvers.Users, s.DirectApprovers.Users)
	says := file.Line("approvers.users")+file.Line("approvers.usergroups")+file.Line("direct_approvers.users") > 0
	if !says || len(users)+len(s.Approvers.Usergroups) == 0 || len(all) > 0 {
		return all, nil
	}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		return nil, err
	}
	refused, err := m.Refused(r.Context(), c.Listing, users, s.Approvers.Usergroups)
	if err != nil {
		return nil, err
	}
	for _, p := range approverProblems(s, refused) {
		all = append(all, web.YAMLFault{Problem: p, Line: file.Line(p.Field)})
	}
	return all, nil
}

// listFile lists a file's sources and returns the problems of those that can't be.
func (c *Pages) listFile(r *http.Request, v *web.Viewer, now tenancy.Settings, file *SettingsFile) (
	all []web.YAMLFault, err error) {
	problems, err := c.listable(r.Context(), v, now, &file.Settings)
	for _, p := range problems {
		all = append(all, web.YAMLFault{Problem: p, Line: file.Line(p.Field)})
	}
	return all, err
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
