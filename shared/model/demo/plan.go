package demo

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

//go:embed words samples steps.txt
var embedded embed.FS

// words are the texts of one language. A test holds the names in the code against them.
type words struct {
	Locale  string
	Say     map[string]string
	Steps   map[string]step
	List    map[string]string            // forms of all lists, with words of the list's file in braces
	Topics  map[string]map[string]string // forms and words of the topics that are no lists
	Columns map[string]string            // titles of columns, by the rows' member; lists have their own
	Agent   map[string]string
	Teams   teamTexts
}

type step struct{ Title, Description, Expected string }

var spoken = language.Catalog[words]{Files: &embedded, Folder: "words"}

// texts are the templates of policies, steps and summaries, by language.
var texts = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, locale := range language.All {
		t := template.New("").Funcs(template.FuncMap{"quote": spoken.In(locale).quote, "yen": yen,
			"json": func(v any) string { return string(encoded(v)) }, "gap": func() string { return inLine }})
		all[locale] = template.Must(t.ParseFS(embedded, "words/"+locale+".txt", "steps.txt"))
	}
	return all
})

func (t *words) filled(name string, data any) string {
	var out strings.Builder
	if err := texts()[t.Locale].ExecuteTemplate(&out, name, data); err != nil {
		return err.Error() // a test fills each in
	}
	return out.String()
}

// text fills a template in. Its lines have no blanks at their ends, and none is empty.
func (t *words) text(name string, data any) string {
	return strings.TrimSpace(form("$ends").ReplaceAllString(t.filled(name, data), "\n"))
}

func (t *words) quote(s string) string { return fmt.Sprintf(t.Say["quote"], s) }

func (w *meant) Say(form string, values ...any) string {
	return fmt.Sprintf(w.words.Say[form], values...)
}

// Quoted quotes the last few texts, each as one line.
func (w *meant) Quoted(all []string) string {
	var out []string
	for _, s := range all[max(0, len(all)-4):] {
		out = append(out, w.words.quote(oneLine(s)))
	}
	return strings.Join(out, w.Say("and"))
}

// oneLine joins a text into one line, short enough for a title.
func oneLine(s string) string { return legible.Clip(strings.Join(strings.Fields(s), " "), 60) }

// allLists are the tools that the demo plans from their catalog files. A list's rows go to the sheet, and the notice
// tells their number.
var allLists = sync.OnceValue(func() []tenancy.OwnTool {
	files, _ := tenancy.OwnTools() // a test reads every file
	return slices.DeleteFunc(slices.Clone(files), func(f tenancy.OwnTool) bool { return f.Demo == nil })
})

// people is the tool that lists the people for whom records of a month are read.
const people = "list_employees"

// List is the topic's list, or that of people.
func (w *meant) List() tenancy.OwnTool {
	at := slices.IndexFunc(allLists(), func(l tenancy.OwnTool) bool { return l.Name == w.Topic })
	if at < 0 {
		at = slices.IndexFunc(allLists(), func(l tenancy.OwnTool) bool { return l.Name == people })
	}
	return allLists()[at]
}

// Form fills in what the words say of the request's topic under a name: the topic's own form, its list's, or else the
// one that all lists share.
func (w *meant) Form(name string, more ...any) string {
	of, x := map[bool]string{true: w.Say("titleOf", w.Part)}[w.Part != ""], w.List().Demo.Words[w.words.Locale]
	form := cmp.Or(w.words.Topics[w.Topic][name], x.Forms[name], w.words.List[name])
	return language.Fill(form, append(more, "of", of, "when", w.When(), "department", w.Part,
		"text", oneLine(w.Quote), "to", w.To(), "supplier", w.Order.Supplier, "short", oneLine(w.Order.Supplier),
		"things", x.Things, "tab", x.Tab, "from", x.From, "handled", x.Handled)...)
}

// When names the month.
func (w *meant) When() string {
	return language.Fill(w.Say("month"), "year", w.Month.Year(), "month", int(w.Month.Month()), "name", w.Month.Month())
}

// Dated reports whether a request is about a month. Who was employed then, and where, is asked as of that month, so
// that later changes don't count.
func (w *meant) Dated() bool { return w.Kind() == "records" }

// Sheet reports whether results are written to the sheet.
func (w *meant) Sheet() bool { return uses("ask", w.Kind()) && !w.Is["nosheet"] }

// To names who gets a message.
func (w *meant) To() string { return "<@" + strings.Join(w.People, ">"+w.Say("andTo")+"<@") + ">" }

// Tab is the name of the sheet's tab. It is made of everything that the table is about, so that different requests
// write to different tabs.
func (w *meant) Tab() string {
	month := map[bool]string{true: w.Month.Format("2006-01")}[w.Dated()]
	return strings.Join(strings.Fields(w.Form("tab")+" "+month+" "+w.Part), " ")
}

// Columns are the members of the rows that the sheet shows, each with its heading. A member without one has its name.
func (w *meant) Columns() (out []object) {
	keys, titles := w.List().Demo.Columns, w.List().Demo.Words[w.words.Locale].Columns
	if w.Kind() == "records" {
		keys, titles = strings.Fields(w.words.Topics[w.Topic]["columns"]), w.words.Columns
	}
	for _, key := range keys {
		out = append(out, object{"key": key, "title": cmp.Or(titles[key], key)})
	}
	return out
}

// yen writes an amount as cards do.
func yen(v any) string {
	n, _ := strconv.ParseFloat(fmt.Sprint(v), 64) // a result may have none
	value := strconv.FormatFloat(n, 'f', -1, 64)
	return explain.Money("", rules.Amount{Value: rules.Decimal(value), Currency: "JPY"})
}

// inLine stands for the end of a line in a text that people wrote, and for an empty line before a part of a policy.
const inLine = "\ue0ff"

// Text is a message's text in quotation marks.
func (w *meant) Text() string { return w.words.quote(strings.ReplaceAll(w.Quote, "\n", inLine)) }

// How are a policy's numbered lines.
func (w *meant) How() string {
	lines := strings.Split(w.words.text("how", w), "\n")
	for i, line := range lines {
		lines[i] = fmt.Sprintf("\n%d. %s", i+1, line)
	}
	return strings.Join(lines, "")
}

// draft is the policy.
func draft(w *meant) string { return strings.ReplaceAll(w.words.text("policy", w), inLine, "\n") }

// extract says what kind of message a request is, and titles it. What people said before in the thread is not used.
func extract(w *meant) map[string]string {
	out := map[string]string{"kind": "task", "sentence": w.Cannot(), "title": "", "description": "",
		"priority": "medium", "task_type": "standard"}
	if w.Is["urgent"] {
		out["priority"], out["task_type"] = "urgent", "urgent"
	}
	if out["sentence"] == "" && w.Is["notools"] {
		out["sentence"] = w.Form("noTools")
	}
	switch {
	case w.Is["helps"]:
		out["kind"] = "help"
	case out["sentence"] != "":
		out["kind"] = "unsupported"
	default:
		out["title"] = w.Form("title")
		out["description"] = w.Say("describe", legible.Clip(strings.Join(strings.Fields(w.text), " "), 2500))
	}
	return out
}

type object map[string]any

// Arguments are those of the list's call.
func (w *meant) Arguments() object {
	arguments := maps.Clone(object(w.List().Demo.Input))
	if w.Part != "" {
		arguments["department"] = w.Part
	}
	if w.Dated() {
		arguments["as_of"] = w.Month.Format("2006-01")
	}
	return arguments
}

// plan makes the steps, or says what is missing for them. A line in steps.txt has a step's name, its kind, its tool and
// its arguments; what they refer to as name.x is the step's result.
func plan(w *meant) (steps, missing []object) {
	if w.Cannot() != "" {
		return []object{}, []object{{"what": cmp.Or(oneLine(w.text), "?"), "tool": "", "why": "no_tool"}}
	}
	refs := []string{}
	for line := range strings.SplitSeq(w.words.text("steps", w), "\n") {
		part := strings.SplitN(line, " ", 4)
		name, kind, tool := part[0], part[1], part[2]
		var input object
		_ = json.Unmarshal([]byte(strings.NewReplacer(refs...).Replace(part[3])), &input) // a test fills each in
		s := w.words.Steps[name]
		if name == "list" {
			s = step{w.List().Title.In(w.words.Locale), w.Form(map[bool]string{true: "descriptionThen",
				false: "description"}[w.Dated()]), w.Form("expected")}
		}
		if lack := w.in.lack(s.Title, tool, input); lack != nil {
			missing = append(missing, lack)
			continue
		}
		n := len(steps) + 1
		refs = append(refs, `"$ref":"`+name+".", fmt.Sprintf(`"$ref":"step-%d.result.`, n))
		steps = append(steps, object{"stepId": fmt.Sprintf("step-%d", n), "order": n, "title": s.Title, "tool": tool,
			"toolInput": string(encoded(input)), "expectedOutput": s.Expected,
			"description":        language.Fill(s.Description, "when", w.When(), "tab", w.Tab()),
			"requiresHumanCheck": w.Is["check"] && slices.Contains([]string{"sheet", "dm", "write"}, kind)})
	}
	if len(missing) > 0 {
		return []object{}, slices.CompactFunc(missing, func(a, b object) bool { return maps.Equal(a, b) })
	}
	return steps, []object{}
}

// summary reports the counts and addresses that the steps returned.
func summary(w *meant) string {
	var lines []string
	for _, s := range w.in.Steps {
		of := &meant{words: w.words, Topic: s.Tool}
		switch line := w.words.text("sum", object{"tool": s.Tool, "f": s.Facts, "topic": w.Topic}); {
		case of.List().Name == s.Tool:
			lines = append(lines, of.Form("sum", "count", s.Facts["count"]))
		case w.Topic == "message":
			lines = []string{w.Say("told", len(w.in.Steps))}
		case line != "":
			lines = append(lines, line)
		}
	}
	return legible.Clip(cmp.Or(strings.Join(lines, "\n"), w.Say("done")), 1900)
}
