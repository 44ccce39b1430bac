package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

func sample(name string) string {
	b, _ := files.ReadFile("samples/" + name) // no such file is an empty one
	return string(b)
}

// heard is what a turn tells the agent: the last statement of a person, what it encloses, the result of an action or a
// proposal, and what was read.
type heard struct {
	text, system     string
	forwards, others []string // the texts of forwarded messages; the names of all that is enclosed
	refused, read    string
	spoken           bool
}

func (t talk) hear(turn model.Message) (h heard) {
	result := false
	for _, p := range turn.Parts {
		text := p.Text
		if p.Result != nil {
			if text = p.Result.Text; p.Result.Failed {
				h.refused += text
			}
			if strings.HasPrefix(p.Result.CallID, "read_") {
				h.read += t.told(text)
			}
		}
		var list []struct{ From, System, Quoted, Text, File, Forwards string }
		_, text, _ = strings.Cut(text, "<messages>\n")
		text, _, _ = strings.Cut(text, "\n</messages>")
		_ = json.Unmarshal([]byte(text), &list) // what is not readable says nothing
		goes := false
		for _, e := range list {
			switch said := e.System + e.Quoted; {
			case e.Forwards != "":
				h.forwards, h.others = append(h.forwards, e.Quoted), add(h.others, t.words["forward"])
			case e.File != "":
				h.others = add(h.others, e.File)
			case said != "" && goes: // it goes on
				h.system += said
			case said != "" && (p.Result != nil || !result):
				h.system, result = said, p.Result != nil
			case e.From != "":
				h.text, h.spoken = e.Text, true
			}
			goes = e.System != "" || e.Quoted != "" && e.Forwards == ""
		}
	}
	return h
}

// told says what a read returned; empty if it is none.
func (t talk) told(result string) string {
	var x map[string]any
	if json.Unmarshal([]byte(result), &x) != nil {
		return ""
	}
	lines := strings.Trim(spoken.In(t.locale).filled("told", x), "\n")
	if lines == "" {
		return t.words["nothing"] + "\n"
	}
	return t.words["read"] + "\n```\n" + lines + "\n```\n"
}

// talk is a conversation with the demo's agent.
type talk struct {
	model.Request
	locale     string
	words      map[string]string
	now, asked heard // the newest turn, and the newest in which a person says something
}

// Say answers the last statement of a person, or says what became of an action.
func (Agent) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := begun(ctx, r)
	if len(r.Messages) > 0 {
		answer := agentOf(r).answer()
		out.Text, out.Calls = answer.Text, answer.Calls
	}
	for _, end := range []int{len(out.Text) / 2, len(out.Text)} {
		onText(strings.ToValidUTF8(out.Text[:end], ""))
	}
	return out, nil
}

// agentOf reads a conversation. Ringi's messages are in the workspace's language, which may not be the person's, and a
// command is in no language.
func agentOf(r model.Request) talk {
	t := talk{Request: r, locale: language.All[0]}
	for _, m := range r.Messages {
		if h := t.hear(m); m.Role == model.User && h.spoken {
			text := cmp.Or(h.text, strings.Join(h.forwards, ""))
			if at := form("%run").FindStringSubmatchIndex(text); at != nil {
				text = text[:at[2]]
			}
			t.locale = language.Of(text, language.All[0])
			t.words = maps.Clone(spoken.In(t.locale).Agent)
			t.asked = t.hear(m)
		}
	}
	t.words = maps.Clone(spoken.In(t.locale).Agent)
	t.now = t.hear(r.Messages[len(r.Messages)-1])
	return t
}

// say answers, and names what the newest statement encloses and the answer makes no use of.
func (t talk) say(texts ...string) model.Response {
	if len(t.asked.others) > 0 && (t.now.system == "" || t.now.spoken) {
		texts = append(texts, "\n"+fmt.Sprintf(t.words["unused"], strings.Join(t.asked.others, t.words["comma"])))
	}
	return model.Response{Text: strings.TrimSpace(strings.Join(texts, ""))}
}

func (t talk) answer() model.Response {
	h, w := t.now, t.words
	switch {
	case h.text+h.read+h.refused == "" && h.system != "":
		return t.ended(h.system)
	case h.read != "":
		return t.say(h.read)
	}
	for _, of := range []string{"unchanged", "patch", "waits"} {
		if form("%-" + of).MatchString(h.refused) {
			return t.say(w[of])
		}
	}
	text := h.text
	if len(h.forwards) == 1 && len(h.others) == 1 && !says(text) { // the forwarded message is what the person says
		text, t.asked.others = h.forwards[0], nil
	}
	for _, p := range phrases() {
		if p.tag[0] != '%' || p.means == "" { // it asks for nothing
			continue
		}
		if m := p.form.FindStringSubmatch(text); m != nil {
			if out, ok := t.act(p, strings.TrimSpace(strings.Join(m[1:], "")), text); ok {
				return out
			}
		}
	}
	return t.say(w["lost"])
}

// act does what a phrase asks for, if a tool for it is offered; said is what the phrase names. It reports false if the
// phrase means something else.
func (t talk) act(p phrase, said, text string) (model.Response, bool) {
	times := strings.Count(string(encoded(t.Messages)), `"Name":"`+string(agent.CodeGenerate)+`"`) // proposed before
	does, value := p.tag[1:], any(nil)
	switch does {
	case "run":
		var all []object
		for _, script := range form("%-next").Split(said, -1) {
			all = append(all, object{"script": strings.TrimSpace(script), "timeout_seconds": 60})
		}
		if value = all[0]; len(all) > 1 {
			value = object{"commands": all}
		}
	case "write":
		if strings.Contains(said, "..") || strings.Contains(said, "//") {
			return model.Response{}, false
		}
		for _, name := range []string{"write", "writeSum"} {
			t.words[name] = fmt.Sprintf(t.words[name], said)
		}
		_, rest, _ := strings.Cut(text, p.form.FindString(text))
		value = []object{{"path": said, "content": t.content(said, text, rest) + strings.Repeat("\n", times)}}
	case "files": // after the first time with a line that makes a change to approve
		again := strings.Repeat(fmt.Sprintf("// %d\n", times+1), min(1, times))
		value = []object{{"path": "hello.js", "content": sample("hello.js") + again},
			{"path": "hello.test.js", "content": sample("hello.test.js")}}
	case "pull":
		if !strings.Contains(string(encoded(t.Tools)), `open_pull_request`) {
			return t.say(t.words["noPull"]), true
		}
		value = string(encoded(object{"title": t.words["pullTitle"], "body": t.words["pullBody"]}))
	case "joined":
		asked := object{"department": nil, "status": "all"}
		if m := form("%-of").FindStringSubmatch(text); m != nil {
			asked["department"] = m[1] + m[2]
		}
		value = string(encoded(asked))
	case "hand_over":
		value = t.request(p.form)
	default:
		value = strings.TrimRight(said, ".?!")
	}
	tool := p.means[:strings.IndexAny(p.means, `{"`)]
	call := strings.Replace(p.means[len(tool):], `"$1"`, string(encoded(value)), 1)
	if !slices.ContainsFunc(t.Tools, func(x model.Tool) bool { return x.Name == tool }) {
		return t.say(t.words["cant"]), true
	}
	var input object
	_ = json.Unmarshal([]byte(call), &input) // a test reads each
	if sum := t.words[does+"Sum"]; sum != "" {
		input["summary"] = sum
	}
	out := t.say(t.words[does])
	out.Calls = []model.Call{{ID: "call_demo", Name: tool, Input: encoded(input)}}
	return out, does != "read_file" || said != ""
}

// content is what is written into a file: what the message gives, the demo's draft on the topic that it names, or a
// sample by the file's ending.
func (t talk) content(name, text, rest string) string {
	if m := form("%-body").FindStringSubmatch(rest); m != nil {
		if body := strings.Trim(strings.Join(m[1:], ""), "\n "); body != "" {
			return body + "\n"
		}
	}
	ending := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	if d, known := allDrafts.In(t.locale).on(text); known && (ending == "md" || ending == "txt") {
		lines := d.text(0, 1)
		return "# " + lines[0] + "\n\n" + lines[1] + "\n\n" + strings.Join(lines[2:], "\n") + "\n"
	}
	return cmp.Or(sample(ending), fmt.Sprintf(t.words["note"], strings.TrimSuffix(path.Base(name), path.Ext(name))))
}

// request is the text of a request: the words next to the phrase that asks for it, what the message forwards, or else
// earlier words.
func (t *talk) request(form *regexp.Regexp) string {
	for _, m := range slices.Backward(t.Messages) {
		h := t.hear(m)
		if m.Role != model.User {
			continue
		}
		if text := strings.TrimSpace(form.ReplaceAllString(h.text, "")); text != "" {
			return text
		}
		if len(h.forwards) > 0 {
			used := func(s string) bool { return s == t.words["forward"] }
			t.asked.others = slices.DeleteFunc(slices.Clone(t.asked.others), used)
			return strings.Join(h.forwards, "\n")
		}
	}
	return t.asked.text
}

// maxShown is the most lines of output that an answer repeats.
const maxShown = 8

// ended answers after a result: it says who joined, how an action ended, or repeats the first line.
func (t talk) ended(result string) model.Response {
	if said := t.counted(result); said != "" {
		return t.say(said)
	}
	m, w := form("%-ended").FindStringSubmatch(result), t.words
	if m == nil { // in the other language the person reads it only on the card; what was refused at once has none
		first, _, _ := strings.Cut(result, "\n")
		if language.Of(first, language.All[0]) == t.locale || !strings.Contains(first, "#") {
			return t.say(w["result"], "\n", first)
		}
		return t.say(w["card"])
	}
	told, output := result, ""
	if at := form("%-output").FindStringSubmatchIndex(result); at != nil {
		told, output = result[:at[0]], form("%-number").ReplaceAllString(result[at[2]:at[3]], "")
	}
	text, colon := w["failed"], w["colon"]
	if m[1]+m[2] != "" {
		text = w["done"]
	}
	for _, of := range []string{"exit", "changed", "pulled"} {
		if at := form("%+" + of).FindStringSubmatchIndex(told); at != nil {
			text, colon = string(form("%+"+of).ExpandString([]byte(text+colon), w[of], told, at)), w["comma"]
		}
	}
	var tests conversation.Tests
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "```", "` ` `"), "\n"), "\n")
	for _, line := range lines {
		tests.Read(line)
	}
	text += w["stop"]
	if said := tests.Counted().Said(t.locale); said != "" {
		return t.say(text, fmt.Sprintf(w["tests"], said))
	}
	if shown := strings.Trim(strings.Join(lines[max(0, len(lines)-maxShown):], "\n"), "\n"); shown != "" {
		text += "\n```\n" + shown + "\n```"
	}
	return t.say(text)
}

// counted says who joined in the month that the person asked for; empty if the result has no employees.
func (t talk) counted(result string) string {
	_, data, _ := strings.Cut(result, "{")
	var got struct {
		Employees []struct {
			Name   string `json:"display_name"`
			Joined string `json:"entry_date"`
		}
	}
	if json.NewDecoder(strings.NewReader("{"+data)).Decode(&got) != nil || got.Employees == nil {
		return ""
	}
	month := ""
	for _, said := range lex(normal(t.asked.text), false) {
		if said.is("month") && said.means == "" { // which month is this one it isn't told
			month = said.month(time.Time{}).Format("-01-")
		}
	}
	var names []string
	for _, e := range got.Employees {
		if strings.Contains(e.Joined, month) && e.Joined != "" {
			names = append(names, "\n"+e.Name+" ("+e.Joined+")")
		}
	}
	slices.Sort(names)
	return fmt.Sprintf(t.words["counted"], len(got.Employees), len(names)) + strings.Join(names, "")
}
