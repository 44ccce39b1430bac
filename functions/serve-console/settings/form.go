package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/words/language"
)

// formOf returns the inputs of settings. A list of rows is YAML, as in the file of settings.
func formOf(s tenancy.Settings) url.Values {
	form := url.Values{}
	for _, f := range s.Fields() {
		switch f.Kind {
		case tenancy.KindRows:
			form.Set(f.Name, written(f.Value.Interface()))
		case tenancy.KindPeople, tenancy.KindGroups:
			form[f.Name] = slices.Clone(f.Value.Interface().([]string))
		case tenancy.KindDollars:
			form.Set(f.Name, strconv.FormatFloat(f.Value.Float(), 'f', -1, 64))
		default:
			form.Set(f.Name, fmt.Sprint(f.Value.Interface()))
		}
	}
	return form
}

// written returns rows as YAML, "" if there are none.
func written(rows any) string {
	text, err := write(rows, "", func(id string) string { return id })
	if err != nil || string(text) == "[]\n" {
		return ""
	}
	return string(text)
}

// briefly says each row of YAML by its first three fields, with names instead of ids and without hashes of versions.
func briefly(text string, named func(id string) string) []string {
	var rows []yaml.Node
	_ = yaml.Unmarshal([]byte(text), &rows) // else its problem is shown
	return web.Each(rows, func(row yaml.Node) string {
		var said []string
		for i := 1; i < len(row.Content) && len(said) < 3; i += 2 {
			each := append(row.Content[i].Content, row.Content[i]) // of a list, which has no value of its own
			text := web.Joined(each, func(n *yaml.Node) string { return named(n.Value) }, ", ")
			if text = strings.TrimSuffix(text, ", "); text != "" && row.Content[i-1].Value != "version" {
				said = append(said, text)
			}
		}
		return language.ForeignLine(strings.Join(said, " · "))
	})
}

// typed applies a form to settings, and returns what can't be read. Settings that the form lacks stay as they are.
func typed(form url.Values, over tenancy.Settings) (s tenancy.Settings, bad aggregate.Problems) {
	s = over
	for _, f := range s.Fields() {
		if !form.Has(f.Name) {
			continue
		}
		text, code := strings.TrimSpace(form.Get(f.Name)), ""
		switch f.Kind {
		case tenancy.KindFlag, tenancy.KindWhole, tenancy.KindDollars: // a box comes before its hidden no
			if !scalar(&yaml.Node{Kind: yaml.ScalarNode, Value: web.Digits(text)}, f.Value) {
				code = unread[f.Value.Kind()]
			}
		case tenancy.KindText, tenancy.KindChoice:
			f.Value.SetString(text)
		case tenancy.KindPeople, tenancy.KindGroups:
			f.Value.Set(reflect.ValueOf(append([]string{}, web.Ticked(form[f.Name])...)))
		case tenancy.KindRows:
			bad = append(bad, readRows(f, form.Get(f.Name))...)
		}
		bad.Unless(code == "", f.Name, code)
	}
	return s, bad
}

// readRows reads a list of rows from YAML.
func readRows(f tenancy.Field, text string) aggregate.Problems {
	list := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "List", Type: f.Value.Type(), Tag: reflect.StructTag(`json:"` + f.Name + `"`)}}))
	if strings.TrimSpace(text) == "" {
		text = " []"
	}
	_, faults := read([]byte(f.Name+":\n"+strings.ReplaceAll(text, "\r\n", "\n")), list.Interface())
	f.Value.Set(list.Elem().Field(0))
	return web.Each(faults, func(x mistake) aggregate.Problem {
		x.Field = cmp.Or(x.Field, f.Name)
		return x.Problem
	})
}

type settingsData struct {
	Tabs     []web.View
	Rev      int
	Cut      bool // Slack has more people than are searched
	Spent    string
	Problems []web.Fault
	Sections []settingsSection
}

type settingsSection struct {
	Key, Title string
	Inputs     []input
	Brief      []input // those that it tells while it is folded
}

// telling are the settings that a folded section tells also while they have their defaults.
var telling = []string{"approvers.mode", "allow_self_approval", "approval_timeout_hours", "max_cost_usd",
	"max_cost_day_usd", "max_open_tasks", "max_tasks_per_hour", "model", "draft_contest.enabled", "name", "locale"}

type input struct {
	tenancy.Words
	Name, ID, Value string
	Is              string // the value briefly, in words
	Kind            tenancy.Kind
	Choices         []web.Choice
	People          bool      // or groups: the choices are whom somebody may add
	Chosen          []web.Box // of people
	Example         string    // of a list of rows
	Rows            []string  // of the list, a line each
	Problems        []string
	Bound           string
	Ruled           bool // rules decide it
}

// examples are rows of the lists.
var examples = map[string]string{
	"mcp_servers": "- name: rooms\n  url: https://example.com/mcp",
	"prices":      "- model: compatible:ollama/llama3.2\n  input: \"0.25\"\n  output: \"2\"",
	"matters":     "- name: {matter}",
	"agents": "- id: doc-bot\n  provider: openai\n  model: gpt-5.4\n  capabilities: [code, shell, test, tools]\n" +
		"  isDefault: true\n- id: own\n  provider: http\n  model: llama\n  endpoint: https://example.com/v1\n" +
		"  authRef: own\n  capabilities: [code]",
	"auto_actions": "- type: test_run\n  argv: [go, test, ./...]\n  source: shop\n  place: C0123456789\n  changed: false",
	"listed_reads": "- agent: claude\n  tool: list_employees\n  version: …\n  people: [U0123ABCD]",
	"sources": "- name: shop\n  repository: acme/shop\n  ref: heads/main\n  path: services/pay\n" +
		"  people: [everybody]\n  agents: [claude, codex]\n  ci: run",
}

func (t settingsTexts) tabs(here string) []web.View {
	return []web.View{{Path: settingsPath, Text: t.Say("all"), Here: here == settingsPath},
		{Path: adminsPath, Text: t.Say("admins"), Here: here == adminsPath}}
}

func (t settingsTexts) page(p settingsPage, m *people.Members) settingsData {
	d := settingsData{Tabs: t.tabs(settingsPath), Rev: p.now.Rev, Cut: m.More}
	for _, wrong := range p.problems {
		base, _, _ := strings.Cut(wrong.Field, "[")
		label := t.label(wrong.Field)
		if id := idAt(p.form, wrong.Field); id != "" {
			label += ": " + nameOf(m, id)
		}
		d.Problems = append(d.Problems, web.Fault{At: "#" + inputID(base), Label: label, Text: t.problem(wrong)})
	}
	usual := formOf(tenancy.DefaultSettings())
	for _, s := range tenancy.Sections {
		section := settingsSection{Key: s.Key, Title: s.Title(t.Locale()),
			Inputs: web.Each(s.Settings, func(x tenancy.Setting) input { return t.inputOf(p, x, m) })}
		section.Brief = slices.DeleteFunc(slices.Clone(section.Inputs), func(in input) bool {
			return !in.Ruled && !slices.Contains(telling, in.Name) &&
				slices.Equal(web.Ticked(p.form[in.Name]), web.Ticked(usual[in.Name]))
		})
		d.Sections = append(d.Sections, section)
	}
	return d
}

func (t settingsTexts) inputOf(p settingsPage, x tenancy.Setting, m *people.Members) input {
	in := input{Name: x.Name, ID: inputID(x.Name), Kind: x.Kind, Words: x.Says(t.Locale()),
		Value:   p.form.Get(x.Name),
		Example: strings.ReplaceAll(examples[x.Name], "{matter}", t.Say("matter")),
		Ruled:   p.now.RulesRev > 0 && x.Name == "process_approval_required"}
	for _, wrong := range p.problems {
		if base, _, _ := strings.Cut(wrong.Field, "["); base == x.Name {
			said := t.problem(wrong)
			if x.Kind == tenancy.KindRows && wrong.Field != x.Name {
				said = t.label(wrong.Field) + ": " + said
			}
			in.Problems = append(in.Problems, said)
		}
	}
	in.Is = strings.TrimSpace(in.Value + " " + in.Unit)
	switch x.Kind {
	case tenancy.KindFlag:
		in.Is = t.In("flags", in.Value)
	case tenancy.KindChoice:
		in.Is = t.value(x.Name, in.Value)
		in.Choices = web.Each(x.Choices, func(value string) web.Choice {
			return web.Choice{Value: value, Text: t.value(x.Name, value), Chosen: in.Value == value}
		})
	case tenancy.KindPeople, tenancy.KindGroups:
		if in.Choices = web.MembersToChoose(*m, "", "", ""); x.Kind == tenancy.KindGroups {
			in.Choices = t.groups(m)
		}
		in.People, in.Chosen = true, t.chosen(m, in.Choices, web.Ticked(p.form[x.Name]))
		in.Is = web.Joined(in.Chosen, func(x web.Box) string { return x.Text }, ", ")
	case tenancy.KindRows:
		in.Rows = briefly(in.Value, func(id string) string { return nameOf(m, id) })
		if in.Is = ""; len(in.Rows) > 0 {
			in.Is = t.Say("rows", "n", len(in.Rows))
		}
	case tenancy.KindWhole:
		most := strings.TrimSpace(web.Count(int64(x.Max)) + " " + in.Unit)
		in.Bound = t.Say("bound", "min", web.Count(int64(x.Min)), "max", most)
	}
	in.Is = cmp.Or(in.Is, t.Say("nothing"))
	hours, _ := strconv.Atoi(in.Value)
	switch {
	case in.Ruled:
		in.Is = t.Say("ruled_link")
	case x.Name == "approval_timeout_hours" && hours > 0 && hours%24 == 0:
		in.Is = t.Say("days", "n", hours/24)
	case x.Limit && in.Value == "0":
		in.Is = t.Say("no_limit")
	}
	if x.Limit {
		in.Bound = strings.TrimSpace(in.Bound + " " + t.Say("unlimited"))
	}
	return in
}

func inputID(name string) string { return "s-" + strings.NewReplacer(".", "-", "_", "-").Replace(name) }

// idAt returns the approver's id that a problem's field points to.
func idAt(form url.Values, field string) string {
	base, at, ok := strings.Cut(field, "[")
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); !ok || err != nil || !strings.Contains(base, "approvers.") {
		return ""
	}
	if ids := web.Ticked(form[base]); n < len(ids) {
		return ids[n]
	}
	return ""
}

// groups are the user groups that may be chosen.
func (t settingsTexts) groups(m *people.Members) (all []web.Choice) {
	for _, g := range m.Groups {
		if !g.Disabled {
			all = append(all, web.Choice{Value: g.ID,
				Text: fmt.Sprintf("%s (@%s, %s)", g.Name, g.Handle, t.Say("members", "n", g.Count))})
		}
	}
	return all
}

// chosen are people or user groups by their ids, with the reason if they can't be chosen.
func (t settingsTexts) chosen(m *people.Members, offered []web.Choice, ids []string) []web.Box {
	return web.Each(ids, func(id string) web.Box {
		b := web.Box{Value: id, Text: nameOf(m, id), On: true}
		if i := slices.IndexFunc(offered, func(c web.Choice) bool { return c.Value == id }); i >= 0 {
			b.Text = offered[i].Text
			return b
		}
		u, isUser := m.Person(id)
		_, isGroup := m.Group(id)
		switch {
		case isUser:
			b.Note = t.problem(aggregate.Problem{Code: m.Rule(u)})
		case isGroup:
			b.Note = t.problem(aggregate.Problem{Code: "no_group"})
		case !m.More || aggregate.IsGroup(id):
			b.Note = t.Say("unlisted")
		}
		return b
	})
}

type settingsTexts struct{ web.Texts }

// value returns the label of one of a fixed set of values, or else the value itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says(t.Locale()).Choices[i]
	}
	return is
}

func (t settingsTexts) problem(p aggregate.Problem) string {
	return t.Problem(p, func(w string) string { return t.value(p.Field, w) })
}

// label returns a field's readable name; a field in a list has its number and its member appended.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Say("client"), explain.Provider(provider).Called(t.Locale()))
	}
	base, at, _ := strings.Cut(field, "[")
	x, ok := tenancy.SettingNamed(base)
	switch {
	case field == "admins":
		return t.Say("admins")
	case !ok:
		return field
	}
	label := x.Says(t.Locale()).Label
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		label = fmt.Sprintf("%s (%d)", label, n+1)
		if _, column, ok := strings.Cut(at, "]."); ok {
			label += ": " + column
		}
	}
	return label
}

func (t settingsTexts) changes(m *people.Members, diff []tenancy.Difference) (all []explain.LogChange) {
	for _, d := range diff {
		all = append(all, explain.LogChange{Name: t.label(d.Field), Was: t.values(m, d.Field, d.Was),
			Is: t.values(m, d.Field, d.Is)})
	}
	return all
}

// Told returns the changes in details of the log by their fields.
func Told(locale string, m *people.Members, details aggregate.JSON) map[string]explain.LogChange {
	t, out := settingsTexts{web.TextsOf("settings", locale)}, map[string]explain.LogChange{}
	for _, d := range tenancy.ReadDifferences(details) {
		for _, x := range t.changes(m, []tenancy.Difference{d}) {
			out[d.Field] = x
		}
	}
	return out
}

// values returns the values of a setting as people read them.
func (t settingsTexts) values(m *people.Members, field string, is aggregate.JSON) (all []string) {
	x, known := tenancy.SettingNamed(field)
	unit := ""
	if known {
		unit = x.Says(t.Locale()).Unit
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(is), &list) != nil {
		list = []json.RawMessage{json.RawMessage(is)}
	}
	for _, one := range list {
		var v any
		if json.Unmarshal(one, &v) != nil {
			v = string(one)
		}
		switch v := v.(type) {
		case nil:
		case bool:
			all = append(all, t.In("flags", v))
		case float64:
			text := strings.TrimSpace(string(one) + " " + unit)
			if v == 0 && x.Limit {
				text = t.Say("no_limit")
			} else if x.Kind == tenancy.KindWhole {
				text = strings.TrimSpace(web.Count(int64(v)) + " " + unit)
			}
			all = append(all, text)
		case string:
			if strings.Contains(field, "approvers.u") || field == "admins" {
				if name := nameOf(m, v); name != v {
					v = name + " (" + v + ")" // others may have the same name
				}
			}
			all = append(all, t.value(field, v))
		default:
			all = append(all, strings.TrimSpace(written(one)))
		}
	}
	if all = slices.DeleteFunc(all, func(s string) bool { return s == "" }); len(all) == 0 {
		all = []string{t.Say("nothing")}
	}
	return all
}
