package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

// talk is a conversation with the demo's agent.
type talk struct {
	model.Request
	locale string
	words  map[string]string
}

// Say answers the last statement of a person, or says what became of an action. Ringi's messages are in the
// workspace's language, which may not be the person's, and a command is in no language.
func (Agent) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, t := begun(ctx, r), talk{Request: r, locale: language.All[0]}
	for _, m := range r.Messages {
		if text := t.hear(m).text; m.Role == model.User && text != "" {
			if at := form("%run").FindStringSubmatchIndex(text); at != nil {
				text = text[:at[2]]
			}
			t.locale = language.Detect(text, language.All[0])
		}
	}
	t.words = spoken.In(t.locale).Agent
	if len(r.Messages) > 0 {
		out.Text, out.Calls = t.answer()
	}
	return out, nil
}

// heard is what a turn tells the agent: the last statement of a person, the result of an action or a proposal, and what
// was read.
type heard struct {
	text, system, refused, read string
}

func (t talk) hear(turn model.Message) (h heard) {
	result := false
	for _, p := range turn.Parts {
		r := cmp.Or(p.Result, &model.Result{Text: p.Text})
		if r.Failed {
			h.refused += r.Text
		}
		var found map[string]any
		if strings.HasPrefix(r.CallID, "read_") && json.Unmarshal([]byte(r.Text), &found) == nil {
			h.read += spoken.In(t.locale).filled("told", found)
		}
		var list []struct{ From, System, Quoted, Text, File, Forwards string }
		_, text, _ := strings.Cut(r.Text, "<messages>\n")
		text, _, _ = strings.Cut(text, "\n</messages>")
		_ = json.Unmarshal([]byte(text), &list) // what is not readable says nothing
		for _, e := range list {
			switch said := e.System + e.Quoted; {
			case e.File+e.Forwards != "": // the demo takes no notice
			case said != "" && (p.Result != nil || !result): // what else a turn says hides no result
				h.system, result = h.system+said, p.Result != nil
			case e.From != "":
				h.text = e.Text
			}
		}
	}
	return h
}

func (t talk) answer() (string, []model.Call) {
	h, w := t.hear(t.Messages[len(t.Messages)-1]), t.words
	switch {
	case h.read != "":
		return strings.TrimSpace(h.read), nil
	case h.text+h.refused == "" && h.system != "":
		return t.ended(h.system), nil
	}
	for _, of := range []string{"unchanged", "patch", "waits"} {
		if form("%-" + of).MatchString(h.refused) {
			return w[of], nil
		}
	}
	for _, p := range phrases() {
		if m := p.form.FindStringSubmatch(h.text); p.tag[0] == '%' && p.means != "" && m != nil {
			return t.act(p, m[0], strings.TrimSpace(strings.Join(m[1:], "")))
		}
	}
	if form("$help").MatchString(h.text) {
		return w["can"], nil
	}
	return w["lost"] + w["can"], nil
}

// act does what a phrase asks for, if a tool for it is offered; said is what the whole statement names.
func (t talk) act(p phrase, whole, said string) (string, []model.Call) {
	does, value := p.tag[1:], any(said)
	switch does {
	case "run":
		value = object{"script": said, "timeout_seconds": 60}
	case "files":
		value = t.files("hello.js", "hello.test.js")
	case "write":
		value = t.files(said)
	case "pull":
		value = string(encoded(object{"title": t.words["pullTitle"], "body": t.words["pullBody"]}))
	case "offer_request":
		value = cmp.Or(said, t.earlier(), whole)
	}
	name, call, _ := strings.Cut(strings.Replace(p.means, `"$1"`, string(encoded(value)), 1), "{")
	var input object
	_ = json.Unmarshal([]byte("{"+call), &input) // a test reads each
	calls, _ := input["tool"].(string)           // one of the tools that are offered behind that name
	at := slices.IndexFunc(t.Tools, func(x model.Tool) bool { return x.Name == name })
	if at < 0 || calls != "" && !strings.Contains(string(t.Tools[at].Schema), calls) {
		return cmp.Or(t.words["no_"+calls], t.words["cant"]), nil
	}
	if sum := t.words[does+"Sum"]; sum != "" {
		input["summary"] = language.Fill(sum, "name", said)
	}
	return language.Fill(t.words[does], "name", said), []model.Call{{ID: "call_demo", Name: name, Input: encoded(input)}}
}

// files are those of a proposal: samples, or a note. Each further proposal has one more empty line, so that it makes a
// change to approve.
func (t talk) files(names ...string) (all []object) {
	more := strings.Repeat("\n", strings.Count(string(encoded(t.Messages)), `"Name":"`+string(agent.CodeGenerate)+`"`))
	for _, name := range names {
		sample, _ := embedded.ReadFile("samples/" + name) // a test reads each
		note := fmt.Sprintf(t.words["note"], strings.TrimSuffix(path.Base(name), path.Ext(name)))
		all = append(all, object{"path": name, "content": cmp.Or(string(sample), note) + more})
	}
	return all
}

// earlier is the last statement before the newest.
func (t talk) earlier() string {
	for _, m := range slices.Backward(t.Messages[:len(t.Messages)-1]) {
		if text := t.hear(m).text; m.Role == model.User && text != "" {
			return text
		}
	}
	return ""
}

// ended answers after a result: it says whether an action is done, with the last lines of output, or repeats the first
// line.
func (t talk) ended(result string) string {
	m, w := form("%-ended").FindStringSubmatch(result), t.words
	first, _, _ := strings.Cut(result, "\n")
	switch {
	case m == nil && language.Detect(first, language.All[0]) != t.locale && strings.Contains(first, "#"):
		return w["card"] // in the other language it stands on the card; what was refused at once has none
	case m == nil:
		return w["result"] + "\n" + first
	}
	said := map[bool]string{true: w["done"], false: w["failed"]}[m[1]+m[2] != ""]
	if at := form("%-counted").FindStringSubmatch(result); at != nil {
		said += fmt.Sprintf(w["counted"], at[1])
	}
	if at := form("%-output").FindStringSubmatch(result); at != nil {
		output := strings.ReplaceAll(form("%-number").ReplaceAllString(at[1], ""), "```", "` ` `")
		lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
		said += "\n```\n" + strings.Trim(strings.Join(lines[max(0, len(lines)-8):], "\n"), "\n") + "\n```"
	}
	return said
}
