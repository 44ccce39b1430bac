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
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

// heard is what a turn tells the agent: the last statement of a person, the texts of forwarded messages, the names of
// files, the result of an action or a proposal, and what was read.
type heard struct {
	text, system    string
	forwards, files []string
	refused, read   string
	spoken          bool
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
			case e.Forwards != "":
				h.forwards = append(h.forwards, e.Quoted)
			case e.File != "":
				h.files = append(h.files, e.File)
			case said != "" && (p.Result != nil || !result): // what else a turn says hides no result
				h.system, result = h.system+said, p.Result != nil
			case e.From != "":
				h.text, h.spoken = e.Text, true
			}
		}
	}
	return h
}

// talk is a conversation with the demo's agent.
type talk struct {
	model.Request
	locale     string
	words      map[string]string
	now, asked heard    // the newest turn, and the newest in which a person says something
	unread     []string // what a person says that the answer doesn't heed
	said       string   // what a person asks for; see given
	shown      *strings.Replacer
}

// given is what a person says themselves in a text: nothing that is struck through or quoted. Each piece of code but
// a file's name is one rune, so that no phrase is found in it; shown writes the code again.
func given(text string) (said string, shown *strings.Replacer) {
	var code []string
	text = form("%-coded").ReplaceAllString(text, "$1$2")
	text = form("%-code").ReplaceAllStringFunc(text, func(s string) string {
		code = append(code, string(rune(0xE100+len(code))), s)
		return code[len(code)-2]
	})
	text = form("%-quoted").ReplaceAllString(form("%-quotedRest").ReplaceAllString(text, " "), " ")
	return strings.TrimSpace(form("%-struck").ReplaceAllString(text, "$1 $2")), strings.NewReplacer(code...)
}

// unstruck is a text without what is struck through: between ~, in a file between ~~.
func unstruck(text string) string {
	return form("%-struck").ReplaceAllString(form("%-struckTwice").ReplaceAllString(text, " "), "$1 $2")
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
		if h := t.hear(m); m.Role == model.User && h.spoken {
			text, _ := given(cmp.Or(h.text, strings.Join(h.forwards, "")))
			if at := form("%run").FindStringSubmatchIndex(text); at != nil {
				text = text[:at[2]]
			}
			t.locale, t.asked = language.Detect(text, language.All[0]), h
		}
	}
	t.words = spoken.In(t.locale).Agent
	t.now = t.hear(r.Messages[len(r.Messages)-1])
	return t
}

// say answers, and names what the newest statement says or encloses and the answer makes no use of.
func (t talk) say(texts ...string) model.Response {
	of := meant{words: spoken.In(t.locale)}
	if len(t.unread) > 0 {
		texts = append(texts, "\n"+of.Say("notDone", of.Quoted(t.unread)))
	}
	unused := append(slices.Repeat([]string{t.words["forward"]}, min(1, len(t.asked.forwards))), t.asked.files...)
	if len(unused) > 0 && (t.now.system == "" || t.now.spoken) {
		texts = append(texts, "\n"+fmt.Sprintf(t.words["unused"], strings.Join(unused, t.words["comma"])))
	}
	return model.Response{Text: strings.TrimSpace(strings.Join(texts, ""))}
}

func (t talk) answer() model.Response {
	h, w := t.now, t.words
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
	t.said, t.shown = given(h.text)
	if len(h.forwards) == 1 && h.files == nil && !says(t.said) { // the forwarded message is what the person says
		t.said, t.shown = given(h.forwards[0])
		t.asked.forwards = nil
	}
	for _, p := range phrases() {
		m := p.form.FindStringSubmatchIndex(t.said)
		if p.tag[0] == '%' && p.means != "" && m != nil {
			said := string(p.form.ExpandString(nil, "$1$2$3$4", t.said, m))
			return t.act(p, strings.TrimSpace(said), t.said[:m[0]], t.shown.Replace(t.said[m[1]:]))
		}
	}
	t.unread = strange(lex(normal(t.shown.Replace(t.said)), false))
	return t.say(w["lost"])
}

// act does what a phrase asks for, if a tool for it is offered and nothing beside it denies or narrows it; said is what
// the phrase names, before and rest what stands beside it.
func (t talk) act(p phrase, said, before, rest string) model.Response {
	does, value := p.tag[1:], any(strings.TrimRight(said, ".?!"))
	// Each further proposal of files has one more empty line, so that it makes a change to approve.
	more := strings.Repeat("\n", strings.Count(string(encoded(t.Messages)), `"Name":"`+string(agent.CodeGenerate)+`"`))
	switch does {
	case "run":
		script := form("%-whole").ReplaceAllString(t.shown.Replace(said), "$1$2")
		value = object{"script": strings.TrimSpace(script), "timeout_seconds": 60}
	case "write", "files": // what the message gives, a sample or a note
		names := slices.Compact(form("%-file").FindAllString(cmp.Or(said, "hello.js hello.test.js"), -1))
		given := ""
		for _, m := range form("%-body").FindAllStringSubmatch(rest, -1) {
			if body := strings.Trim(strings.Join(m[1:], ""), "\n "); said != "" && given == "" && body != "" {
				given, rest = body+"\n", strings.Replace(rest, m[0], " ", 1)
			}
		}
		var all []object
		for _, name := range names {
			sample, _ := embedded.ReadFile("samples/" + name) // a test reads each
			note := fmt.Sprintf(t.words["note"], strings.TrimSuffix(path.Base(name), path.Ext(name)))
			all = append(all, object{"path": name, "content": cmp.Or(given, string(sample), note) + more})
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
	t.unread = strange(lex(normal(t.shown.Replace(before)+"\n"+rest), false))
	if form("%-but").MatchString(strings.Join(t.unread, "\n")) {
		t.unread = strange(lex(normal(t.shown.Replace(t.said)), false))
		return t.say(t.words["lost"])
	}
	t.unread = map[bool][]string{false: t.unread}[does == "offer_request"]
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

// request is the text of a request: the words next to the phrase that asks for it, what the message forwards, or else
// earlier words.
func (t *talk) request(form *regexp.Regexp) string {
	for _, m := range slices.Backward(t.Messages) {
		h := t.hear(m)
		switch text := strings.TrimSpace(form.ReplaceAllString(h.text, "")); {
		case m.Role != model.User:
		case text != "":
			return text
		case len(h.forwards) > 0:
			t.asked.forwards = nil
			return strings.Join(h.forwards, "\n")
		}
	}
	return t.asked.text
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
	text += map[bool]string{true: w["comma"] + w["none"]}[form("%-none").MatchString(output)]
	counted := ""
	if m := form("%-tested").FindStringSubmatch(told); m != nil {
		tests := conversation.Tests{Passed: number(m[1]), Failed: number(m[2]), Skipped: number(m[3])}
		counted = tests.Said(t.locale)
	}
	text += map[bool]string{true: w["stop"] + "\n" + counted}[counted != ""]
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "```", "` ` `"), "\n"), "\n")
	if shown := strings.Trim(strings.Join(lines[max(0, len(lines)-8):], "\n"), "\n"); shown != "" {
		return t.say(text, w["stop"], "\n```\n"+shown+"\n```")
	}
	return t.say(text, w["stop"])
}
