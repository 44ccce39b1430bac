package settings

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
)

// column is an input that each row of a list has; its name on the page is <list>.<key>.
type column struct {
	key, example string
	options      []string // of a choice; an empty row has the first
}

// rowsLists has the columns of settings that are lists of rows.
var rowsLists = map[string][]column{
	"mcp_servers": {{key: "name", example: "rooms"}, {key: "url", example: "https://example.com/mcp"}},
	"prices": {
		{key: "model", example: "compatible:ollama/llama3.2"}, {key: "input", example: "0.25"},
		{key: "output", example: "2"}, {key: "cached", example: "0.025"}, {key: "date", example: "2026-11-20"},
	},
	"matters": {{key: "name", example: "固定資産"}},
	"agents": {
		{key: "id", example: "doc-bot"}, {key: "label"}, {key: "provider", options: named(agent.Providers)}, {key: "model",
			example: "gpt-5.4"}, {key: "endpoint", example: "https://example.com/v1"},
		{key: "capabilities", example: "code, shell, test, tools"}, {key: "auth_ref"}, {key: "context_tokens",
			example: "128000"},
		{key: "is_default", options: []string{"false", "true"}},
	},
	"auto_actions": {
		{key: "argv", example: "go test ./*"}, {key: "source", example: "shop"}, {key: "place", example: "C0123456789"},
		{key: "changed", options: []string{"false", "true"}},
	},
	"listed_reads": {
		{key: "agent", example: "claude"}, {key: "tool", example: "list_employees"}, {key: "version"},
		{key: "people", example: "U0123ABCD, U0456EFGH"},
	},
	"sources": {
		{key: "name", example: "shop"}, {key: "repository", example: "acme/shop"}, {key: "ref", example: "heads/main"},
		{key: "path", example: "services/pay"}, {key: "people", example: agent.Everybody},
		{key: "agents", example: "claude, codex"},
		{key: "ci", options: append([]string{""}, named(agent.CIs)...)},
		{key: "allow", example: strings.Join(agent.Allowable, ", ")},
	},
}

func named[T ~string](list []T) []string {
	return web.Each(list, func(x T) string { return string(x) })
}

func inputsOf(x tenancy.Setting) []string {
	switch {
	case hourly(x.Name):
		return []string{x.Name, x.Name + unit}
	case x.Kind != tenancy.KindRows:
		return []string{x.Name}
	}
	return web.Each(rowsLists[x.Name], func(c column) string { return x.Name + "." + c.key })
}

// linesOf returns the input of a list that has one column, which the page has as lines of a text; "" of another one.
func linesOf(list string) string {
	if of := rowsLists[list]; len(of) == 1 {
		return list + "." + of[0].key
	}
	return ""
}

type settingRow struct {
	N        int
	New      bool // it is empty
	Cells    []cell
	Problems []string
}

type cell struct {
	Name, Label, Value, Example string
	Choices                     []web.Choice
	Wrong                       bool
}

func addRows(f url.Values, s tenancy.Settings) {
	add := func(list string, cells ...string) {
		for i, c := range rowsLists[list] {
			f.Add(list+"."+c.key, cells[i])
		}
	}
	for _, x := range s.MCPServers {
		add("mcp_servers", x.Name, x.URL)
	}
	for _, x := range s.Matters {
		add("matters", x.Name)
	}
	for _, x := range s.Prices {
		add("prices", x.Model, x.Input, x.Output, x.Cached, x.Date)
	}
	for _, d := range s.Agents {
		add("agents", d.ID, d.Metadata["label"], string(d.Provider), d.Model, d.Endpoint,
			strings.Join(named(d.Capabilities), ", "), d.AuthRef, number(d.ContextTokens), fmt.Sprint(d.IsDefault))
	}
	for _, r := range s.AutoActions {
		add("auto_actions", agent.Line(r.Argv), r.Source, r.Place, fmt.Sprint(r.Changed))
	}
	for _, r := range s.ListedReads {
		add("listed_reads", r.Agent, r.Tool, r.Version, strings.Join(r.People, ", "))
	}
	for _, x := range s.Sources {
		add("sources", x.Name, x.Repository, x.Ref, x.Path, strings.Join(x.People, ", "),
			strings.Join(x.Agents, ", "), string(x.CI), strings.Join(x.Allow, ", "))
	}
}

// number formats a number, and 0 as nothing.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// rowsTyped returns a list's rows that aren't empty, of cells by key. asked is false if the form lacks the list.
func rowsTyped(f url.Values, list string) (rows []map[string]string, asked bool) {
	columns := rowsLists[list]
	first := list + "." + columns[0].key
	for i := range f[first] {
		row, filled := map[string]string{}, false
		for _, c := range columns {
			if values := f[list+"."+c.key]; i < len(values) {
				row[c.key] = strings.TrimSpace(values[i])
			}
			filled = filled || c.options == nil && row[c.key] != ""
		}
		if filled {
			rows = append(rows, row)
		}
	}
	return rows, f.Has(first)
}

func typedRows(f url.Values, s *tenancy.Settings) {
	typedList(f, "mcp_servers", &s.MCPServers, func(row map[string]string) tenancy.MCPServer {
		return tenancy.MCPServer{Name: row["name"], URL: row["url"]}
	})
	typedList(f, "prices", &s.Prices, func(row map[string]string) tenancy.ModelPrice {
		return tenancy.ModelPrice{Model: row["model"], Input: web.Digits(row["input"]), Output: web.Digits(row["output"]),
			Cached: web.Digits(row["cached"]), Date: web.Digits(row["date"])}
	})
	typedList(f, "matters", &s.Matters, func(row map[string]string) tenancy.MatterKind {
		return tenancy.MatterKind{Name: row["name"]}
	})
	was := s.Agents
	typedList(f, "agents", &s.Agents, func(row map[string]string) agent.Definition { return agentTyped(row, was) })
	typedList(f, "auto_actions", &s.AutoActions, func(row map[string]string) agent.AutoRule {
		return agent.AutoRule{Type: agent.TestRun, Argv: agent.Words(row["argv"]), Source: row["source"],
			Place: row["place"], Changed: row["changed"] == "true"}
	})
	typedList(f, "listed_reads", &s.ListedReads, func(row map[string]string) agent.ListedRead {
		return agent.ListedRead{Agent: row["agent"], Tool: row["tool"], Version: strings.ToLower(row["version"]),
			People: listed(row["people"])}
	})
	typedList(f, "sources", &s.Sources, func(row map[string]string) agent.Source {
		return agent.Source{Name: row["name"], Repository: row["repository"], Ref: row["ref"], Path: row["path"],
			People: listed(row["people"]), Agents: listed(row["agents"]), CI: agent.CI(row["ci"]), Allow: listed(row["allow"])}
	})
}

func typedList[T any](f url.Values, name string, list *[]T, of func(row map[string]string) T) {
	rows, asked := rowsTyped(f, name)
	if !asked {
		return
	}
	*list = append([]T{}, web.Each(rows, of)...)
}

// listed splits what is typed with commas or blanks between.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", 、,　\t", r) })
}

// agentTyped returns the typed agent; fields that the page doesn't have stay as they were.
func agentTyped(row map[string]string, was []agent.Definition) agent.Definition {
	d := agent.Definition{ID: row["id"], Provider: agent.Provider(row["provider"]), Model: row["model"],
		Endpoint: row["endpoint"], AuthRef: row["auth_ref"], IsDefault: row["is_default"] == "true"}
	if text := row["context_tokens"]; text != "" {
		n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		if d.ContextTokens = n; err != nil || n == 0 {
			d.ContextTokens = -1 // breaks the rule, as whatever else is no such number
		}
	}
	d.Capabilities = web.Each(listed(strings.ToLower(row["capabilities"])),
		func(c string) agent.Capability { return agent.Capability(c) })
	if old, ok := agent.Find(was, d.ID); ok {
		d.Metadata = maps.Clone(old.Metadata)
	}
	if row["label"] != "" {
		if d.Metadata == nil {
			d.Metadata = map[string]string{}
		}
		d.Metadata["label"] = row["label"]
	} else {
		delete(d.Metadata, "label")
	}
	if len(d.Metadata) == 0 {
		d.Metadata = nil
	}
	return d
}

// rowsOf returns the form's rows, and an empty one to add another.
func (t settingsTexts) rowsOf(p settingsPage, list string, most int) (out []settingRow) {
	columns := rowsLists[list]
	rows, _ := rowsTyped(p.form, list)
	filled := len(rows)
	if filled < most {
		rows = append(rows, map[string]string{})
	}
	for i, row := range rows {
		r := settingRow{N: i + 1, New: i == filled}
		for _, c := range columns {
			name := list + "." + c.key
			one := cell{Name: name, Label: t.In("columns", name), Value: row[c.key], Example: t.choice(name, c.example)}
			if c.options == nil {
				one.Value = t.choice(name, one.Value)
			}
			options := c.options
			if options != nil && one.Value != "" && !slices.Contains(options, one.Value) {
				options = append([]string{one.Value}, options...) // what the page doesn't offer stays selected
			}
			for _, value := range options {
				text := t.choice(one.Name, value)
				one.Choices = append(one.Choices, web.Choice{Value: value, Text: text, Chosen: one.Value == value})
			}
			r.Cells = append(r.Cells, one)
		}
		for _, wrong := range p.problems {
			if field, ok := strings.CutPrefix(wrong.Field, fmt.Sprintf("%s[%d].", list, i)); ok && i < filled {
				r.Problems = append(r.Problems, t.In("columns", list+"."+field)+": "+t.problem(wrong))
				for n := range r.Cells {
					r.Cells[n].Wrong = r.Cells[n].Wrong || r.Cells[n].Name == list+"."+field
				}
			}
		}
		out = append(out, r)
	}
	return out
}

// choice returns the label of a column's value.
func (t settingsTexts) choice(name, value string) string {
	switch {
	case value == "true":
		return t.In("columns", name)
	case value == "false":
		return "—"
	}
	return cmp.Or(t.In("columns", name+"="+value), value)
}

// rowsShown returns the rows of a list, each as lines of what its columns are called and hold.
func (t settingsTexts) rowsShown(list string, form url.Values) (all []string) {
	rows, _ := rowsTyped(form, list)
	for _, row := range rows {
		var cells []string
		for _, c := range rowsLists[list] {
			name, value := list+"."+c.key, row[c.key]
			switch value {
			case "", "false":
			case "true":
				cells = append(cells, t.In("columns", name))
			default:
				cells = append(cells, t.In("columns", name)+": "+t.choice(name, value))
			}
		}
		all = append(all, strings.Join(cells, "\n"))
	}
	return all
}

// bound says between which numbers a whole one is, or of hours up to how many days.
func (t settingsTexts) bound(x tenancy.Setting, unit string) string {
	if hourly(x.Name) {
		return t.Say("up_to", "max", t.hours(x.Max))
	}
	most := strings.TrimSpace(web.Count(int64(x.Max)) + " " + unit)
	return t.Say("bound", "min", web.Count(int64(x.Min)), "max", most)
}
