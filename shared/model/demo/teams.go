package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/runtime/sleep"
	"ringi/shared/words/language"
)

// Teams plays contests without a model. A leader delegates once, and submits drafts that differ by team and grow with
// each round. Scores depend only on the text. A request can ask for failures, each by a marker: “demo: hang team-b” makes
// that team's leader hang, “demo: refuse team-b” makes it decline, and “demo: unscored team-b” makes it submit so little
// that its evaluator fails. With “round 2” at the end this happens in that round only. “demo: slow 3” makes each call take
// 3 seconds, “demo: cost 0.10 contest” makes it cost 0.10 dollars, and “demo: play on” lets teams play all rounds.
type Teams struct{}

// teamData has the parts of agents' data that the demo reads.
type teamData struct {
	Request string
	Team    string
	TeamID  string `json:"team_id"`
	Round   int
	History []struct{ Score float64 }

	Metric, Submission, Task string
}

// Say recognizes an agent by its data: a leader's has a team, an evaluator's a metric, a member's a task, and the
// judge's none of them.
func (Teams) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := begun(ctx, r)
	s, results := teamsData(r)
	asked := s.Request + s.Task
	if s.trouble("hang") {
		<-ctx.Done()
		return out, model.FromTransport(modelname.Demo, ctx.Err())
	}
	if slow := parsed(marker("slow", asked)); slow > 0 {
		if err := sleep.For(ctx, time.Duration(slow*float64(time.Second))); err != nil {
			return out, model.FromTransport(modelname.Demo, err)
		}
	}
	switch {
	case s.trouble("refuse"):
		out.Stop = model.StopRefused
	case s.TeamID != "" && len(r.Tools) > 0 && len(results) == 0:
		for i, t := range r.Tools {
			out.Calls = append(out.Calls,
				model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name, Input: encoded(object{"task": s.subject()})})
		}
	case s.TeamID != "":
		out.Text = s.draft(r.System, results)
	case s.Metric != "" && asksUnscored(asked) && !strings.Contains(s.Submission, "\n- "):
		return out, failure(ErrAsked)
	case s.Metric != "":
		out.Text = s.scored()
	case s.Task != "":
		s.member(r, results, &out)
	default:
		out.Text = s.judged()
	}
	if m := marker("cost", asked); m != nil && (m[2] == "" || strings.EqualFold(m[2], "contest")) {
		out.Usage.Cost = aggregate.USD(parsed(m))
	}
	out.Usage.Input = int64(len(r.System)+len(s.Request)+len(s.Submission)) / 4
	out.Usage.Output = int64(len(out.Text)) / 4
	onText(out.Text)
	return out, nil
}

// teamsData returns the data of the first turn, and the results of the calls.
func teamsData(r model.Request) (s teamData, results []string) {
	for i, turn := range r.Messages {
		for _, p := range turn.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
			for _, data := range fenced(p.Text)[:min(len(fenced(p.Text)), 1-min(i, 1))] {
				_ = json.Unmarshal([]byte(data), &s) // unreadable data counts as empty
			}
		}
	}
	return s, results
}

// trouble reports whether the request asks for a failure of the team in this round.
func (s teamData) trouble(what string) bool {
	for _, m := range markers("team", s.Request+s.Task) {
		if strings.EqualFold(m[1], what) && m[2] == s.TeamID && (m[3] == "" || m[3] == strconv.Itoa(s.Round)) {
			return true
		}
	}
	return false
}

// asksUnscored reports whether a request asks that a team's draft is not scored. Such a draft has no list.
func asksUnscored(request string) bool {
	return slices.ContainsFunc(markers("team", request), func(m []string) bool { return strings.EqualFold(m[1], "unscored") })
}

func (s teamData) words() words { return *spoken.In(language.Of(s.subject()+s.Task, language.English)) }

// material is the last fenced data in the request, with its fence. Text before it may contain the fence's words, too.
func (s teamData) material() string {
	begin, end := strings.LastIndex(s.Request, openFence), strings.LastIndex(s.Request, closeFence)
	if begin < 0 || end < begin {
		return ""
	}
	return s.Request[begin : end+len(closeFence)]
}

// subject is the message in the request's data or, without one, the first line of the request.
func (s teamData) subject() string {
	var about struct{ Message string }
	data := strings.TrimSuffix(strings.TrimPrefix(s.material(), openFence), closeFence)
	if json.Unmarshal([]byte(data), &about) == nil && about.Message != "" {
		return about.Message
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s.Request), "\n")
	return strings.TrimSpace(first)
}

// draft is a team's text. If the request has the data for the demo's own policy, it is that policy with points to check
// that differ by team and grow from round to round. Otherwise it is the team's draft on the request's topic. People stamp
// it, so it says nothing of teams, rounds and scores.
func (s teamData) draft(system string, results []string) string {
	w := s.words()
	d := allDrafts.In(w.Locale)
	hash := hashOf(s.TeamID, system)
	view := int(hash % uint32(len(d.Views)))
	var policy struct{ Policy string }
	answer, err := Answer(Question{Purpose: string(model.Drafting), Try: 2, Text: s.material()})
	if err == nil && s.material() != "" && json.Unmarshal([]byte(answer), &policy) == nil && policy.Policy != "" {
		if s.trouble("unscored") {
			return policy.Policy
		}
		other := (view + 1 + int(hash/8)%(len(d.Policy)-1)) % len(d.Policy)
		lines := append([]string{d.Policy[view], d.Policy[other]}, w.Teams.Reviews[:min(len(s.History), len(w.Teams.Reviews))]...)
		return policy.Policy + "\n\n- " + strings.Join(lines, "\n- ") + s.found(results, lines)
	}
	lines := d.on(plain(s.subject())).text(view, len(s.History))
	if s.trouble("unscored") {
		return lines[0]
	}
	return strings.Join(lines, "\n") + s.found(results, lines)
}

// found are the first lines of members' results that a draft doesn't have yet, but for what the demo made up.
func (s teamData) found(results, lines []string) (more string) {
	d := allDrafts.In(s.words().Locale)
	for _, x := range results {
		first, _, _ := strings.Cut(x, "\n")
		made := first == d.General.Found || slices.ContainsFunc(d.Topics, func(t Draft) bool { return t.Found == first })
		if line := "\n- " + first; first != "" && !made && !strings.HasPrefix(first, "ERROR: ") &&
			!slices.Contains(lines, first) && !slices.Contains(lines, line[1:]) && !strings.Contains(more+"\n", line+"\n") {
			more += line
		}
	}
	return more
}

// maxItems is the most lines of a list that raise a score.
const maxItems = 14

// scored computes a score from the text. A small added part makes the scores of different texts differ.
func (s teamData) scored() string {
	w := s.words().Teams
	items := math.Min(float64(strings.Count(s.Submission, "\n- ")), maxItems)
	shared := 0
	for _, r := range s.subject() {
		if unicode.IsLetter(r) && strings.ContainsRune(s.Submission, r) {
			shared++
		}
	}
	score := 60 + 2*items
	switch s.Metric {
	case "ClarityCoherence":
		score = 62 + 2*items
	case "Coverage":
		score = 50 + 3*items
	case "Relevance":
		score = 55 + math.Min(float64(shared), 20) + 1.5*items
	}
	words := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) { // dates and figures don't count
			return -1
		}
		return r
	}, s.Submission)
	score = contest.Round2(score + float64(hashOf(s.Metric, words)%100)/100)
	of := w.Mend
	if score >= 80 {
		of = w.Good
	}
	comment, known := of[s.Metric]
	if !known {
		comment = of["other"]
	}
	return string(encoded(object{"score": score, "comment": comment + w.ScoredBy}))
}

// member calls its tool once, if it has one, and answers with the result.
func (s teamData) member(r model.Request, results []string, out *model.Response) {
	if len(r.Tools) > 0 && len(results) == 0 {
		t := r.Tools[0]
		var shape struct{ Required []string }
		_ = json.Unmarshal(t.Schema, &shape) // without a readable schema there are no arguments
		input := object{}
		for _, name := range shape.Required {
			input[name] = s.Task
		}
		if t.Name == "execute_code" {
			input["script"] = "echo 42"
		}
		out.Calls = []model.Call{{ID: "demo", Name: t.Name, Input: encoded(input)}}
		return
	}
	d := allDrafts.In(s.words().Locale).on(plain(s.Task))
	out.Text = d.Found
	if n := int(hashOf(r.System) % 4); n > 1 { // members of a team don't all say the same
		out.Text = d.Views[n]
	}
	if len(results) > 0 {
		out.Text += "\n" + results[len(results)-1]
	}
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
	for _, t := range texts {
		_, _ = h.Write([]byte(t + "\x00")) // it never fails
	}
	return h.Sum32()
}
