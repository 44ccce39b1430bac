package auditlog

import (
	"cmp"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// columns is the number of columns of a file for people.
const columns = 10

// Words are the texts of one language.
type Words struct {
	*texts
	settings map[string]string // names of settings
	name     func(id string) string
}

// texts is the content of a language's file.
type texts struct {
	Locale    string
	Columns   [columns]string
	Ringi     string // the actor of entries without a person
	Held      string // a generation that was postponed because nobody may approve its result
	Actions   map[aggregate.Action]string
	Resources map[string]string
	Fields    map[string]string
	Values    map[string]map[string]string // words for codes, by member
}

//go:embed texts
var files embed.FS

var textsIn = language.Catalog[texts]{Files: &files, Folder: "texts"}

// WordsIn returns the texts of a locale.
func WordsIn(locale string) Words {
	w := Words{texts: textsIn.In(locale), settings: map[string]string{}}
	for _, f := range new(tenancy.Settings).Fields() {
		w.settings[f.Name] = f.LogName(w.Locale)
	}
	return w
}

// Actions returns all actions that have words, sorted by these.
func (w Words) Actions() []aggregate.Action {
	return slices.SortedFunc(maps.Keys(w.texts.Actions), func(a, b aggregate.Action) int {
		return strings.Compare(w.texts.Actions[a], w.texts.Actions[b])
	})
}

// Action describes an action. An unknown action is described by its code.
func (w Words) Action(a aggregate.Action) string { return cmp.Or(w.texts.Actions[a], string(a)) }

// Did describes an entry's action. Unlike Action, it does not call a postponed generation a failure.
func (w Words) Did(x aggregate.AuditEntry) string {
	var about struct{ Reason aggregate.Reason }
	_ = json.Unmarshal([]byte(x.Details), &about)
	if x.Action == task.AuditGenerationFailed && about.Reason == task.ReasonNobodyApproves {
		return w.Held
	}
	return w.Action(x.Action)
}

// Resource describes a type of resource.
func (w Words) Resource(typ string) string { return cmp.Or(w.Resources[typ], typ) }

// Subject returns the name of the entry's integration or tool. It is empty for other resources.
func (w Words) Subject(x aggregate.AuditEntry) string {
	var about struct{ Provider, Tool string }
	_ = json.Unmarshal([]byte(x.Details), &about) // other entries have other details or none
	switch x.ResourceType {
	case "integration":
		if about.Provider == "" && x.Action == tenancy.AuditSettingsUpdated {
			about.Provider = x.ResourceID // a vendor's client is named by its vendor
		}
		return cmp.Or(vendors[about.Provider], about.Provider)
	case "tool_permission":
		return about.Tool
	}
	return ""
}

// vendors are names whose spelling differs from the provider's code.
var vendors = map[string]string{"google": "Google", "slack": "Slack"}

// Field describes a member of an entry's details.
func (w Words) Field(name string) string { return cmp.Or(w.settings[name], w.Fields[name], name) }
