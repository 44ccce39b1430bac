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

// columns is how many a file for people has.
const columns = 10

// Words are the texts of one language.
type Words struct {
	*texts
	settings map[string]string // their names
	name     func(id string) string
}

// texts are those of a language's file.
type texts struct {
	Locale    string
	Columns   [columns]string
	Ringi     string // who acts when nobody does
	Held      string // what was done where nobody may approve what comes next
	Actions   map[aggregate.Action]string
	Resources map[string]string
	Fields    map[string]string
	Values    map[string]map[string]string // of members that hold a code, by member
}

//go:embed texts
var files embed.FS

var textsIn = language.Read[texts](files, "texts")

// WordsIn are the texts of a locale.
func WordsIn(locale string) Words {
	w := Words{texts: textsIn(locale), settings: map[string]string{}}
	for _, f := range new(tenancy.Settings).Fields() {
		w.settings[f.Name] = f.LogName(w.Locale)
	}
	return w
}

// Actions are all that have words, in their words' order.
func (w Words) Actions() []aggregate.Action {
	return slices.SortedFunc(maps.Keys(w.texts.Actions), func(a, b aggregate.Action) int {
		return strings.Compare(w.texts.Actions[a], w.texts.Actions[b])
	})
}

// Action says what was done. An action of a later release is its name.
func (w Words) Action(a aggregate.Action) string { return cmp.Or(w.texts.Actions[a], string(a)) }

// Did says what an entry records, as Action does. A generation that was put off is not called a failure.
func (w Words) Did(x aggregate.AuditEntry) string {
	var about struct{ Reason aggregate.Reason }
	_ = json.Unmarshal([]byte(x.Details), &about)
	if x.Action == task.AuditGenerationFailed && about.Reason == task.ReasonNobodyApproves {
		return w.Held
	}
	return w.Action(x.Action)
}

// Resource says what it was done to.
func (w Words) Resource(typ string) string { return cmp.Or(w.Resources[typ], typ) }

// Subject says which one it was done to, where its name stands in the entry: an integration or a tool. It is empty for
// others.
func (w Words) Subject(x aggregate.AuditEntry) string {
	var about struct{ Provider, Tool string }
	_ = json.Unmarshal([]byte(x.Details), &about) // an earlier release's entry has other details, or none
	switch x.ResourceType {
	case "integration":
		if about.Provider == "" && x.Action == tenancy.AuditSettingsUpdated {
			about.Provider = x.ResourceID // an app's registration is known by its vendor
		}
		return cmp.Or(vendors[about.Provider], about.Provider)
	case "tool_permission":
		return about.Tool
	}
	return ""
}

// vendors are the names of those whose provider is spelled otherwise.
var vendors = map[string]string{"google": "Google", "slack": "Slack"}

// Field says what a member of an entry's details is about.
func (w Words) Field(name string) string { return cmp.Or(w.settings[name], w.Fields[name], name) }
