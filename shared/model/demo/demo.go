// Package demo answers as a language model would, without one: deterministic, offline, in Japanese and English, by the
// text of a message alone. Layers, Agent and Teams answer what the pipeline, a conversation and a contest send to a
// model. A message may ask for failures by markers: phrases.txt says which.
package demo

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Layers answers the four layers of the pipeline. Its answers are checked like any other model's.
type Layers struct{}

// Say answers with JSON of the purpose's schema.
func (Layers) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, asks := begun(ctx, r), r.Standing+r.Messages[0].Parts[0].Text
	text, err := answer(r.Purpose, r.Try, asks)
	out.Text, out.Usage.Cost = text, aggregate.USD(marked("cost", asks))
	return out, cmp.Or(ctx.Err(), err)
}

// begun is an answer without words. It keeps what was sent.
func begun(ctx context.Context, r model.Request) model.Response {
	model.Sent(ctx, encoded(r))
	return model.Response{Stop: model.StopEnd, Answered: aggregate.Demo,
		Usage: model.Usage{Provider: aggregate.Demo, Model: aggregate.Demo, Calls: 1}}
}

func failed() error {
	return &model.Error{Provider: aggregate.Demo, Model: aggregate.Demo, Kind: model.Demo,
		Err: fmt.Errorf("the message asks for this failure")}
}

func encoded(v any) json.RawMessage {
	b, _ := json.Marshal(v) // of texts, numbers and lists
	return b
}

// fenced reads the data of a text into a value. It stands in one or more fences, <data>…</data>.
func fenced(text string, into any) (err error) {
	for _, data := range form("$fence").FindAllStringSubmatch(text, -1) {
		err = cmp.Or(err, json.Unmarshal([]byte(data[1]), into))
	}
	return err
}

// marked is the number behind a marker in a text, 0 without one.
func marked(name, text string) float64 {
	n, _ := strconv.ParseFloat(append(form("@"+name).FindStringSubmatch(text), "", "")[1], 64)
	return n
}

// plain removes the markers from a text.
func plain(text string) string {
	for _, p := range rows()["@"] {
		text = p.form.ReplaceAllString(text, " ")
	}
	return strings.TrimSpace(text)
}

// input is the data of any of the four purposes.
type input struct {
	Message, Policy, Requester, Now, Locale string
	Forwarded                               []struct {
		Text     string
		NotShown string `json:"not_shown"`
	}
	Files   []struct{}
	Earlier []struct{ Reason string } `json:"rejected_versions"`
	Tools   []struct {
		Name        string
		Constraints map[string]any
	}
	Forbidden []string
	Servers   []string `json:"server_tools"` // given to the draft alone
	More      []string `json:"more_tools"`   // each as “name: title. description”
	Steps     []struct {
		Title, Tool string
		Facts       map[string]any
	}
}

// answer returns JSON of the purpose's schema, or the failure that the message asks for.
func answer(purpose model.Purpose, try int, text string) (string, error) {
	var in input
	if err := fenced(text, &in); err != nil {
		return "", fmt.Errorf("read the data: %w", err)
	}
	m := form("@fail").FindStringSubmatch(in.Message)
	if m != nil && try <= 1 && strings.EqualFold(m[1], string(purpose)) {
		return "", failed()
	}
	w, err := read(in)
	if err != nil {
		return "", err
	}
	switch purpose {
	case model.Drafting:
		w.heed("reason")
	case model.Planning:
		for _, m := range form("$applied").FindAllStringSubmatch(in.Policy, -1) {
			w.says(m[1], "reason") // people stamped what came of it
		}
		w.heed("steps")
	}
	return w.Text(string(purpose)), nil
}

//go:embed words samples answers.txt phrases.txt
var embedded embed.FS

// words are the texts of one language. A test holds the names in the code against them.
type words struct {
	Locale  string
	Say     map[string]string
	List    map[string]string            // forms of all lists, with words of the list's file in braces
	Topics  map[string]map[string]string // forms and words of the topics that are no lists
	Columns map[string]string            // titles of columns, by the rows' member; lists have their own
	Agent   map[string]string
	// Teams are the texts of contests. A draft has a title, or the policy's first line, and some of the lines.
	Title                string
	General, Policy      []string
	Good, Mend, Unscored string
}

var spoken = language.Catalog[words]{Files: &embedded, Folder: "words"}

// texts are the templates of answers, by language.
var texts = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, locale := range language.All {
		all[locale] = template.Must(template.New("").Funcs(template.FuncMap{
			"json": func(v any) string { return string(encoded(v)) },
			"clip": clip, "quote": spoken.In(locale).quote,
			"keep": func(lines string) string { return strings.ReplaceAll(lines, "\n", inLine) },
			"yen": func(v any) string { // as cards write it
				return explain.Money("", rules.Amount{Value: rules.Decimal(encoded(v)), Currency: "JPY"})
			},
		}).ParseFS(embedded, "words/"+locale+".txt", "answers.txt"))
	}
	return all
})

// inLine stands for the end of a line that a text keeps.
const inLine = "\ue0ff"

// text fills a template in. No line of it has blanks at its end or is empty.
func (t *words) text(name string, data any) string {
	var out strings.Builder
	if err := texts()[t.Locale].ExecuteTemplate(&out, name, data); err != nil {
		return err.Error() // a test fills each in
	}
	return strings.TrimSpace(form("$ends").ReplaceAllString(out.String(), "\n"))
}

func (t *words) quote(s string) string { return fmt.Sprintf(t.Say["quote"], s) }

// clip joins a text into one line of at most so many characters.
func clip(most int, s string) string {
	return language.Clip(strings.Join(strings.Fields(s), " "), most)
}

// Text fills a template in with the request, and ends the lines that it keeps.
func (w *meant) Text(name string) string {
	return strings.ReplaceAll(w.words.text(name, w), inLine, "\n")
}

// Say is a sentence about the request.
func (w *meant) Say(name string, of ...any) string { return fmt.Sprintf(w.words.Say[name], of...) }

// Form fills in what the words say under a name of the request's topic: the topic's own form, its list's, or else one
// that many share.
func (w *meant) Form(name string) string {
	dept, x := w.Said["dept"], w.List.Demo.Words[w.words.Locale]
	of := map[bool]string{true: w.Say("titleOf", dept)}[dept != ""]
	form := cmp.Or(w.words.Topics[w.Said["topic"]][name], x.Forms[name], w.words.List[name], w.words.Say[name])
	return language.Fill(form, "of", of, "when", w.Text("when"), "department", dept, "text", clip(60, w.Quote),
		"to", "<@"+strings.Join(w.People, ">"+w.Say("and")+"<@")+">", "supplier", w.Supplier, "short", clip(60, w.Supplier),
		"list", w.List.Title.In(w.words.Locale), "things", x.Things, "tab", x.Tab, "from", x.From, "handled", x.Handled,
		"request", w.words.quote(clip(60, cmp.Or(strings.TrimSpace(w.Part), w.Request))))
}

// Columns are the members of the rows that the sheet shows, each with its heading.
func (w *meant) Columns() (out []object) {
	own := w.List.Demo
	for key := range strings.FieldsSeq(cmp.Or(macros["columns_"+w.Said["topic"]], strings.Join(own.Columns, " "))) {
		out = append(out, object{"key": key,
			"title": cmp.Or(own.Words[w.words.Locale].Columns[key], w.words.Columns[key])})
	}
	return out
}

// How are a policy's numbered lines.
func (w *meant) How() (lines string) {
	for i, line := range strings.Split(w.words.text("how", w), "\n") {
		lines += fmt.Sprintf("\n%d. %s", i+1, line)
	}
	return lines
}

// lists are the tools that the demo plans from their catalog files. A list's rows go to the sheet, and the notice
// tells their number.
var lists = sync.OnceValue(func() map[string]tenancy.OwnTool {
	all := map[string]tenancy.OwnTool{}
	files, _ := tenancy.OwnTools() // a test reads every file
	for _, f := range files {
		if f.Demo != nil {
			all[f.Name] = f
		}
	}
	return all
})

type object map[string]any

// Plan has the steps, or says what is missing for them. A line of the template has a step's name, whether it reads or
// writes, its tool and its arguments; what they refer to as name.x is the step's result.
func (w *meant) Plan() object {
	steps, missing, refs := []object{}, []object{}, []string(nil)
	for line := range strings.SplitSeq(w.Text("steps"), "\n") {
		part := strings.SplitN(line, " ", 4)
		name, does, tool := part[0], part[1], part[2]
		var input object
		_ = json.Unmarshal([]byte(strings.NewReplacer(refs...).Replace(part[3])), &input) // a test fills each in
		if dept := w.Said["dept"]; name == "list" && dept != "" {
			input["department"] = dept
		}
		says, n := strings.Split(w.Text("step "+name), "\n"), len(steps)+1
		missing = append(missing, w.In.lacks(says[0], tool, input)...)
		refs = append(refs, `"$ref":"`+name+".", fmt.Sprintf(`"$ref":"step-%d.result.`, n))
		steps = append(steps, object{"stepId": fmt.Sprintf("step-%d", n), "order": n, "title": says[0], "tool": tool,
			"toolInput": string(encoded(input)), "description": says[1], "expectedOutput": says[2],
			"requiresHumanCheck": w.Said["check"] != "" && does == "write"})
	}
	if len(missing) > 0 {
		steps = []object{}
	}
	missing = slices.CompactFunc(missing, maps.Equal[object, object])
	return object{"steps": steps, "missing": missing, "remarks": w.Text("remarks")}
}

// lacks says why what is to be done can't be done by a tool with these arguments. The demo never replaces a forbidden
// value by an allowed one.
func (in input) lacks(what, tool string, arguments object) []object {
	for _, t := range in.Tools {
		for name, value := range arguments {
			listed, _ := t.Constraints[name+"s"].([]any)
			if t.Name == tool && len(listed) > 0 && !slices.Contains(listed, value) {
				return []object{{"what": what, "tool": tool, "why": "constraint"}}
			}
		}
		if t.Name == tool {
			return nil
		}
	}
	if slices.Contains(in.Forbidden, tool) {
		return []object{{"what": what, "tool": tool, "why": "forbidden"}}
	}
	return []object{{"what": what, "tool": "", "why": "no_tool"}}
}
