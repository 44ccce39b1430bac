// Package demo answers as a language model would, without one: deterministic, offline, in Japanese and English, by the
// text of a message alone. Layers, Agent and Teams answer what the pipeline, a conversation and a contest send to a
// model. A message may ask for failures by markers: phrases.txt says which.
package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/runtime/clock"
	"ringi/shared/words/language"
)

// Question is one call.
type Question struct {
	Purpose string // extract, draft, plan, summarize
	Try     int    // from 1
	Repair  bool   // the first answer could not be used
	Text    string // with one or more fences of data, <data>…</data>
}

// input is the data of any of the four purposes.
type input struct {
	Message, Policy, Requester, Now, Locale string
	Forwarded, Files                        []enclosed
	Earlier                                 []struct{ Reason string } `json:"rejected_versions"`
	Tools                                   []offered
	Forbidden                               []string
	Servers                                 []string `json:"server_tools"` // given to the draft alone
	More                                    []string `json:"more_tools"`   // each as “name: title. description”
	Steps                                   []fact
}

type offered struct {
	Name        string
	Constraints map[string]any
}

type fact struct {
	Title, Tool string
	Facts       map[string]any
}

// lack says why a tool can't be called with an input for what it is to do; nil if it can. The demo never replaces a
// forbidden value by an allowed one.
func (in input) lack(what, tool string, arguments object) object {
	at := slices.IndexFunc(in.Tools, func(o offered) bool { return o.Name == tool })
	switch {
	case at < 0 && slices.Contains(in.Forbidden, tool):
		return object{"what": what, "tool": tool, "why": "forbidden"}
	case at < 0:
		return object{"what": what, "tool": "", "why": "no_tool"}
	}
	for name, value := range arguments {
		listed, _ := in.Tools[at].Constraints[name+"s"].([]any)
		if len(listed) > 0 && !slices.Contains(listed, value) {
			return object{"what": what, "tool": tool, "why": "constraint"}
		}
	}
	return nil
}

// Answer returns JSON of the purpose's schema, or a failure that the message asks for.
func Answer(q Question) (string, error) {
	var in input
	if err := fenced(q.Text, &in); err != nil {
		return "", fmt.Errorf("read the data: %w", err)
	}
	if m := marker("fail", in.Message); q.Try <= 1 && m != nil && strings.EqualFold(m[1], q.Purpose) {
		return "", failed()
	}
	if m := marker("bad", in.Message); q.Try <= 1 && m != nil && (m[2] == "" || strings.EqualFold(m[2], q.Purpose)) &&
		(m[1] != "" || !q.Repair) {
		return `{"answer": "this is not what was asked for"`, nil
	}
	w, err := read(in)
	if err != nil {
		return "", err
	}
	for _, tool := range strings.Fields(w.words.Topics[w.Topic]["tools"]) {
		offers := func(s string) bool { return s == tool || strings.HasPrefix(s, tool+":") }
		w.Is["notools"] = w.Is["notools"] || !slices.ContainsFunc(append(in.Servers, in.More...), offers)
	}
	var reasons []string
	for _, v := range in.Earlier {
		reasons = append(reasons, v.Reason)
	}
	var answer any
	switch q.Purpose {
	case "extract":
		answer = extract(w)
	case "draft":
		w.heed(reasons, "remark")
		answer = map[string]string{"policy": draft(w), "title": w.Form("title")}
	case "plan":
		w.heed(w.followed(in.Policy), "remark")
		w.heed(reasons, "steps")
		steps, missing := plan(w)
		answer = map[string]any{"steps": steps, "missing": missing, "remarks": w.words.text("remarks", w)}
	case "summarize":
		answer = map[string]string{"summary": summary(w)}
	default:
		return "", fmt.Errorf("unknown purpose %q", q.Purpose)
	}
	return string(encoded(answer)), nil
}

// fenced reads the data in a text's fences into a value.
func fenced(text string, into any) (err error) {
	for _, data := range fence.Get().FindAllStringSubmatch(text, -1) {
		err = cmp.Or(err, json.Unmarshal([]byte(data[1]), into))
	}
	return err
}

// markers are the places where a text asks for something beside its request. Their forms stand in the table by names
// that begin with @.
func markers(name, text string) [][]string {
	return form("@"+name).FindAllStringSubmatch(text, -1)
}

// marker is the first such marker of a text, nil if it has none.
func marker(name, text string) []string { return append(markers(name, text), nil)[0] }

// asked is the number that a marker names for a purpose, 0 without one.
func asked(name, text, purpose string) float64 {
	m := marker(name, text)
	if m == nil || len(m) > 2 && m[2] != "" && !strings.EqualFold(m[2], purpose) {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // the form allows only digits and a point
	return n
}

// plain removes the markers from a text.
func plain(text string) string {
	for _, p := range phrases() {
		if p.tag[0] == '@' {
			text = p.form.ReplaceAllString(text, " ")
		}
	}
	return strings.TrimSpace(text)
}

// Layers answers the four layers of the pipeline. Its answers are checked like any other model's.
type Layers struct{}

// Say answers with JSON of the purpose's schema.
func (Layers) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out := begun(ctx, r)
	q := Question{Purpose: string(r.Purpose), Try: r.Try, Repair: len(r.Messages) > 1,
		Text: r.Standing + r.Messages[0].Parts[0].Text}
	text, err := Answer(q)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return out, err
	}
	standing := int64(len(r.Standing) / 4) // a token is about four bytes
	out.Text, out.Usage.Cost = text, aggregate.USD(asked("cost", q.Text, q.Purpose))
	out.Usage.Input, out.Usage.Cached = int64(len(r.System)/4+len(q.Text)/4)-standing, standing
	out.Usage.Output = int64(len(text) / 4)
	return out, nil
}

// begun is an answer without words. It keeps what was sent.
func begun(ctx context.Context, r model.Request) model.Response {
	model.Sent(ctx, encoded(r))
	return model.Response{Stop: model.StopEnd, Answered: aggregate.Demo,
		Usage: model.Usage{Provider: aggregate.Demo, Model: aggregate.Demo, Calls: 1}}
}

func failed() error {
	return &model.Error{Provider: aggregate.Demo, Model: aggregate.Demo, Kind: model.Demo,
		Err: errors.New("the message asked for this failure")}
}

var fence = &language.Regexp{Text: `(?s)<data>(.*?)(?:</data>|$)`}

func encoded(v any) json.RawMessage {
	b, _ := json.Marshal(v) // of texts, numbers and lists
	return b
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
	results                  []string // of the calls
}

func (Teams) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, s := begun(ctx, r), teamData{}
	_ = fenced(r.Messages[0].Parts[0].Text, &s) // unreadable data counts as empty
	for _, turn := range r.Messages {
		for _, p := range turn.Parts {
			if p.Result != nil {
				s.results = append(s.results, p.Result.Text)
			}
		}
	}
	text := s.Request + s.Task
	wait := time.Duration(asked("slow", text, "") * float64(time.Second))
	wait += map[bool]time.Duration{true: 24 * time.Hour}[s.trouble("hang")] // longer than any team has
	if err := clock.Sleep(ctx, wait); wait > 0 && err != nil {
		return out, model.FromTransport(aggregate.Demo, err)
	}
	w := spoken.In(language.Detect(s.subject()+s.Task, language.English)).Teams
	switch {
	case s.trouble("refuse"):
		out.Stop = model.StopRefused
	case s.TeamID+s.Task != "" && len(s.results) == 0 && len(r.Tools) > 0:
		for i, t := range r.Tools {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name, Input: s.arguments(t)})
		}
	case s.TeamID != "":
		out.Text = s.draft(w, r.System)
	case s.Metric != "" && !slices.ContainsFunc(slices.Concat(w.General.Lines, w.Policy.Lines), s.says) &&
		slices.ContainsFunc(markers("team", text), func(m []string) bool { return strings.EqualFold(m[1], "unscored") }):
		return out, failed()
	case s.Metric != "":
		out.Text = s.scored(w)
	case s.Task != "" && len(s.results) > 0:
		out.Text = s.results[len(s.results)-1]
	default: // a point of view: members of a team don't all say the same
		out.Text = w.General.Lines[int(hashOf(r.System)%1000)%len(w.General.Lines)]
	}
	out.Usage.Cost = aggregate.USD(asked("cost", text, "contest"))
	out.Usage.Input = int64(len(r.System)+len(s.Request)+len(s.Submission)) / 4
	out.Usage.Output = int64(len(out.Text)) / 4
	return out, nil
}

// says reports whether the submission has a line of a draft; one that can't be scored has none.
func (s teamData) says(line string) bool { return strings.Contains(s.Submission, line) }

// trouble reports whether the request asks for a failure of the team in this round.
func (s teamData) trouble(what string) bool {
	return slices.ContainsFunc(markers("team", s.Request+s.Task), func(m []string) bool {
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
func (s teamData) draft(w teamTexts, system string) string {
	of, title, item := w.General, oneLine(plain(s.subject())), "\n- "
	var policy struct{ Policy string }
	answer, _ := Answer(Question{Purpose: string(model.Drafting), Try: 2, Text: s.material()})
	if _ = json.Unmarshal([]byte(answer), &policy); policy.Policy != "" { // without an answer there is no policy
		of, title, item = w.Policy, policy.Policy, "\n"
	}
	title = fmt.Sprintf(of.Title, title)
	if s.trouble("unscored") {
		return strings.TrimSpace(title)
	}
	hash, n, lines := int(hashOf(s.TeamID, system)%1000), len(of.Lines), []string{}
	for i := range 3 + min(len(s.History), 2) { // of a prime number of lines
		lines = append(lines, of.Lines[(hash+i*(1+hash/n%(n-1)))%n])
	}
	for _, x := range s.results { // the first lines of members' results
		if first, _, _ := strings.Cut(x, "\n"); policy.Policy == "" && !slices.Contains(of.Lines, first) &&
			!strings.HasPrefix(first, "ERROR: ") {
			lines = add(lines, first)
		}
	}
	first, rest := title, ""
	if policy.Policy != "" {
		first, rest, _ = strings.Cut(title, "\n")
		rest = "\n" + rest
	}
	return first + item + strings.Join(lines, item) + rest
}

// itemsIn counts what a text settles: lines of a list, and lines that begin with what they settle.
func itemsIn(text string) (n int) {
	for line := range strings.Lines(text) {
		label, _, named := strings.Cut(line, ": ")
		if strings.HasPrefix(line, "- ") || named && len(label) <= mostLabel {
			n++
		}
	}
	return n
}

const mostLabel = 30 // bytes

// scored computes a score from the text: more items are better, and a small part makes different texts differ.
func (s teamData) scored(w teamTexts) string {
	words := form("$number").ReplaceAllString(s.Submission, "") // dates and figures don't count
	items := float64(min(itemsIn(s.Submission), 14))
	score := contest.Round2(56 + 2.4*items + float64(hashOf(s.Metric, words)%100)/100)
	comment := map[bool]string{true: w.Good, false: w.Mend}[score >= 75]
	return string(encoded(object{"score": score, "comment": comment}))
}

// arguments are those of a call: what is to be done, and a script, wherever the tool requires them.
func (s teamData) arguments(t model.Tool) json.RawMessage {
	var shape struct{ Required []string }
	_ = json.Unmarshal(t.Schema, &shape) // without a readable schema there are no arguments
	input := object{}
	for _, name := range shape.Required {
		input[name] = cmp.Or(map[string]string{"script": "echo 42"}[name], s.Task, s.subject())
	}
	return encoded(input)
}

func hashOf(texts ...string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(texts, "\x00") + "\x00")) // it never fails
	return h.Sum32()
}

// teamTexts are the texts of contests in one language. A draft has a title and some of the lines.
type teamTexts struct {
	General, Policy struct {
		Title string
		Lines []string
	}
	Good, Mend string
}
