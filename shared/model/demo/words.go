package demo

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"ringi/shared/domain/catalog"
	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
)

//go:embed words/*.json drafts/*.json words/*.txt
var files embed.FS

// words are the texts of one language. A test holds the names in the code against them.
type words struct {
	Locale  string
	Say     map[string]string
	Steps   map[string]step
	List    map[string]string            // forms of all lists; {things}, {tab}, {from} and {handled} are of the list's file
	Topics  map[string]map[string]string // forms and words of the topics that are no lists
	Columns map[string]string            // titles of columns, by the rows' member; lists have their own
	Agent   map[string]string
	Teams   struct {
		Reviews                []string
		Good, Mend             map[string]string // by metric
		ScoredBy, GoOn, Enough string
	}
}

type step struct{ Title, Description, Expected string }

var spoken = language.Catalog[words]{Files: &files, Folder: "words"}

// texts are the templates of policies and summaries, by language.
var texts = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, locale := range language.All {
		all[locale] = template.Must(template.ParseFS(files, "words/"+locale+".txt"))
	}
	return all
})

// text fills a template in. Its lines have no blanks at their ends, and none is empty.
func (t *words) text(name string, data map[string]any) string {
	var out strings.Builder
	if err := texts()[t.Locale].ExecuteTemplate(&out, name, data); err != nil {
		return err.Error() // a test fills each in
	}
	var lines []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// inLine stands for the end of a line in a text that people wrote.
const inLine = "\ue0ff"

func (t *words) month(m month) string {
	return language.Fill(t.Say["month"], "year", int(m/12), "month", int(m.name()), "name", m.name())
}

func (t *words) quote(s string) string { return fmt.Sprintf(t.Say["quote"], s) }

func (w *wish) say(form string, values ...any) string {
	return fmt.Sprintf(w.words.Say[form], values...)
}

// quoted quotes texts, each as one line.
func (w *wish) quoted(said ...string) string {
	var out []string
	for _, s := range said {
		out = append(out, w.words.quote(oneLine(s)))
	}
	return strings.Join(out, w.words.Say["and"])
}

func (w *wish) Quoted(said []string) string { return w.quoted(said...) }

// oneLine joins a text into one line, short enough for a title.
func oneLine(s string) string { return legible.Clip(strings.Join(strings.Fields(s), " "), 60) }

// list is a tool that the demo plans from its catalog file. Its rows go to the sheet, and the notice tells their
// number.
type list struct {
	catalog.File
	departments, past bool // it can be asked for a department, and as of a past month
}

// people is the tool that lists the people for whom records of a month are read.
const people = "list_employees"

// allLists are the catalog's lists, people first.
var allLists = sync.OnceValue(func() (all []*list) {
	files, _ := catalog.Files() // a test reads every file
	for _, f := range files {
		if f.Demo == nil {
			continue
		}
		var input struct{ Properties map[string]any }
		_ = json.Unmarshal(f.Input, &input) // a tool without a readable schema takes no department
		at := len(all)
		if f.Name == people {
			at = 0
		}
		all = slices.Insert(all, at, &list{f, input.Properties["department"] != nil, input.Properties["as_of"] != nil})
	}
	return all
})

// list is the topic's list, or that of people.
func (w *wish) list() *list {
	return allLists()[max(0, slices.IndexFunc(allLists(), func(l *list) bool { return l.Name == w.topic }))]
}

// of fills in a form: the list's own of that name, or else the one that all lists share.
func (l *list) of(t *words, form string, more ...any) string {
	x := l.Demo.Words[t.Locale]
	return language.Fill(cmp.Or(x.Forms[form], t.List[form]), append(more, "things", x.Things, "tab", x.Tab, "from", x.From,
		"handled", x.Handled)...)
}

// Form is what the words say of the request's topic under a name.
func (w *wish) Form(name string) string {
	t, of, text, then, when := w.words, "", "", "", w.when()
	if len(w.departments) > 0 {
		of = w.say("titleOf", w.departmentsSaid())
	}
	if len(w.quotes) > 0 {
		text = oneLine(w.quotes[0])
	}
	if w.Dated() {
		then = w.say("about", when)
	}
	more := []any{"of", of, "when", when, "then", then, "departments", w.departmentsSaid(), "text", text, "to", w.to(),
		"booked", w.booked(), "supplier", w.order.supplier, "short", oneLine(w.order.supplier)}
	if own := t.Topics[w.topic][name]; own != "" {
		return language.Fill(own, append(more, "handled", w.list().Demo.Words[t.Locale].Handled)...)
	}
	return w.list().of(t, name, more...)
}

func (w *wish) departmentsSaid() string { return strings.Join(w.departments, w.words.Say["and"]) }

// when names the months: as a range, or one by one if there are gaps.
func (w *wish) when() string {
	first, last := w.months[0], w.months[len(w.months)-1]
	if len(w.months) > 1 && int(last-first) == len(w.months)-1 {
		return w.words.month(first) + w.words.Say["to"] + w.words.month(last)
	}
	var all []string
	for _, m := range w.months {
		all = append(all, w.words.month(m))
	}
	return strings.Join(all, w.words.Say["and"])
}

// to names who is told.
func (w *wish) to() string {
	var all []string
	if w.copied && w.topic != "message" || len(w.people) == 0 {
		all = append(all, w.words.Say["requester"])
	}
	for _, id := range w.people {
		if !strings.Contains(id, "@") { // an e-mail address stays as it is
			id = "<@" + id + ">"
		}
		all = append(all, id)
	}
	last := len(all) - 1
	return strings.Join(all[:last], w.words.Say["and"]) + strings.Repeat(w.words.Say["andLast"], min(last, 1)) + all[last]
}

// booked is a booking's title: the one that the request quotes, or else what it is for.
func (w *wish) booked() string {
	if len(w.quotes) > 0 {
		return legible.Clip(oneLine(w.quotes[0]), 100)
	}
	return w.words.Topics["meeting"]["untitled"]
}

// can lists requests that the demo understands.
func (w *wish) can() string {
	var known []string
	for _, l := range allLists() {
		known = append(known, l.of(w.words, "can"))
	}
	last := len(known) - 1
	return language.Fill(w.words.Say["can"], "lists",
		strings.Join(known[:last], w.words.Say["and"])+w.words.Say["canOr"]+known[last])
}

// Dated reports whether a request is about months: its records', or those as of which a list is read.
func (w *wish) Dated() bool {
	return w.kind() == "records" || w.kind() == "list" && w.list().past && !w.is["assumed"]
}

// Sheet reports whether results are written to the sheet.
func (w *wish) Sheet() bool {
	return has("records list", w.kind()) && w.topic != "" && !w.is["nosheet"]
}

// facts are what the templates of policies know of a request.
func (w *wish) facts() map[string]any {
	x := map[string]any{"w": w, "is": w.is, "topic": w.topic, "kind": w.kind(), "sheet": w.Sheet(), "dated": w.Dated(),
		"when": w.when(), "to": w.to(), "slot": w.slot, "order": w.order, "several": len(w.months) > 1, "scope": "scope",
		"earlier": w.words.Say["earlier"], "now": slices.Contains(w.months, thisMonth(w.now)), "wrong": w.cannot()}
	followed, open := w.became()
	for _, form := range []string{"unclear", "needed"} {
		x[form] = open[form][max(0, len(open[form])-maxUnread):]
	}
	x["followed"] = followed
	if len(w.departments) > 0 {
		x["scope"] = "scopeOf"
	}
	if last := w.months[len(w.months)-1]; last > thisMonth(w.now) {
		x["ahead"] = w.words.month(last)
	}
	if len(w.quotes) > 0 {
		x["text"] = w.words.quote(strings.ReplaceAll(w.quotes[0], "\n", inLine))
	}
	var tabs, titles []string
	for _, p := range w.parts() {
		tabs = append(tabs, w.words.quote(oneLine(p.tab)))
	}
	for _, key := range w.columns() {
		titles = append(titles, w.title(key))
	}
	x["tabs"], x["columns"] = strings.Join(tabs, w.words.Say["and"]), strings.Join(titles, w.words.Say["and"])
	return x
}

var kindForm = &lazy.Regexp{Text: `(?m)^(\w+) (.*)$`}

// lines are the kinds of a policy's numbered lines, of which a remark may say that one is left out.
func (w *wish) lines() (kinds []string) {
	for _, m := range kindForm.Get().FindAllStringSubmatch(w.words.text("how", w.facts()), -1) {
		kinds = append(kinds, m[1])
	}
	return kinds
}

// draft is the policy.
func draft(w *wish) string {
	x := w.facts()
	var how []string
	for i, m := range kindForm.Get().FindAllStringSubmatch(w.words.text("how", x), -1) {
		if w.is["brief"] {
			how = append(how, strings.TrimRight(m[2], "。."))
		} else {
			how = append(how, fmt.Sprintf("\n%d. %s", i+1, m[2]))
		}
	}
	x["how"] = strings.Join(how, map[bool]string{true: " → "}[w.is["brief"]])
	return strings.ReplaceAll(w.words.text("policy", x), inLine, "\n")
}

func extract(w *wish) map[string]string {
	out := map[string]string{"kind": "task", "sentence": w.cannot(), "title": "", "description": "", "priority": w.priority,
		"task_type": "standard"}
	if w.priority == "urgent" {
		out["task_type"] = "urgent"
	}
	switch {
	case w.helps():
		out["kind"] = "help"
	case out["sentence"] != "":
		out["kind"] = "unsupported"
	case w.is["notools"]:
		out["kind"], out["sentence"] = "unsupported", w.Form("noTools")
	default:
		out["title"], out["description"] = w.Form("title"), w.say("describe", legible.Clip(w.text, 2500))
	}
	return out
}
