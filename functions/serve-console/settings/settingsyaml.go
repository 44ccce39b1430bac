package settings

import (
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
)

// form leaves out the settings that are unique to one workspace.
var form = web.YAMLForm{
	Own: func(name string) bool {
		x, ok := tenancy.SettingNamed(name)
		return ok && x.Own
	},
	Called: map[string]string{
		"aiAgents": "agents", "aiSessions": "ai_sessions", "isDefault": "is_default", "authRef": "auth_ref",
	},
}

// File is settings with where the file says what.
type SettingsFile struct {
	web.YAMLFile
	Settings tenancy.Settings
}

// Write formats the settings as YAML. named returns the name for an id, or "" if unknown; the name becomes a comment
// after the id. about becomes a comment at the top.
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
