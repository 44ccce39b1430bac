package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

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

// talk is a conversation with the demo's agent.
type talk struct {
	model.Request
	locale string
	words  map[string]string
}

// Say answers the last statement of a person, or says what became of an action.
func (Agent) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out := begun(ctx, r)
	if len(r.Messages) > 0 {
		answer := agentOf(r).answer()
		out.Text, out.Calls = answer.Text, answer.Calls
	}
	return out, nil
}

// agentOf reads a conversation. Ringi's messages are in the workspace's language, which may not be the person's, and a
// command is in no language.
func agentOf(r model.Request) talk {
	t := talk{Request: r, locale: language.All[0]}
	for _, m := range r.Messages {
		if text := t.hear(m).text; m.Role == model.User && text != "" {
			if at := form("%run").FindStringSubmatchIndex(text); at != nil {
				text = text[:at[2]]
			}
			t.locale = language.Detect(text, language.All[0])
		}
	}
	t.words = spoken.In(t.locale).Agent
	return t
}

func (t talk) say(texts ...string) model.Response {
	return model.Response{Text: strings.TrimSpace(strings.Join(texts, ""))}
}

func (t talk) answer() model.Response {
	h, w := t.hear(t.Messages[len(t.Messages)-1]), t.words
	switch {
	case h.read != "":
		return t.say(h.read)
	case h.text+h.refused == "" && h.system != "":
		return t.ended(h.system)
	}
	for _, of := range []string{"unchanged", "patch", "waits"} {
		if form("%-" + of).MatchString(h.refused) {
			return t.say(w[of])
		}
	}
	for _, p := range phrases() {
		m := p.form.FindStringSubmatchIndex(h.text)
		if p.tag[0] == '%' && p.means != "" && m != nil {
			said := string(p.form.ExpandString(nil, "$1$2$3$4", h.text, m))
			return t.act(p, strings.TrimSpace(said), h.text[:m[0]], h.text[m[1]:])
		}
	}
	return t.say(w["lost"])
}

// act does what a phrase asks for, if a tool for it is offered and nothing beside it denies it; said is what the phrase
// names, before and rest what stands beside it.
func (t talk) act(p phrase, said, before, rest string) model.Response {
	does, value := p.tag[1:], any(strings.TrimRight(said, ".?!"))
	// Each further proposal of files has one more empty line, so that it makes a change to approve.
	more := strings.Repeat("\n", strings.Count(string(encoded(t.Messages)), `"Name":"`+string(agent.CodeGenerate)+`"`))
	switch does {
	case "run":
		value = object{"script": said, "timeout_seconds": 60}
	case "write", "files": // a sample or a note
		names := slices.Compact(form("%-file").FindAllString(cmp.Or(said, "hello.js hello.test.js"), -1))
		var all []object
		for _, name := range names {
			sample, _ := embedded.ReadFile("samples/" + name) // a test reads each
			note := fmt.Sprintf(t.words["note"], strings.TrimSuffix(path.Base(name), path.Ext(name)))
			all = append(all, object{"path": name, "content": cmp.Or(string(sample), note) + more})
		}
		value, said = all, strings.Join(names, t.words["comma"])
	case "pull":
		if !strings.Contains(string(encoded(t.Tools)), `open_pull_request`) {
			return t.say(t.words["noPull"])
		}
		value = string(encoded(object{"title": t.words["pullTitle"], "body": t.words["pullBody"]}))
	case "employees":
		if !strings.Contains(string(encoded(t.Tools)), `list_employees`) {
			return t.say(t.words["noRead"])
		}
	case "offer_request": // what stands beside it is the request; only what goes on in the same words may deny it
		value, before, rest = t.request(p.form), form("%-tail").FindString(before), form("%-head").FindString(said+rest)
	}
	if form("%-but").MatchString(before + "\n" + rest) {
		return t.say(t.words["lost"])
	}
	tool, call, _ := strings.Cut(strings.Replace(p.means, `"$1"`, string(encoded(value)), 1), "{")
	if !slices.ContainsFunc(t.Tools, func(x model.Tool) bool { return x.Name == tool }) {
		return t.say(t.words["cant"])
	}
	var input object
	_ = json.Unmarshal([]byte("{"+call), &input) // a test reads each
	if sum := t.words[does+"Sum"]; sum != "" {
		input["summary"] = language.Fill(sum, "name", said)
	}
	out := t.say(language.Fill(t.words[does], "name", said))
	out.Calls = []model.Call{{ID: "call_demo", Name: tool, Input: encoded(input)}}
	return out
}

// request is the text of a request: the words next to the phrase that asks for it, or else earlier words.
func (t talk) request(form *regexp.Regexp) string {
	said := ""
	for _, m := range slices.Backward(t.Messages) {
		text := t.hear(m).text
		if rest := strings.TrimSpace(form.ReplaceAllString(text, "")); m.Role == model.User && rest != "" {
			return rest
		}
		said = cmp.Or(said, text)
	}
	return said
}

// ended answers after a result: it says how an action ended, with the last lines of output, or repeats the first line.
func (t talk) ended(result string) model.Response {
	m, w := form("%-ended").FindStringSubmatch(result), t.words
	first, _, _ := strings.Cut(result, "\n")
	switch {
	case m == nil && language.Detect(first, language.All[0]) != t.locale && strings.Contains(first, "#"):
		return t.say(w["card"]) // in the other language it stands on the card; what was refused at once has none
	case m == nil:
		return t.say(w["result"], "\n", first)
	}
	told, output := result, ""
	if at := form("%-output").FindStringSubmatchIndex(result); at != nil {
		told, output = result[:at[0]], form("%-number").ReplaceAllString(result[at[2]:at[3]], "")
	}
	text, colon := map[bool]string{true: w["done"], false: w["failed"]}[m[1]+m[2] != ""], w["colon"]
	for _, of := range []string{"exit", "changed", "pulled", "counted"} {
		if at := form("%+" + of).FindStringSubmatchIndex(told); at != nil {
			text, colon = string(form("%+"+of).ExpandString([]byte(text+colon), w[of], told, at)), w["comma"]
		}
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "```", "` ` `"), "\n"), "\n")
	if shown := strings.Trim(strings.Join(lines[max(0, len(lines)-8):], "\n"), "\n"); shown != "" {
		return t.say(text, w["stop"], "\n```\n"+shown+"\n```")
	}
	return t.say(text, w["stop"])
}
