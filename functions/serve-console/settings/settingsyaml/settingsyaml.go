// Package settingsyaml writes a workspace's settings as YAML and reads them back, to save, compare or copy to another
// workspace.
package settingsyaml

import (
	"slices"
	"strings"

	"ringi/functions/serve-console/yamlfile"
	"ringi/shared/domain/tenancy"
)

// form leaves out the settings that are unique to one workspace.
var form = yamlfile.Form{
	Own: func(name string) bool {
		x, ok := tenancy.SettingNamed(name)
		return ok && x.Own
	},
	Called: map[string]string{
		"aiAgents": "agents", "aiSessions": "ai_sessions", "isDefault": "is_default", "authRef": "auth_ref",
	},
}

// File is settings with where the file says what.
type File struct {
	yamlfile.File
	Settings tenancy.Settings
}

// Write formats the settings as YAML. named returns the name for an id, or "" if unknown; the name becomes a comment
// after the id. about becomes a comment at the top.
func Write(s tenancy.Settings, about string, named func(id string) string) ([]byte, error) {
	return form.Write(s, about, named)
}

// Read applies a file to settings; settings that the file lacks stay as they are. It returns all of the file's faults
// at once, including broken rules of settings. If the file has none, the caller must still check the rules of the
// resulting settings.
func Read(text []byte, over tenancy.Settings) (File, []yamlfile.Fault) {
	f := File{Settings: over}
	var faults []yamlfile.Fault
	f.File, faults = form.Read(text, &f.Settings)
	if len(faults) > 0 {
		faults = append(faults, f.broken(faults)...)
		slices.SortStableFunc(faults, func(a, b yamlfile.Fault) int { return a.Line - b.Line })
		f.Settings = over
	}
	return f, faults
}

// broken returns the rules of settings that a faulty file's readable values break.
func (f File) broken(faults []yamlfile.Fault) (all []yamlfile.Fault) {
	for _, p := range f.Settings.Problems() {
		known := slices.ContainsFunc(faults, func(f yamlfile.Fault) bool {
			rest, ok := strings.CutPrefix(p.Field, f.Field)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if line := f.Line(p.Field); line > 0 && !known {
			all = append(all, yamlfile.Fault{Problem: p, Line: line})
		}
	}
	return all
}
