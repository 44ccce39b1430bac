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
}

func (Teams) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := begun(ctx, r)
	s, results := teamsData(r)
	text := s.Request + s.Task
	if s.trouble("hang") {
		<-ctx.Done()
		return out, model.FromTransport(modelname.Demo, ctx.Err())
	}
	if slow := asked("slow", text, ""); slow > 0 {
		if err := sleep.For(ctx, time.Duration(slow*float64(time.Second))); err != nil {
			return out, model.FromTransport(modelname.Demo, err)
		}
	}
	first := len(results) == 0 && len(r.Tools) > 0
	switch {
	case s.trouble("refuse"):
		out.Stop = model.StopRefused
	case first && s.TeamID+s.Task != "":
		for i, t := range r.Tools {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name, Input: s.arguments(t)})
		}
	case s.TeamID != "":
		out.Text = s.draft(r.System, results)
	case s.Metric != "" && !strings.Contains(s.Submission, "\n- ") &&
		slices.ContainsFunc(markers("team", text), func(m []string) bool { return strings.EqualFold(m[1], "unscored") }):
		return out, failure(ErrAsked) // such a draft has no list
	case s.Metric != "":
		out.Text = s.scored()
	case s.Task != "":
		out.Text = s.member(r.System, results)
	default:
		out.Text = s.judged()
	}
	out.Usage.Cost = aggregate.USD(asked("cost", text, "contest"))
	out.Usage.Input = int64(len(r.System)+len(s.Request)+len(s.Submission)) / 4
	out.Usage.Output = int64(len(out.Text)) / 4
	onText(out.Text)
	return out, nil
}

// teamsData returns the data of the first turn, and the results of the calls.
func teamsData(r model.Request) (s teamData, results []string) {
	for _, turn := range r.Messages {
		for _, p := range turn.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
		}
	}
	if data := fence.Get().FindStringSubmatch(r.Messages[0].Parts[0].Text); data != nil {
		_ = json.Unmarshal([]byte(data[1]), &s) // unreadable data counts as empty
	}
	return s, results
}

// trouble reports whether the request asks for a failure of the team in this round.
func (s teamData) trouble(what string) bool {
	return slices.ContainsFunc(markers("team", s.Request+s.Task), func(m []string) bool {
		return strings.EqualFold(m[1], what) && m[2] == s.TeamID && (m[3] == "" || m[3] == strconv.Itoa(s.Round))
	})
}

func (s teamData) words() *words { return spoken.In(language.Of(s.subject()+s.Task, language.English)) }

// material is the last fenced data in the request. Text before it may contain the fence's words, too.
func (s teamData) material() string {
	if begin := strings.LastIndex(s.Request, openFence); begin >= 0 {
		return s.Request[begin:]
	}
	return ""
}

// subject is the message in the request's data or, without one, the first line of the request.
func (s teamData) subject() string {
	var about struct{ Message string }
	if data := fence.Get().FindStringSubmatch(s.material()); data != nil {
		_ = json.Unmarshal([]byte(data[1]), &about) // unreadable data has no message
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.Request), "\n")
	return cmp.Or(about.Message, strings.TrimSpace(first))
}

// draft is a team's text: of the demo's own policy if the request has the data for it, or else of a general draft. Its
// lines differ by team, and each round adds one. People stamp it, so it says nothing of teams, rounds and scores.
func (s teamData) draft(system string, results []string) string {
	w, hash := s.words().Teams, int(hashOf(s.TeamID, system)%1000)
	d, subject := w.General, oneLine(plain(s.subject()))
	var policy struct{ Policy string }
	answer, _ := Answer(Question{Purpose: string(model.Drafting), Try: 2, Text: s.material()})
	_ = json.Unmarshal([]byte(answer), &policy) // without an answer there is no policy
	if policy.Policy != "" {
		d, subject = w.Policy, policy.Policy
	}
	title := fmt.Sprintf(d.Title, subject)
	if s.trouble("unscored") {
		return strings.TrimSpace(title)
	}
	lines := append([]string{title}, d.Lines...)
	for i := range 3 { // of a prime number of views
		at := hash + i*(1+hash/len(d.Views)%(len(d.Views)-1))
		lines = append(lines, "- "+d.Views[at%len(d.Views)])
	}
	for _, line := range d.Rounds[:min(len(s.History), len(d.Rounds))] {
		lines = append(lines, "- "+line)
	}
	for _, x := range results { // the first lines of members' results, but for what the demo made up
		first, _, _ := strings.Cut(x, "\n")
		if first != "" && !slices.Contains(w.General.Views, first) && !strings.HasPrefix(first, "ERROR: ") {
			lines = add(lines, "- "+first)
		}
	}
	return strings.Join(lines, "\n")
}

// scored computes a score from the text: more lines are better, and a small part makes different texts differ.
func (s teamData) scored() string {
	w, items := s.words().Teams, float64(min(strings.Count(s.Submission, "\n- "), 14))
	words := form("$number").ReplaceAllString(s.Submission, "") // dates and figures don't count
	score := contest.Round2(56 + 2.4*items + float64(hashOf(s.Metric, words)%100)/100)
	comment := w.Mend
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

// member answers with the result of its call, or else from a point of view. Members of a team don't all say the same.
func (s teamData) member(system string, results []string) string {
	if len(results) > 0 {
		return results[len(results)-1]
	}
	views := s.words().Teams.General.Views
	return views[int(hashOf(system)%1000)%len(views)]
}

// judged asks for another round while the scores rise.
func (s teamData) judged() string {
	w, n := s.words().Teams, len(s.History)
	more, why := true, w.GoOn
	if n > 1 && s.History[n-1].Score < s.History[n-2].Score+1 && marker("on", s.Request) == nil {
		more, why = false, w.Enough
	}
	return string(encoded(contest.Judgment{ShouldContinue: more, Reasoning: why, ConfidenceScore: 0.8}))
}

func hashOf(texts ...string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(texts, "\x00") + "\x00")) // it never fails
	return h.Sum32()
}

// teamTexts are the texts of contests in one language.
type teamTexts struct {
	General, Policy          teamDraft
	Good, Mend, GoOn, Enough string
}

// teamDraft is a text by its title and lines, with three of the views, and a line that each further round adds.
type teamDraft struct {
	Title                string
	Lines, Views, Rounds []string
}
