package round

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/words/legible"
)

//go:embed prompts/*.md
var prompts embed.FS

// prompt is a file of prompts/, maybe with a configured text in it.
type prompt struct{ name, text string }

// mark divides a file of prompts/. A configuration may replace the part above it, which describes the agent. The part
// below says how the agent reads and answers.
const mark = "\n---\n"

func promptIn(purpose, locale string) (prompt, error) {
	p, err := model.ReadPrompt(prompts, model.Purpose(purpose), locale)
	return prompt{p.Name(), p.Text}, err
}

// with replaces the part about the agent by a configured text.
func (p prompt) with(configured string) prompt {
	_, rules, _ := strings.Cut(p.text, mark)
	return prompt{p.name, strings.TrimSpace(configured) + "\n" + mark + rules}
}

// configured replaces the part about the agent by instead and appends beside. A blank or nil text changes nothing.
func (p prompt) configured(instead, beside *string) prompt {
	if instead != nil && legible.Text(*instead) {
		p = p.with(*instead)
	}
	if beside != nil && legible.Text(*beside) {
		p = p.and(*beside)
	}
	return p
}

// and appends a text to the part about the agent.
func (p prompt) and(configured string) prompt {
	about, rules, _ := strings.Cut(p.text, mark)
	return prompt{p.name, strings.TrimSpace(about) + "\n\n" + strings.TrimSpace(configured) + "\n" + mark + rules}
}

// fenced returns data in the form that models read. No text can end the fence, because JSON escapes every <.
func fenced(data any) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("encode what a model is shown: %v", err)) // of texts and numbers
	}
	return "<data>\n" + string(b) + "\n</data>"
}

// brief is the data for a leader. The judge gets it without the team and its ranking.
type brief struct {
	Request     string   `json:"request"`
	Team        string   `json:"team,omitempty"`
	TeamID      string   `json:"team_id,omitempty"`
	Round       int      `json:"round"`
	MaxRounds   int      `json:"max_rounds"`
	History     []past   `json:"history"`
	Ranking     *ranking `json:"ranking,omitempty"`
	SecondsLeft int      `json:"seconds_left,omitempty"`
	Today       string   `json:"today"`
}

// today is the date of the round in the tenant's zone. An agent of the round that goes on the next day reads the same.
func (p *playing) today() string {
	at := p.begun
	if at.IsZero() { // no leader spoke
		at = p.Now()
	}
	return at.In(tenancy.Zone()).Format("2006-01-02 (Monday), Asia/Tokyo")
}

// past is a scored round. Only the best and the last round have their submissions.
type past struct {
	Round      int     `json:"round"`
	Score      float64 `json:"score"` // 0 to 100
	Feedback   string  `json:"feedback"`
	Submission string  `json:"submission,omitempty"`
}

// ranking is the team's rank. It does not name the other teams.
type ranking struct {
	Place int       `json:"place"`
	Of    int       `json:"of"`
	Best  []float64 `json:"best_scores"` // of each team, the best first
}

// opening returns the leader's first message, saved or new, and the time when the round began.
func (p *playing) opening(ctx context.Context) (string, time.Time, error) {
	var o opening
	key := p.key("opening")
	if ok, err := p.kept(ctx, key, &o); err != nil || ok {
		return o.Data, time.Unix(0, o.At), err
	}
	p.begun = p.Now()
	b := p.brief(p.History)
	b.Team, b.TeamID, b.Ranking = p.Team.TeamName, p.Team.TeamID, p.ranking()
	if !p.Until.IsZero() {
		b.SecondsLeft = max(0, int(p.left()/time.Second))
	}
	o = opening{fenced(b), p.begun.UnixNano()}
	return o.Data, p.begun, p.keep(ctx, key, o, model.Usage{})
}

func (p *playing) brief(history []contest.RoundResult) brief {
	b := brief{Request: legible.Visible(p.Prompt), Round: p.Number, MaxRounds: p.MaxRounds, History: []past{}, Today: p.today()}
	for i, h := range history {
		x := past{Round: h.RoundNumber, Score: contest.Round2(h.EvaluationScore * 100),
			Feedback: contest.InPoints(h.EvaluationFeedback, p.Locale)} // as the prompts say, out of 100
		if i == len(history)-1 || i == contest.Best(history) {
			x.Submission = h.SubmissionContent
		}
		b.History = append(b.History, x)
	}
	return b
}

func (p *playing) ranking() *ranking {
	place := slices.IndexFunc(p.Ranking, func(s Standing) bool { return s.TeamID == p.Team.TeamID })
	if place < 0 {
		return nil
	}
	r := &ranking{Place: place + 1, Of: len(p.Ranking)}
	for _, s := range p.Ranking {
		r.Best = append(r.Best, contest.Round2(s.Score*100))
	}
	return r
}
