package demo

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

//go:embed agent.txt
var agentTable string

// samples are files to propose, by their ending or name.
//
//go:embed samples
var samples embed.FS

func sample(name string) string {
	b, err := samples.ReadFile("samples/" + name)
	if err != nil {
		return ""
	}
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

func hear(turn model.Message, w map[string]string) (h heard) {
	result := false
	for _, p := range turn.Parts {
		text := p.Text
		if p.Result != nil {
			text = p.Result.Text
			if p.Result.Failed {
				h.refused += text
			}
			if strings.HasPrefix(p.Result.CallID, "read_") {
				h.read += told(text, w)
			}
		}
		var list []struct {
			From, System, Quoted, Text, File, Forwards string
		}
		_, text, _ = strings.Cut(text, "<messages>\n")
		text, _, _ = strings.Cut(text, "\n</messages>")
		_ = json.Unmarshal([]byte(text), &list) // what is not readable says nothing
		before := ""
		for _, e := range list {
			said := e.System
			if e.Forwards == "" {
				said += e.Quoted
			}
			switch {
			case e.Forwards != "":
				h.forwards, h.others = append(h.forwards, e.Quoted), add(h.others, w["forward"])
			case e.File != "":
				h.others = add(h.others, e.File)
			case said != "" && before != "": // it goes on
				h.system += said
			case said != "" && (p.Result != nil || !result):
				h.system, result = said, p.Result != nil
			case e.From != "":
				h.text, h.spoken = e.Text, true
			}
			before = said
		}
	}
	return h
}

// told says what a read returned; empty if it is none.
func told(result string, w map[string]string) string {
	var x struct {
		Files []struct {
			Path  string
			Bytes int
		}
		Found []struct {
			Path, Text string
			Line       int
		}
		File, Text string
		NotShown   string `json:"not_shown"`
	}
	if json.Unmarshal([]byte(result), &x) != nil {
		return ""
	}
	if len(x.Files)+len(x.Found) == 0 && x.Text == "" {
		return w["nothing"] + "\n"
	}
	lines := []string{w["read"], "```"}
	for _, f := range x.Files {
		lines = append(lines, fmt.Sprintf("%s  %s B", f.Path, conversation.Grouped(f.Bytes)))
	}
	for _, h := range x.Found {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Text))
	}
	if x.Text != "" {
		lines = append(lines, x.File, x.Text)
	}
	if lines = append(lines, "```"); x.NotShown != "" {
		lines = append(lines, w["more"])
	}
	return strings.Join(lines, "\n") + "\n"
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

// talk is a conversation with the demo's agent.
type talk struct {
	model.Request
	locale string
	words  map[string]string
	now    heard // the newest turn
	asked  heard // the newest turn in which a person says something
}

// agentOf reads a conversation. Ringi's messages are in the workspace's language, which may not be the person's, and a
// command is in no language.
func agentOf(r model.Request) talk {
	t := talk{Request: r, words: spoken.In("").Agent}
	for _, m := range slices.Backward(r.Messages) {
		h := hear(m, nil)
		if m.Role != model.User || !h.spoken {
			continue
		}
		text := cmp.Or(h.text, strings.Join(h.forwards, ""))
		if at := agentForm("run").FindStringSubmatchIndex(text); at != nil {
			text = text[:at[2]]
		}
		t.locale = language.Of(text, language.All[0])
		t.words = spoken.In(t.locale).Agent
		t.asked = hear(m, t.words)
		break
	}
	t.now = hear(r.Messages[len(r.Messages)-1], t.words)
	return t
}

func agentForm(tag string) *regexp.Regexp {
	for _, p := range agentPhrases() {
		if p.tag == tag {
			return p.form
		}
	}
	return nil // a test names each
}

var agentPhrases = sync.OnceValue(func() (all []phrase) {
	for tag, form := range rows(agentTable) {
		all = append(all, phrase{tag: tag, form: regexp.MustCompile(form)})
	}
	return all
})

func (t talk) say(texts ...string) model.Response {
	return model.Response{Text: strings.TrimSpace(strings.Join(texts, ""))}
}

// propose calls a tool, if it is offered.
func (t talk) propose(does, tool, text string, input object) model.Response {
	if !slices.ContainsFunc(t.Tools, func(x model.Tool) bool { return x.Name == tool }) {
		return t.say(t.words["cant"], t.unused())
	}
	if sum := t.words[does+"Sum"]; sum != "" && input["summary"] == nil {
		input["summary"] = sum
	}
	out := t.say(text, t.unused())
	out.Calls = []model.Call{{ID: "call_demo", Name: tool, Input: encoded(input)}}
	return out
}

// unused names what the newest statement encloses and the answer makes no use of.
func (t talk) unused() string {
	if len(t.asked.others) == 0 || t.now.system != "" && !t.now.spoken {
		return ""
	}
	return "\n" + fmt.Sprintf(t.words["unused"], strings.Join(t.asked.others, t.words["comma"]))
}

func (t talk) answer() model.Response {
	h, w := t.now, t.words
	if h.text == "" && h.read == "" && h.refused == "" && h.system != "" {
		return t.ended(h.system)
	}
	switch {
	case h.read != "":
		return t.say(h.read, t.unused())
	case strings.Contains(h.refused, "nothing has changed since the commit"):
		return t.say(w["unchanged"])
	case strings.Contains(h.refused, "people can save a patch"):
		return t.say(w["patch"])
	case strings.Contains(h.refused, "there is one at a time"):
		return t.say(w["waits"])
	}
	text := h.text
	if len(h.forwards) == 1 && len(h.others) == 1 && !says(text) { // the forwarded message is what the person says
		text, t.asked.others = h.forwards[0], nil
	}
	for _, p := range agentPhrases() {
		if m := p.form.FindStringSubmatch(text); m != nil && !strings.HasPrefix(p.tag, "-") {
			if out, ok := t.act(p.tag, strings.TrimSpace(strings.Join(m[1:], "")), text, p.form); ok {
				return out
			}
		}
	}
	return t.say(w["lost"], t.unused())
}

// act does what a phrase asks for; said is what the phrase names. It reports false if the phrase means something else.
func (t talk) act(does, said, text string, form *regexp.Regexp) (model.Response, bool) {
	w := t.words
	switch does {
	case "run":
		var all []object
		for _, script := range agentForm("-next").Split(said, -1) {
			all = append(all, object{"script": strings.TrimSpace(script), "timeout_seconds": 60})
		}
		input := object{"commands": all}
		if len(all) == 1 {
			input = all[0]
		}
		return t.propose(does, string(agent.ShellCommand), w[does], input), true
	case "test":
		return t.propose(does, string(agent.TestRun), w[does],
			object{"argv": []string{"node", "--test"}, "timeout_seconds": 120}), true
	case "write":
		if strings.Contains(said, "..") || strings.Contains(said, "//") {
			return model.Response{}, false
		}
		_, rest, _ := strings.Cut(text, form.FindString(text))
		return t.files(fmt.Sprintf(w[does], said), fmt.Sprintf(w[does+"Sum"], said),
			object{"path": said, "content": t.content(said, text, rest) + strings.Repeat("\n", t.proposals())}), true
	case "files":
		again := ""
		if n := t.proposals(); n > 0 { // a line that makes a change to approve
			again = fmt.Sprintf("// %d\n", n+1)
		}
		return t.files(w[does], w[does+"Sum"], object{"path": "hello.js", "content": sample("hello.js") + again},
			object{"path": "hello.test.js", "content": sample("hello.test.js")}), true
	case "pull":
		return t.pull(), true
	case "joined":
		asked := object{"department": nil, "status": "all"}
		if m := agentForm("-of").FindStringSubmatch(text); m != nil {
			asked["department"] = m[1] + m[2]
		}
		return t.propose(does, string(agent.ToolCall), w[does],
			object{"tool": people, "arguments": string(encoded(asked))}), true
	case "hand_over":
		request := t.request(form)
		return t.propose(does, does, w[does], object{"request": request}), true
	case "list_files":
		return t.propose(does, does, "", object{"path": ""}), true
	}
	said = strings.TrimRight(said, ".?!")
	input := object{"path": said, "from": 1, "to": 0}
	if does == "search" {
		input = object{"path": "", "text": said}
	}
	return t.propose(does, does, "", input), said != ""
}

func (t talk) pull() model.Response {
	if !slices.ContainsFunc(t.Tools, func(x model.Tool) bool {
		return x.Name == string(agent.ToolCall) && strings.Contains(string(x.Schema), `"open_pull_request"`)
	}) {
		return t.say(t.words["noPull"], t.unused())
	}
	return t.propose("pull", string(agent.ToolCall), t.words["pull"], object{"tool": "open_pull_request",
		"arguments": string(encoded(object{"title": t.words["pullTitle"], "body": t.words["pullBody"]}))})
}

func (t talk) files(says, summary string, files ...object) model.Response {
	return t.propose("", string(agent.CodeGenerate), says, object{"files": files, "edits": []any{}, "delete": []any{},
		"summary": summary})
}

// content is what is written into a file: what the message gives, the demo's draft on the topic that it names, or a
// sample by the file's ending.
func (t talk) content(name, text, rest string) string {
	if m := agentForm("-body").FindStringSubmatch(rest); m != nil {
		if body := strings.Trim(strings.Join(m[1:], ""), "\n "); body != "" {
			return body + "\n"
		}
	}
	ending := strings.ToLower(path.Ext(name))
	d, knows := allDrafts.In(t.locale).knows(text)
	if knows && (ending == ".md" || ending == ".txt") {
		lines := d.text(0, 1)
		return "# " + lines[0] + "\n\n" + lines[1] + "\n\n" + strings.Join(lines[2:], "\n") + "\n"
	}
	if s := sample(strings.TrimPrefix(ending, ".")); s != "" {
		return s
	}
	return fmt.Sprintf(t.words["note"], strings.TrimSuffix(path.Base(name), path.Ext(name)))
}

// proposals counts the files that were proposed before.
func (t talk) proposals() (times int) {
	for _, m := range t.Messages {
		for _, p := range m.Parts {
			if p.Call != nil && p.Call.Name == string(agent.CodeGenerate) {
				times++
			}
		}
	}
	return times
}

// request is the text of a request: the words next to the phrase that asks for it, what the message forwards, or else
// earlier words.
func (t *talk) request(form *regexp.Regexp) string {
	for _, m := range slices.Backward(t.Messages) {
		h := hear(m, nil)
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
