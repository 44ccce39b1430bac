package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

var resourceForm = language.Regexp{Text: `^[A-Za-z0-9_.:-]{0,64}$`}

// MayBeResource reports whether an entry's resource may have this id; "" is every one.
func MayBeResource(id string) bool { return resourceForm.Get().MatchString(id) }

// Row returns an entry as a file for spreadsheets has it, below Columns.
func (w LogWords) Row(x aggregate.AuditEntry) []string {
	return []string{localTime(aggregate.TimeText(x.Timestamp)), cmp.Or(x.ActorID, w.Ringi), w.Did(x), string(x.Action),
		w.Resource(x.ResourceType), x.ResourceID, x.AggregateID, string(x.Details), aggregate.TimeText(x.Timestamp), x.ID}
}

// LogDetail is one line of an entry's details: a name and a text.
type LogDetail struct{ Name, Text string }

// LogChange is a changed setting: what the settings' pages call it, and its values before and after, a row of several
// parts with a line for each.
type LogChange struct {
	Name    string
	Was, Is []string
}

// in returns the change in a line. Briefly, a row is its first part without what that is called.
func (c LogChange) in(briefly bool) string {
	line := func(values []string) string {
		all := slices.Clone(values)
		for i, v := range all {
			if first, _, row := strings.Cut(v, "\n"); row && briefly {
				_, all[i], _ = strings.Cut(first, ": ")
			}
		}
		yaml := strings.NewReplacer(":\n  - ", ": ", "\n  - ", ", ", "\n", " · ")
		return cmp.Or(yaml.Replace(strings.Join(all, ", ")), "—")
	}
	was, is := line(c.Was), line(c.Is)
	if was == is {
		return is
	}
	return was + " → " + is
}

// maxDetails is how many lines of an entry are shown; the export has all.
const maxDetails = 200

// Details returns the members of an entry's details as lines, by name. A nested member has both names. name returns a
// person's name, or "" if it is unknown.
func (w LogWords) Details(x aggregate.AuditEntry, name func(id string) string) []LogDetail {
	all, err := detailsOf(x.Details)
	if err != nil {
		if x.Details == "" || x.Details == "null" {
			return nil
		}
		return []LogDetail{{"", string(x.Details)}} // no object: it is shown as it stands
	}
	if name != nil {
		w.name = func(id string) string {
			if called := name(id); called != "" && called != id {
				return called + " (" + id + ")"
			}
			return id
		}
	}
	w.changed = w.toldOf(x)
	out := w.flat(nil, "", all)
	return out[:min(len(out), maxDetails)]
}

// toldOf returns the changes of settings that have the words of the settings' pages.
func (w LogWords) toldOf(x aggregate.AuditEntry) map[string]LogChange {
	if w.Told == nil || x.Action != tenancy.AuditSettingsUpdated {
		return nil
	}
	return w.Told(x.Details)
}

func detailsOf(details aggregate.JSON) (all map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(string(details)))
	d.UseNumber()
	return all, d.Decode(&all)
}

// telling are the members that Briefly says, in their order; those of unnamed are said without their names.
var (
	telling = []string{"changes", "reason", "why", "error", "principal", "hand", "from", "until", "allowed", "constraints",
		"contests", "mark", "rule", "added_rules", "changed", "removed", "type", "agent", "teams", "best_team", "best_score",
		"people", "kind"}
	unnamed = []string{"reason", "why", "error", "kind", "type"}
)

// Briefly says the most telling members of an entry's details in a line; it is empty if there are none.
func (w LogWords) Briefly(x aggregate.AuditEntry, name func(id string) string) string {
	all, _ := detailsOf(x.Details) // details that are no object tell nothing briefly
	var parts []string
	w.name, w.changed, w.briefly = name, w.toldOf(x), true
	for _, member := range telling {
		v, there := all[member]
		if is, nested := v.(map[string]any); nested && is["name"] != nil {
			v = is["name"]
		}
		switch is, nested := v.(map[string]any); {
		case !there || v == "":
		case nested:
			delete(is, "version") // of what a mark is for: only a hash
			lines := w.flat(nil, "", is)
			for i, d := range lines {
				if rest := len(lines) - i; w.changed != nil && i == mostChanges && rest > 1 {
					parts = append(parts, language.Fill(w.More, "n", rest))
					break
				}
				parts = append(parts, d.Name+": "+d.Text)
			}
		case slices.Contains(unnamed, member):
			parts = append(parts, w.said(member, v))
		default:
			parts = append(parts, w.Field(member)+": "+w.said(member, v))
		}
	}
	return language.Clip(language.OneLine(strings.Join(parts, " · ")), mostBriefly)
}

const (
	// mostBriefly is how many characters a line has at most.
	mostBriefly = 160
	// mostChanges is how many changes of settings it names.
	mostChanges = 3
)

func (w LogWords) flat(out []LogDetail, above string, members map[string]any) []LogDetail {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		label := w.Field(name)
		if above != "" {
			label = above + " › " + label
		}
		switch v := members[name].(type) {
		case map[string]any:
			if c, told := w.changed[name]; told {
				out = append(out, LogDetail{label, c.in(w.briefly)})
				continue
			}
			if was, is, ok := w.change(name, v); ok {
				out = append(out, LogDetail{label, was + " → " + is})
				continue
			}
			out = w.flat(out, label, v)
		case []any:
			if name == namesOfFields {
				v = w.named(v)
			}
			out = append(out, LogDetail{label, w.said(name, v)})
		default:
			out = append(out, LogDetail{label, w.said(name, v)})
		}
	}
	return out
}

// namesOfFields is the member that lists the changed fields.
const namesOfFields = "fields"

func (w LogWords) named(fields []any) (all []any) {
	for _, name := range fields {
		if text, ok := name.(string); ok {
			name = w.Field(text)
		}
		all = append(all, name)
	}
	return all
}

// change returns a field's old and new value if an entry has both and nothing else.
func (w LogWords) change(field string, members map[string]any) (was, is string, ok bool) {
	before, one := members["was"]
	after, two := members["is"]
	setting, _ := tenancy.SettingNamed(field)
	said := func(v any) string {
		if i := slices.Index(setting.Choices, fmt.Sprint(v)); i >= 0 {
			return setting.Says(w.Locale).Choices[i]
		}
		return cmp.Or(w.said("was", v), "—")
	}
	return said(before), said(after), one && two && len(members) == 2
}

// slackID matches Slack's ids of people and channels.
var slackID = language.Regexp{Text: `^[UWC][A-Z0-9]{5,20}$`}

// said returns a member's value with codes as words and ids as people's names.
func (w LogWords) said(member string, v any) string {
	switch v := v.(type) {
	case []any:
		logTexts := make([]string, len(v))
		for i, x := range v {
			logTexts[i] = w.said(member, x)
		}
		return strings.Join(logTexts, ", ")
	case string:
		if text, ok := w.Values[member][v]; ok {
			return text
		}
		if text, ok := tenancy.ActionsCalled(w.Locale)[tenancy.ActionType(v)]; ok && member == "type" {
			return text
		}
		if text, ok := KnownEnd(w.Locale, v); ok && member == "reason" {
			return text
		}
		if text := actionWordsOf.In(w.Locale).Reasons[aggregate.Reason(v)]; member == "error" && text != "" {
			return text
		}
		if member == "tool" {
			return w.Tool(v)
		}
		if member == "provider" {
			return Provider(v).Called(w.Locale)
		}
		if strings.HasPrefix(v, "/") && (member == "pointers" || member == "currency_at") {
			return language.OneLine(strings.Join(rules.Tokens(strings.ReplaceAll(v, "/*", "")), PathSign))
		}
		if w.name != nil && slackID.Get().MatchString(v) {
			return cmp.Or(w.name(v), v)
		}
	case bool:
		return map[bool]string{true: w.Yes, false: w.No}[v]
	case map[string]any:
		var parts []string
		for _, d := range w.flat(nil, "", v) {
			parts = append(parts, d.Name+": "+d.Text)
		}
		return strings.Join(parts, " · ")
	}
	return logValue(v)
}

// localTime converts a time to the zone of the entries' times. Other texts are not changed.
func localTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.In(tenancy.Zone()).Format("2006-01-02 15:04:05")
}

// logValue returns a value as text: times in the page's zone, a dash for an empty or missing value.
func logValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "—"
	case string:
		return cmp.Or(localTime(v), "—")
	}
	return fmt.Sprint(v)
}

// logColumns is how many columns a file for people has.
const logColumns = 10

// LogWords are the texts of one language.
type LogWords struct {
	*logTexts
	// Told returns the changes in an entry's details by their fields, in the words of the settings' pages; nil: the
	// log's own words are used.
	Told     func(details aggregate.JSON) map[string]LogChange
	settings map[string]string // names of settings
	name     func(id string) string
	changed  map[string]LogChange // of the entry
	briefly  bool
}

// logTexts is the content of a language's file.
type logTexts struct {
	Locale    string
	Columns   [logColumns]string
	Ringi     string // the actor of entries without a person
	Yes, No   string // flags
	More      string // of how many changes nothing is said
	Held      string // a generation that was postponed because nobody may approve its result
	Rejected  string // a request that ended because something of it was rejected
	OfForm    string // what a form says is the policy, which nobody approves
	Actions   map[aggregate.Action]string
	Resources map[string]string
	Fields    map[string]string
	Values    map[string]map[string]string // words for codes, by member
}

var logTextsIn = language.Catalog[logTexts]{Files: &texts, Folder: "texts/log"}

// LogWordsIn returns the texts of a locale.
func LogWordsIn(locale string) LogWords {
	w := LogWords{logTexts: logTextsIn.In(locale), settings: map[string]string{}}
	for _, f := range new(tenancy.Settings).Fields() {
		w.settings[f.Name] = f.Says(w.Locale).Label
	}
	return w
}

// Actions returns all actions that have words, sorted by these.
func (w LogWords) Actions() []aggregate.Action {
	return slices.SortedFunc(maps.Keys(w.logTexts.Actions), func(a, b aggregate.Action) int {
		return strings.Compare(w.logTexts.Actions[a], w.logTexts.Actions[b])
	})
}

// Action describes an action. An unknown action is described by its code.
func (w LogWords) Action(a aggregate.Action) string { return cmp.Or(w.logTexts.Actions[a], string(a)) }

// Did describes an entry's action. Unlike Action, it does not call a postponed generation a failure, tells an end by
// rejection from one that somebody wanted, and says that a form, not a person, is what a policy goes by.
func (w LogWords) Did(x aggregate.AuditEntry) string {
	var about struct {
		Reason aggregate.Reason
		Form   bool `json:"by_form"`
	}
	_ = json.Unmarshal([]byte(x.Details), &about)
	switch {
	case about.Form && x.Action == task.AuditPromptApproved:
		return w.OfForm
	case x.Action == task.AuditGenerationFailed && about.Reason == task.ReasonNobodyApproves:
		return w.Held
	case x.Action == task.AuditTaskCancelled && slices.Contains(task.ByRejection, about.Reason):
		return w.Rejected
	}
	return w.Action(x.Action)
}

// Resource describes a type of resource.
func (w LogWords) Resource(typ string) string { return cmp.Or(w.Resources[typ], typ) }

// Subject returns the name of the entry's integration or tool. It is empty for other resources.
func (w LogWords) Subject(x aggregate.AuditEntry) string {
	var about struct{ Provider, Tool string }
	_ = json.Unmarshal([]byte(x.Details), &about) // other entries have other details or none
	switch x.ResourceType {
	case "integration":
		if about.Provider == "" && x.Action == tenancy.AuditSettingsUpdated {
			about.Provider = x.ResourceID // a vendor's client is named by its vendor
		}
		return Provider(about.Provider).Called(w.Locale)
	case "tool_permission":
		return w.Tool(about.Tool)
	}
	return ""
}

// Tool returns what people call one of Ringi's own tools, with its name. Another one has only its name.
func (w LogWords) Tool(name string) string {
	if f, own := tenancy.OwnToolNamed(name); own {
		return f.Title.In(w.Locale) + " (" + name + ")"
	}
	return name
}

// Field describes a member of an entry's details: a field, a tool, or a row by its key.
func (w LogWords) Field(name string) string {
	parts := strings.Split(name, "#")
	if w.Fields[parts[0]] == "" {
		return cmp.Or(w.changed[name].Name, w.settings[name], w.Tool(name))
	}
	for i, number := range parts[1:] {
		parts[i+1] = strings.TrimLeft(number, "0")
	}
	return strings.Join(append([]string{w.Fields[parts[0]]}, parts[1:]...), " ")
}
