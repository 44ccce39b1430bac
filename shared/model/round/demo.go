package round

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/sleep"
	"ringi/shared/words/language"
)

// Demo plays contests without a model, and says so. A leader delegates once, and submits drafts that differ by team and
// grow with each round. Scores depend only on the text. demo.TroubleOf lists the failures that a request can ask for.
type Demo struct{}

// shown has the parts of agents' data that the demo reads.
type shown struct {
	brief
	Metric     string `json:"metric"`
	Submission string `json:"submission"`
	Task       string `json:"task"`
}

// Say recognizes an agent by its data: a leader's has a team, an evaluator's a metric, a member's a task, and the
// judge's none of them.
func (Demo) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Stop: model.StopEnd, Answered: modelname.Demo,
		Usage: model.Usage{Provider: modelname.Demo, Model: modelname.Demo, Calls: 1}}
	if body, err := json.Marshal(r); err == nil {
		model.Sent(ctx, body)
	}
	s, results := read(r)
	trouble := demo.TroubleOf(s.Request+s.Task, s.TeamID, s.Round)
	if trouble.Hang {
		<-ctx.Done()
		return out, model.FromTransport(modelname.Demo, ctx.Err())
	}
	if err := sleep.For(ctx, trouble.Slow); trouble.Slow > 0 && err != nil {
		return out, model.FromTransport(modelname.Demo, err)
	}
	switch {
	case trouble.Refuse:
		out.Stop = model.StopRefused
	case s.TeamID != "" && len(r.Tools) > 0 && len(results) == 0:
		for i, t := range r.Tools {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("demo_", i), Name: t.Name,
				Input: encoded(map[string]string{"task": s.subject()})})
		}
	case s.TeamID != "":
		out.Text = s.draft(r.System, results, trouble)
	case s.Metric != "" && strings.Contains(s.Submission, unscored):
		return out, &model.Error{Provider: modelname.Demo, Model: modelname.Demo, Kind: model.Demo, Err: demo.ErrAsked}
	case s.Metric != "":
		out.Text = s.scored()
	case s.Task != "":
		s.member(r, results, &out)
	default:
		out.Text = s.judged(trouble)
	}
	out.Usage.Input, out.Usage.Output, out.Usage.Cost = int64(len(r.System)+len(s.Request)+len(s.Submission))/4,
		int64(len(out.Text))/4, aggregate.USD(trouble.Cost)
	onText(out.Text)
	return out, nil
}

// read returns the data of the first turn, and the results of the calls.
func read(r model.Request) (s shown, results []string) {
	for i, turn := range r.Messages {
		for _, p := range turn.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
			_, data, _ := strings.Cut(p.Text, openFence)
			data, _, _ = strings.Cut(data, closeFence)
			if i == 0 {
				_ = json.Unmarshal([]byte(data), &s) // unreadable data counts as empty
			}
		}
	}
	return s, results
}

func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

func (s shown) locale() string { return language.Of(s.subject()+s.Task, language.English) }

// material is the last fenced data in the request, with its fence. Text before it may contain the fence's words, too.
func (s shown) material() string {
	begin, end := strings.LastIndex(s.Request, openFence), strings.LastIndex(s.Request, closeFence)
	if begin < 0 || end < begin {
		return ""
	}
	return s.Request[begin : end+len(closeFence)]
}

const (
	openFence  = "<data>"
	closeFence = "</data>"
)

// subject is the message in the request's data or, without one, the first line of the request.
func (s shown) subject() string {
	var about struct{ Message string }
	data := strings.TrimSuffix(strings.TrimPrefix(s.material(), openFence), closeFence)
	if json.Unmarshal([]byte(data), &about) == nil && about.Message != "" {
		return about.Message
	}
	for line := range strings.Lines(s.Request) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return s.Request
}

// unscored is a line of a draft that makes the demo's evaluator fail.
const unscored = "(demo: the evaluator fails here)"

// demoTexts are the sentences that the demo writes beside its drafts.
type demoTexts struct {
	of, view     string // team; point of view
	asked, work  string
	reviews      []string
	good, mend   map[string]string // by metric
	scoredBy     string
	goOn, enough string
}

var demoWords = language.InEach(
	demoTexts{
		of: "%s の案 (デモ)", view: "重視する点: %s", asked: "依頼: %s", work: "- メンバーから: %s",
		reviews: []string{"承認の前に、「対象」と「期間」の行が依頼どおりかを確認してください。",
			"例外にしたい人や月があれば、却下の理由に書いてください。次のバージョンに反映します。"},
		good: map[string]string{"": "読みやすくまとまっています", "ClarityCoherence": "一項目に一つのことが書かれ、順に読めます",
			"Coverage": "対象・期限・例外・見直しまで書かれています", "Relevance": "依頼の言葉に沿って答えています"},
		mend: map[string]string{"": "対象、例外、確認する人を書き足すと良くなります",
			"ClarityCoherence": "項目を分け、一文を短くすると読みやすくなります",
			"Coverage":         "対象、期限、例外がまだ書かれていません", "Relevance": "依頼のどの部分への答えかを書くと良くなります"},
		scoredBy: " (デモの採点)。", goOn: "点数が上がっているため、続けます (デモの判断)。",
		enough: "点数が上がらなくなったため、終えます (デモの判断)。",
	},
	demoTexts{
		of: "Draft by %s (demo)", view: "Focus: %s", asked: "Request: %s", work: "- From a member: %s",
		reviews: []string{"Before approving, check that the lines “Covers” and “Period” match the request.",
			"To exclude people or months, say so when you reject; the next version reflects it."},
		good: map[string]string{"": "Easy to follow", "ClarityCoherence": "One point per line, in a clear order",
			"Coverage": "Covers scope, deadlines, exceptions and review", "Relevance": "Answers the request in its own words"},
		mend: map[string]string{"": "Add who is covered, the exceptions and who checks",
			"ClarityCoherence": "Split long lines, one point each", "Coverage": "Scope, deadlines and exceptions are missing",
			"Relevance": "Say which part of the request each point answers"},
		scoredBy: " (scored by the demo).", goOn: "Scores are still rising, so go on (decided by the demo).",
		enough: "Scores have stopped rising, so stop (decided by the demo).",
	})

// draft is a team's text. If the request has the data for the demo's own policy, it is that policy with points to check
// that differ by team and grow from round to round: people stamp it, so it says nothing of teams, rounds and scores.
// Otherwise it is the team's draft on the request's topic.
func (s shown) draft(system string, results []string, trouble demo.Trouble) string {
	w, d := demoWords.In(s.locale()), demo.DraftsIn(s.locale())
	hash := hashOf(s.TeamID, system)
	view := int(hash % uint32(len(d.Views)))
	var policy struct{ Policy string }
	answer, err := demo.Answer(demo.Question{Purpose: string(model.Drafting), Try: 2, Text: s.material()})
	if err == nil && s.material() != "" && json.Unmarshal([]byte(answer), &policy) == nil && policy.Policy != "" {
		other := (view + 1 + int(hash/8)%(len(d.Policy)-1)) % len(d.Policy)
		lines := []string{policy.Policy, "", "- " + d.Policy[view], "- " + d.Policy[other]}
		lines = append(lines, found(lines, results, "- %s")...)
		for i := range s.History[:min(len(s.History), len(w.reviews))] { // later rounds add nothing
			lines = append(lines, "- "+w.reviews[i])
		}
		if trouble.Unscored {
			lines = append(lines, unscored)
		}
		return strings.Join(lines, "\n")
	}
	lines := []string{fmt.Sprintf(w.of, s.Team), fmt.Sprintf(w.view, d.Views[view]), fmt.Sprintf(w.asked, demo.Plain(s.subject())), ""}
	lines = append(lines, d.On(demo.Plain(s.subject())).Text(view, len(s.History))...)
	lines = append(lines, found(lines, results, w.work)...)
	if trouble.Unscored {
		lines = append(lines, unscored)
	}
	return strings.Join(lines, "\n")
}

// found are the first lines of members' results that a draft doesn't have yet.
func found(lines, results []string, form string) (more []string) {
	for _, x := range results {
		first, _, _ := strings.Cut(x, "\n")
		line := fmt.Sprintf(form, first)
		if failed := strings.HasPrefix(first, "ERROR: "); !failed && !slices.Contains(lines, line) && !slices.Contains(more, line) {
			more = append(more, line)
		}
	}
	return more
}

// maxItems is the most lines of a list that raise a score.
const maxItems = 14

// scored computes a score from the text. A small added part makes the scores of different texts differ.
func (s shown) scored() string {
	w := demoWords.In(s.locale())
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
	score = contest.Round2(score + float64(hashOf(s.Metric, withoutScores(s.Submission))%100)/100)
	of := w.mend
	if score >= 80 {
		of = w.good
	}
	comment := of[s.Metric]
	if comment == "" {
		comment = of[""]
	}
	return string(encoded(map[string]any{"score": score, "comment": comment + w.scoredBy}))
}

func withoutScores(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// member calls its tool once, if it has one, and answers with the result.
func (s shown) member(r model.Request, results []string, out *model.Response) {
	if len(r.Tools) > 0 && len(results) == 0 {
		t := r.Tools[0]
		var shape struct{ Required []string }
		_ = json.Unmarshal(t.Schema, &shape) // without a readable schema there are no arguments
		input := map[string]string{}
		for _, name := range shape.Required {
			input[name] = s.Task
		}
		if t.Name == executeCode {
			input["script"] = "echo 42"
		}
		out.Calls = []model.Call{{ID: "demo", Name: t.Name, Input: encoded(input)}}
		return
	}
	d := demo.DraftsIn(s.locale()).On(demo.Plain(s.Task))
	out.Text = d.Found
	if n := int(hashOf(r.System) % 4); n > 1 { // members of a team don't all say the same
		out.Text = d.Views[n]
	}
	if len(results) > 0 {
		out.Text += "\n" + results[len(results)-1]
	}
}

// judged asks for another round while the scores rise.
func (s shown) judged(trouble demo.Trouble) string {
	w := demoWords.In(s.locale())
	n := len(s.History)
	more, why := true, w.goOn
	if n > 1 && s.History[n-1].Score < s.History[n-2].Score+1 && !trouble.NeverStops {
		more, why = false, w.enough
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
