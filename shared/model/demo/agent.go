package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/clock"
	"ringi/shared/words/language"
)

// Agent is an agent without a model. It says so, and proposes an action for each of a few fixed phrases.
type Agent struct{}

// talk is what the turns of a conversation say: the statements of people, and of the newest turn the last one, what
// Ringi says of actions, why it refused one, and what was read.
type talk struct {
	model.Request
	words        *words
	statements   []string
	last, system string
	refused      string
	found        []map[string]any
}

// Say answers the last statement of a person, or says what became of an action. Ringi's messages are in the
// workspace's language, which may not be the person's, and a command is in no language.
func (Agent) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, t, spoke := begun(ctx, r), talk{Request: r}, ""
	for _, m := range r.Messages {
		t.hear(m)
		spoke = cmp.Or(t.last, spoke)
	}
	t.words = spoken.In(language.Detect(form("%-command").ReplaceAllString(spoke, "$1"), language.All[0]))
	out.Text, out.Calls = t.answer()
	return out, nil
}

func (t *talk) hear(turn model.Message) {
	t.last, t.system, t.refused, t.found = "", "", "", nil
	for _, p := range turn.Parts {
		r := cmp.Or(p.Result, &model.Result{Text: p.Text})
		if r.Failed {
			t.refused += r.Text
		}
		var read map[string]any
		if strings.HasPrefix(r.CallID, "read_") && json.Unmarshal([]byte(r.Text), &read) == nil {
			t.found = append(t.found, read)
		}
		var entries []struct{ From, System, Quoted, Text, File, Forwards string }
		_, text, _ := strings.Cut(r.Text, "<messages>\n")
		text, _, _ = strings.Cut(text, "\n</messages>")
		_ = json.Unmarshal([]byte(text), &entries) // what is not readable says nothing
		for _, e := range entries {
			if t.system += e.System + e.Quoted; e.From != "" && e.File+e.Forwards == "" {
				t.last, t.statements = e.Text, append(t.statements, e.Text)
			}
		}
		t.system = strings.TrimSpace(t.system) + "\n"
	}
}

func (t *talk) answer() (string, []model.Call) {
	w := t.words.Agent
	switch {
	case t.found != nil:
		return t.words.text("told", t.found), nil
	case t.refused != "":
		for _, why := range []string{"unchanged", "patch", "waits"} {
			if form("%-" + why).MatchString(t.refused) {
				return w[why], nil
			}
		}
		return w["cant"], nil
	case t.last == "" && t.system != "\n":
		return t.ended(), nil
	}
	for _, p := range rows()["%"] {
		if m := p.form.FindStringSubmatch(t.last); p.means != "" && m != nil {
			return t.act(p, m[0], strings.TrimSpace(strings.Join(m[1:], "")))
		}
	}
	if form("$help").MatchString(t.last) {
		return w["can"], nil
	}
	return w["lost"] + w["can"], nil
}

// act does what a phrase asks for, if a tool for it is offered; named is what the whole statement names.
func (t *talk) act(p row, whole, named string) (string, []model.Call) {
	w, value := t.words.Agent, encoded(named)
	switch p.name {
	case "files", "write":
		value = t.files(strings.Fields(cmp.Or(named, "hello.js hello.test.js"))...)
	case "pull":
		value = encoded(string(encoded(object{"title": w["pullTitle"], "body": w["pullBody"]})))
	case "test":
		argv := []string{"node", "--test"}
		if strings.Contains(string(encoded(t.Messages)), "ringi-demo/shop@") { // which is in Python
			argv = []string{"python3", "-m", "unittest"}
		}
		value, named = encoded(argv), strings.Join(argv, " ")
	case "offer_request":
		value = encoded(cmp.Or(named, t.statements[max(0, len(t.statements)-2)], whole))
	}
	sum := encoded(language.Fill(w[p.name+"Sum"], "name", named))
	name, call, _ := strings.Cut(strings.NewReplacer(`"$1"`, string(value), `"$sum"`, string(sum)).Replace(p.means), "{")
	var input object
	_ = json.Unmarshal([]byte("{"+call), &input) // a test reads each
	calls, _ := input["tool"].(string)           // one of the tools that are offered behind that name
	at := slices.IndexFunc(t.Tools, func(x model.Tool) bool { return x.Name == name })
	if at < 0 || calls != "" && !strings.Contains(string(t.Tools[at].Schema), calls) {
		return cmp.Or(w["no_"+calls], w["cant"]), nil
	}
	return language.Fill(w[p.name], "name", named), []model.Call{{ID: "call_demo", Name: name, Input: encoded(input)}}
}

// files are those of a proposal: samples, or a note. Each further proposal has one more empty line, so that it makes a
// change to approve.
func (t *talk) files(names ...string) json.RawMessage {
	var all []object
	more := strings.Repeat("\n", strings.Count(string(encoded(t.Messages)), `"Name":"`+string(tenancy.CodeGenerate)+`"`))
	for _, name := range names {
		sample, _ := embedded.ReadFile("samples/" + name) // a test reads each
		note := fmt.Sprintf(t.words.Agent["note"], strings.TrimSuffix(path.Base(name), path.Ext(name)))
		all = append(all, object{"path": name, "content": cmp.Or(string(sample), note) + more})
	}
	return encoded(all)
}

// ended says whether an action is done, with the last lines of its output, or repeats the first line.
func (t *talk) ended() string {
	w, lines := t.words.Agent, []string(nil)
	first, _, _ := strings.Cut(strings.TrimSpace(t.system), "\n")
	said := w["result"] + "\n" + first
	if done := form("%-ended").FindStringSubmatch(t.system); done != nil {
		said = map[bool]string{true: w["done"], false: w["failed"]}[done[1]+done[2] != ""]
	}
	if m := form("%-counted").FindStringSubmatch(t.system); m != nil {
		said += fmt.Sprintf(w["counted"], m[1])
	}
	for _, m := range form("%-output").FindAllStringSubmatch(t.system, -1) {
		lines = append(lines, strings.ReplaceAll(m[1], "```", "` ` `"))
	}
	if last := strings.Trim(strings.Join(lines[max(0, len(lines)-8):], "\n"), "\n"); last != "" {
		said += "\n```\n" + last + "\n```"
	}
	return said
}

// Teams plays contests without a model. A leader delegates once, and submits drafts that differ by team and grow with
// each round. Scores depend only on the text.
type Teams struct{}

// teamData has the parts of agents' data that the demo reads: a leader's has a team, an evaluator's a metric, a
// member's a task.
type teamData struct {
	Request                  string
	TeamID                   string `json:"team_id"`
	Round                    int
	History                  []struct{}
	Metric, Submission, Task string
}

// Say answers a leader, a member or an evaluator.
func (Teams) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, s, result := begun(ctx, r), teamData{}, ""
	_ = fenced(r.Messages[0].Parts[0].Text, &s) // unreadable data counts as empty
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		result = cmp.Or(p.Result, &model.Result{Text: result}).Text
	}
	wait := time.Duration(marked("slow", s.Request+s.Task) * float64(time.Second))
	wait += map[bool]time.Duration{true: 24 * time.Hour}[s.trouble("hang")] // longer than any team has
	if err := clock.Sleep(ctx, wait); wait > 0 && err != nil {
		return out, model.FromTransport(aggregate.Demo, err)
	}
	w := spoken.In(language.Detect(s.subject()+s.Task, language.English))
	switch {
	case s.trouble("refuse"):
		out.Stop = model.StopRefused
	case s.Metric != "" && s.Submission == w.Unscored:
		return out, failed()
	case s.Metric != "":
		out.Text = s.scored(w)
	case len(r.Tools) > 0 && len(r.Messages) == 1:
		for i, t := range r.Tools {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name, Input: s.arguments(t)})
		}
	case s.TeamID != "":
		out.Text = s.draft(w)
	default: // a point of view: members of a team don't all say the same
		out.Text = cmp.Or(result, w.General[checksum(r.System)%len(w.General)])
	}
	out.Usage.Cost = aggregate.USD(marked("cost", s.Request+s.Task))
	return out, nil
}

// trouble reports whether the request asks for a failure of the team in this round.
func (s teamData) trouble(what string) bool {
	return slices.ContainsFunc(form("@team").FindAllStringSubmatch(s.Request+s.Task, -1), func(m []string) bool {
		return strings.EqualFold(m[1], what) && m[2] == s.TeamID && (m[3] == "" || m[3] == strconv.Itoa(s.Round))
	})
}

// material is the last fenced data in the request. Text before it may contain the fence's words, too.
func (s teamData) material() string {
	return s.Request[max(0, strings.LastIndex(s.Request, "<data>")):]
}

// subject is the message in the request's data or, without one, the first line of the request.
func (s teamData) subject() string {
	var about struct{ Message string }
	_ = fenced(s.material(), &about) // unreadable data has no message
	first, _, _ := strings.Cut(strings.TrimSpace(s.Request), "\n")
	return cmp.Or(about.Message, strings.TrimSpace(first))
}

// draft is a team's text: a policy in the demo's own form if the request has the data for one, or else a general draft.
// Its lines differ by team, and each round adds one; in a policy they stand below the first line, where people look.
// People stamp it, so it says nothing of teams, rounds and scores, and asks nothing of them.
func (s teamData) draft(w *words) string {
	if s.trouble("unscored") {
		return w.Unscored
	}
	var policy struct{ Policy string }
	drafted, _ := answer(model.Drafting, 2, s.material())
	_ = json.Unmarshal([]byte(drafted), &policy) // without an answer there is no policy
	first, rest, _ := strings.Cut(policy.Policy, "\n")
	of, item := w.Policy, "\n"
	if first == "" {
		of, first, item = w.General, fmt.Sprintf(w.Title, clip(60, plain(s.subject()))), "\n- "
	}
	lines, from := []string{first}, checksum(s.TeamID)
	for i := range 3 + min(len(s.History), 2) {
		lines = append(lines, of[(from+i)%len(of)])
	}
	return strings.TrimSpace(strings.Join(lines, item) + "\n" + rest)
}

// scored computes a score from the text: more lines are better, and a small part makes different texts differ.
func (s teamData) scored(w *words) string {
	words := form("$number").ReplaceAllString(s.Submission, "") // dates and figures don't count
	lines, part := strings.Count(s.Submission, "\n"), checksum(s.Metric, words)%240
	score := contest.Round2(56 + 2.4*float64(min(lines, 14)) + float64(part)/100)
	return string(encoded(object{"score": score, "comment": map[bool]string{true: w.Good, false: w.Mend}[score >= 75]}))
}

// arguments are those of a call: what is to be done, and a script, wherever the tool requires them.
func (s teamData) arguments(t model.Tool) json.RawMessage {
	var shape struct{ Required []string }
	_ = json.Unmarshal(t.Schema, &shape) // without a readable schema there are no arguments
	input := object{}
	for _, name := range shape.Required {
		input[name] = cmp.Or(map[string]string{"script": "echo 42", "arguments_json": "{}"}[name], s.Task, s.subject())
	}
	return encoded(input)
}

// checksum is a number that depends on texts alone.
func checksum(texts ...string) int {
	return int(crc32.ChecksumIEEE([]byte(strings.Join(texts, "\x00"))))
}
