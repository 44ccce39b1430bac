package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
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

func (Teams) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out, s, result := begun(ctx, r), teamData{}, ""
	_ = fenced(r.Messages[0].Parts[0].Text, &s) // unreadable data counts as empty
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result != nil {
			result = p.Result.Text
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
		out.Text = cmp.Or(result, w.General[hashOf(r.System)%len(w.General)])
	}
	out.Usage.Cost = aggregate.USD(asked("cost", text, "contest"))
	out.Usage.Input = int64(len(r.System)+len(s.Request)+len(s.Submission)) / 4
	out.Usage.Output = int64(len(out.Text)) / 4
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
func (s teamData) draft(w teamTexts) string {
	if s.trouble("unscored") {
		return w.Unscored
	}
	var policy struct{ Policy string }
	drafted, _ := answer(model.Request{Purpose: model.Drafting, Try: 2,
		Messages: []model.Message{model.Words(model.User, s.material())}})
	_ = json.Unmarshal([]byte(drafted), &policy) // without an answer there is no policy
	first, rest, _ := strings.Cut(policy.Policy, "\n")
	of, item := w.Policy, "\n"
	if first == "" {
		of, first, item = w.General, fmt.Sprintf(w.Title, oneLine(plain(s.subject()))), "\n- "
	}
	lines, from := []string{first}, hashOf(s.TeamID)
	for i := range 3 + min(len(s.History), 2) {
		lines = append(lines, of[(from+i)%len(of)])
	}
	return strings.TrimSpace(strings.Join(lines, item) + "\n" + rest)
}

// scored computes a score from the text: more lines are better, and a small part makes different texts differ.
func (s teamData) scored(w teamTexts) string {
	words := form("$number").ReplaceAllString(s.Submission, "") // dates and figures don't count
	lines, part := strings.Count(s.Submission, "\n"), hashOf(s.Metric, words)%240
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

// hashOf is a small number that depends on texts alone.
func hashOf(texts ...string) int {
	return int(crc32.ChecksumIEEE([]byte(strings.Join(texts, "\x00")))) % 1000
}

// teamTexts are the texts of contests in one language. A draft has a title, or the policy's first line, and some of the
// lines. One that can't be scored has none.
type teamTexts struct {
	Title                string
	General, Policy      []string
	Good, Mend, Unscored string
}
