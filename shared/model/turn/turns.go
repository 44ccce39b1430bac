package turn

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// turns converts the history to the form that vendors accept.
type turns struct {
	said    []model.Message
	waiting []entry // entries of the unfinished user's turn
	images  []model.Part
	results []model.Part
	told    map[int]bool // messages of the history that stand in a result already
}

// said returns the conversation in a form that every vendor accepts: speakers alternate, each call has its result at
// the beginning of the next turn, no text is empty, and the last turn is the user's.
func said(history []Message) []model.Message {
	t := &turns{told: map[int]bool{}}
	for i, m := range history {
		if m.Sender == conversation.FromAgent {
			t.agent(m, history, i+1)
			continue
		}
		if !t.told[i] {
			t.other(m)
		}
	}
	if len(t.waiting)+len(t.results) == 0 && (len(t.said) == 0 || t.said[len(t.said)-1].Role == model.Assistant) {
		t.waiting = append(t.waiting, entry{System: "Nothing was added. Go on."})
	}
	t.close()
	return t.said
}

func (t *turns) other(m Message) {
	switch {
	case m.Sender == conversation.FromUser:
		t.waiting = append(t.waiting, m.spoken()...)
	case m.Collapsed:
		t.waiting = append(t.waiting, m.folded()...)
	default:
		t.waiting = append(t.waiting, m.system()...)
	}
	for _, f := range m.Files {
		e := entry{From: line(m.Name), ID: m.UserID, File: line(f.Name)}.lying(f)
		switch p := shownAs(f); {
		case f.Body == nil:
			e.NotRead = notRead(f, cmp.Or(f.Why, "it is not there any more"))
		case p.Image != nil:
			e.Text = "(the image is attached)"
			t.images = append(t.images, p)
		case !utf8.ValidString(p.Text):
			e.NotRead = "it is no UTF-8"
		default:
			e.Text = p.Text
		}
		t.waiting = append(t.waiting, e)
	}
}

func shownAs(f File) model.Part {
	if isImage(f.Type) {
		return model.Part{Image: &model.Image{Type: f.Type, Data: f.Body}}
	}
	return model.Part{Text: string(f.Body)}
}

// agent adds a message of the agent's, after which the history goes on at next. Each call gets its result at once: the
// action's end if it came before the agent's next message, or else a note that a person has to decide.
func (t *turns) agent(m Message, history []Message, next int) {
	text := strings.TrimSpace(language.Visible(m.Text))
	if text == "" && m.Proposal == nil && m.Request == "" {
		return
	}
	t.close()
	if len(t.said) == 0 {
		t.waiting = append(t.waiting, entry{NotShown: "what was said before"})
		t.close()
	}
	if n := len(t.said); t.said[n-1].Role != model.Assistant {
		t.said = append(t.said, model.Message{Role: model.Assistant})
	}
	turn := &t.said[len(t.said)-1]
	t.waiting = append(t.waiting, readOf(m.Read)...)
	if text != "" {
		turn.Parts = append(turn.Parts, model.Part{Text: text})
	}
	t.offered(turn, m)
	if m.Proposal == nil {
		return
	}
	if m.Proposal.Omitted {
		t.waiting = append(t.waiting, entry{NotShown: "the arguments of " + string(m.Proposal.Type) +
			" above, which are too large"})
	}
	id := cmp.Or(model.Identifier(m.Proposal.ActionID, -1), fmt.Sprint(len(t.said)))
	id = "call_" + id[:min(len(id), 40)] // vendors accept at most 64 letters, digits, _ and -
	turn.Parts = append(turn.Parts, model.Part{Call: callOf(*m.Proposal, id)})
	t.results = append(t.results, model.Part{Result: &model.Result{CallID: id,
		Text: t.outcome(m.Proposal.ActionID, history, next)}})
}

// offered adds the call by which the agent offered a request.
func (t *turns) offered(turn *model.Message, m Message) {
	if m.Request == "" {
		return
	}
	id := fmt.Sprintf("call_request_%d", len(t.said))
	input, _ := json.Marshal(map[string]string{"request": m.Request}) // a text can always be encoded
	turn.Parts = append(turn.Parts, model.Part{Call: &model.Call{ID: id, Name: offerRequest, Input: input}})
	t.results = append(t.results, model.Part{Result: &model.Result{CallID: id, Text: byButton}})
}

const (
	awaiting = "Proposed. A person decides whether it is done; you will be told what came of it."
	byButton = "A person makes this request by a button, or doesn't; you will be told if it is made."
)

// outcome returns the result of an action that ended before the agent's next message, the one at next or later. What
// is told of the action after that stands where it was said.
func (t *turns) outcome(action string, history []Message, next int) string {
	for i, m := range history[next:] {
		if m.Sender == conversation.FromAgent {
			break
		}
		if action != "" && m.ActionID == action {
			t.told[next+i] = true
			return fenced(m.system())
		}
	}
	return awaiting
}

// callOf returns the call with which the model made a proposal.
func callOf(p Proposal, id string) *model.Call {
	var input map[string]json.RawMessage
	if json.Unmarshal([]byte(p.Payload), &input) != nil || input == nil {
		input = map[string]json.RawMessage{} // without a readable payload only the summary remains
	}
	summary, _ := json.Marshal(p.Summary) // a text can always be encoded
	input["summary"] = summary
	text, err := json.Marshal(input)
	if err != nil {
		text = []byte("{}")
	}
	return &model.Call{ID: id, Name: string(p.Type), Input: text}
}

// close finishes the user's turn, if it has any entry.
func (t *turns) close() {
	if len(t.waiting)+len(t.results)+len(t.images) == 0 {
		return
	}
	parts := t.results
	if len(t.waiting) > 0 {
		parts = append(parts, model.Part{Text: fenced(t.waiting)})
	}
	t.said = append(t.said, model.Message{Role: model.User, Parts: append(parts, t.images...)})
	t.waiting, t.results, t.images = nil, nil, nil
}

// request returns the call that a turn makes, and its prompt's name.
func (t Turn) request() (r model.Request, prompt string, err error) {
	p, err := model.ReadPrompt(prompts, "chat", t.Locale)
	if err != nil {
		return r, "", err
	}
	tools, err := t.tools()
	messages := said(t.History)
	told, wrong := t.told()
	messages[0].Parts = append(told, messages[0].Parts...)
	last := &messages[len(messages)-1]
	last.Parts = append(last.Parts, t.passing()...)
	return model.Request{Purpose: "chat", System: p.Text + "\n\n" + t.about(), Messages: messages, Tools: tools,
		MaxTokens: min(MaxTokens, t.Agent.Context()/4)}, p.Name(), errors.Join(err, wrong)
}

// MaxTokens bounds an answer including its proposals. It never has more than a quarter of what the agent's model takes
// at once.
const MaxTokens = 16_000

const (
	aboutEdits = " Write with plain line ends, also for a file with CRLF: it keeps its line ends and its mode. " +
		"A new file is not executable."
	aboutModes = " A command can change that (chmod)."
	aboutOut   = " You can't send files to anybody: people save them from the conversation's page."
	aboutPulls = " A pull request comes of open_pull_request alone: a draft with all that has become of the files " +
		"since the source's commit."
)

// aboutFiles says what holds of files, edits and their ways out, where there are any.
func (t Turn) aboutFiles(b *strings.Builder) {
	code, commands := t.may(tenancy.CodeGenerate), t.may(tenancy.ShellCommand)
	if code {
		b.WriteString(aboutEdits)
	}
	if code && commands {
		b.WriteString(aboutModes)
	}
	if code || commands {
		b.WriteString(aboutOut)
	}
	if all, _ := t.callables(); slices.ContainsFunc(all, func(c callable) bool { return c.sourced }) {
		b.WriteString(aboutPulls)
	}
}

// about is the part of the prompt that differs between agents. It is the same in all turns of a conversation while the
// agent's settings are: what differs between turns is said by passing, because vendors cache the prompt.
func (t Turn) about() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %q.", t.Agent.Label())
	var may []string
	for _, x := range tenancy.ActionTypes {
		if t.may(x) {
			may = append(may, string(x))
		}
	}
	if may == nil {
		b.WriteString(" You can propose no actions here; say so when one is asked for.")
	} else {
		fmt.Fprintf(&b, " You can propose: %s.", strings.Join(may, ", "))
	}
	if !t.MaySandbox && (t.Agent.May(tenancy.TestRun) || t.Agent.May(tenancy.ShellCommand)) {
		b.WriteString(" Commands and tests can't be executed in this deployment; say so when one is asked for.")
	}
	if t.MaySandbox && t.Tools != "" && (t.may(tenancy.TestRun) || t.may(tenancy.ShellCommand)) {
		b.WriteString(" Where commands are executed, there are: " + t.Tools)
	}
	t.aboutFiles(&b)
	return b.String()
}
