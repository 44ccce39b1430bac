package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/runtime/sleep"
	"ringi/shared/words/language"
)

// Teams plays contests without a model. A leader delegates once, and submits drafts that differ by team and grow with
// each round. Scores depend only on the text.
type Teams struct{}

// teamData has the parts of agents' data that the demo reads: a leader's has a team, an evaluator's a metric, a
// member's a task, and the judge's none of them.
type teamData struct {
	Request                  string
	TeamID                   string `json:"team_id"`
	Round                    int
	History                  []struct{ Score float64 }
	Metric, Submission, Task string
	results                  []string // of the calls
}

func (Teams) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
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
	if s.trouble("hang") {
		wait = 24 * time.Hour // longer than any team has
	}
	if err := sleep.For(ctx, wait); wait > 0 && err != nil {
		return out, model.FromTransport(modelname.Demo, err)
	}
	w := spoken.In(language.Of(s.subject()+s.Task, language.English)).Teams
	switch {
	case s.trouble("refuse"):
		out.Stop = model.StopRefused
	case s.TeamID+s.Task != "" && len(s.results) == 0 && len(r.Tools) > 0:
		for i, t := range r.Tools {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name, Input: s.arguments(t)})
		}
	case s.TeamID != "":
		out.Text = s.draft(w, r.System)
	case s.Metric != "" && !strings.Contains(s.Submission, "\n- ") &&
		slices.ContainsFunc(markers("team", text), func(m []string) bool { return strings.EqualFold(m[1], "unscored") }):
		return out, failure(ErrAsked) // such a draft has no list
	case s.Metric != "":
		out.Text = s.scored(w)
	case s.Task != "" && len(s.results) > 0:
		out.Text = s.results[len(s.results)-1]
	case s.Task != "": // a point of view: members of a team don't all say the same
		out.Text = w.General.Views[int(hashOf(r.System)%1000)%len(w.General.Views)]
	default:
		out.Text = s.judged(w)
	}
	out.Usage.Cost = aggregate.USD(asked("cost", text, "contest"))
	out.Usage.Input = int64(len(r.System)+len(s.Request)+len(s.Submission)) / 4
	out.Usage.Output = int64(len(out.Text)) / 4
	onText(out.Text)
	return out, nil
}

// trouble reports whether the request asks for a failure of the team in this round.
func (s teamData) trouble(what string) bool {
	return slices.ContainsFunc(markers("team", s.Request+s.Task), func(m []string) bool {
		return strings.EqualFold(m[1], what) && m[2] == s.TeamID && (m[3] == "" || m[3] == strconv.Itoa(s.Round))
	})
}

// material is the last fenced data in the request. Text before it may contain the fence's words, too.
func (s teamData) material() string {
	return s.Request[max(0, strings.LastIndex(s.Request, openFence)):]
}

// subject is the message in the request's data or, without one, the first line of the request.
func (s teamData) subject() string {
	var about struct{ Message string }
	_ = fenced(s.material(), &about) // unreadable data has no message
	first, _, _ := strings.Cut(strings.TrimSpace(s.Request), "\n")
	return cmp.Or(about.Message, strings.TrimSpace(first))
}

// draft is a team's text: of the demo's own policy if the request has the data for it, or else of a general draft. Its
// lines differ by team, and each round adds one. People stamp it, so it says nothing of teams, rounds and scores.
func (s teamData) draft(w teamTexts, system string) string {
	d, subject := w.General, oneLine(plain(s.subject()))
	var policy struct{ Policy string }
	answer, _ := Answer(Question{Purpose: string(model.Drafting), Try: 2, Text: s.material()})
	if _ = json.Unmarshal([]byte(answer), &policy); policy.Policy != "" { // without an answer there is no policy
		d, subject = w.Policy, policy.Policy
	}
	title := fmt.Sprintf(d.Title, subject)
	if s.trouble("unscored") {
		return strings.TrimSpace(title)
	}
	hash, n, lines := int(hashOf(s.TeamID, system)%1000), len(d.Views), slices.Clip(d.Lines)
	for i := range 3 { // of a prime number of views
		lines = append(lines, d.Views[(hash+i*(1+hash/n%(n-1)))%n])
	}
	lines = append(lines, d.Rounds[:min(len(s.History), len(d.Rounds))]...)
	for _, x := range s.results { // the first lines of members' results, but for what the demo made up
		first, _, _ := strings.Cut(x, "\n")
		if first != "" && !slices.Contains(w.General.Views, first) && !strings.HasPrefix(first, "ERROR: ") {
			lines = add(lines, first)
		}
	}
	return title + "\n- " + strings.Join(lines, "\n- ")
}

// scored computes a score from the text: more lines are better, and a small part makes different texts differ.
func (s teamData) scored(w teamTexts) string {
	words := form("$number").ReplaceAllString(s.Submission, "") // dates and figures don't count
	items := float64(min(strings.Count(s.Submission, "\n- "), 14))
	score, comment := contest.Round2(56+2.4*items+float64(hashOf(s.Metric, words)%100)/100), w.Mend
	if score >= 75 {
		comment = w.Good
	}
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

// judged asks for another round while the scores rise.
func (s teamData) judged(w teamTexts) string {
	n, out := len(s.History), contest.Judgment{ShouldContinue: true, Reasoning: w.GoOn, ConfidenceScore: 0.8}
	if n > 1 && s.History[n-1].Score < s.History[n-2].Score+1 && marker("on", s.Request) == nil {
		out.ShouldContinue, out.Reasoning = false, w.Enough
	}
	return string(encoded(out))
}

func hashOf(texts ...string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(texts, "\x00") + "\x00")) // it never fails
	return h.Sum32()
}

// teamTexts are the texts of contests in one language. A draft has a title and lines, three of the views, and a line
// that each further round adds.
type teamTexts struct {
	General, Policy struct {
		Title                string
		Lines, Views, Rounds []string
	}
	Good, Mend, GoOn, Enough string
}
