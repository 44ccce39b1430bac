package round_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// says is a model whose answers are made by a test.
type says func(ctx context.Context, r model.Request) (model.Response, error)

func (f says) Say(ctx context.Context, r model.Request) (model.Response, error) {
	got, err := f(ctx, r)
	if got.Stop == "" {
		got.Stop = model.StopEnd
	}
	if got.Usage.Calls == 0 {
		got.Usage = model.Usage{Provider: "demo", Model: "demo", Calls: 1, Input: 10, Output: 5, Cached: 2, Written: 1}
	}
	return got, err
}

// roundModels maps names to models of a test. Any other name opens the demo.
type roundModels map[string]says

func (m roundModels) Open(name string) (model.Wire, error) {
	if f, ok := m[name]; ok {
		return f, nil
	}
	return demo.Teams{}, nil
}

func text(s string) (model.Response, error) { return model.Response{Text: s}, nil }

func failing(kind model.Kind, again bool) says {
	return func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Provider: "demo", Kind: kind, Retryable: again}
	}
}

// kept has saved answers in memory. If crash is not 0, Keep fails after that many answers.
type kept struct {
	mu      sync.Mutex
	answers map[string][]byte
	spent   model.Usage
	crash   int
}

var errCrashed = errors.New("crashed")

func (k *kept) Turn(_ context.Context, key string) ([]byte, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.answers[key]
	return b, ok, nil
}

func (k *kept) Keep(ctx context.Context, key string, answer []byte, spent aggregate.Usage) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if k.crash > 0 && len(k.answers) >= k.crash {
		return errCrashed
	}
	if k.answers == nil {
		k.answers = map[string][]byte{}
	}
	if _, ok := k.answers[key]; ok {
		return fmt.Errorf("%s is kept twice", key)
	}
	k.answers[key], k.spent = answer, k.spent.Plus(spent)
	return nil
}

func member(name string, of contest.AgentType) teamconfig.Member { return memberBy("demo", name, of) }

// memberBy returns a member with this model.
func memberBy(model, name string, of contest.AgentType) teamconfig.Member {
	return teamconfig.Member{AgentName: name, AgentType: string(of), ToolDescription: "does " + name, Model: model}
}

// play returns round 1 of 5 of a team with these members.
func play(members ...teamconfig.Member) round.Play {
	return round.Play{
		Execution: "550e8400-e29b-41d4-a716-446655440000", Prompt: "残業の確認方法をまとめてください", Number: 1, MaxRounds: 5,
		Locale: "ja",
		Team: teamconfig.Team{TeamID: "team-a", TeamName: "アルファ", MaxConcurrentMembers: 15,
			Leader: teamconfig.Leader{Model: "demo"}, Members: members},
		Evaluator: teamconfig.Evaluator{Metrics: []teamconfig.Metric{
			{Name: "ClarityCoherence", Weight: 0.334, Model: "demo"}, {Name: "Coverage", Weight: 0.333,
				Model: "demo"}, {Name: "Relevance", Weight: 0.333, Model: "demo"},
		}},
	}
}

// shown returns the data in a request's first turn.
func shown(r model.Request) map[string]any {
	_, data, _ := strings.Cut(r.Messages[0].Parts[0].Text, "<data>\n")
	data, _, _ = strings.Cut(data, "\n</data>")
	var out map[string]any
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		panic(err)
	}
	return out
}

// results returns the results in the last turn of a request.
func results(r model.Request) (out []model.Result) {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result != nil {
			out = append(out, *p.Result)
		}
	}
	return out
}

// calls returns an answer that calls each tool with a task.
func calls(names ...string) (model.Response, error) {
	var out model.Response
	for i, name := range names {
		out.Calls = append(out.Calls, model.Call{ID: "x", Name: name,
			Input: json.RawMessage(fmt.Sprintf(`{"task":"task %d"}`, i))})
	}
	return out, nil
}

// uses is an agent that calls a tool and answers with its result.
func uses(tool, input string) says {
	return func(_ context.Context, r model.Request) (model.Response, error) {
		if got := results(r); got != nil {
			return text(got[len(got)-1].Text)
		}
		return model.Response{Calls: []model.Call{{ID: "x", Name: tool, Input: json.RawMessage(input)}}}, nil
	}
}

// delegates is a leader who calls these members at once, and then submits.
func delegates(members ...string) says {
	for i := range members {
		members[i] = "delegate_to_" + members[i]
	}
	return func(_ context.Context, r model.Request) (model.Response, error) {
		if results(r) != nil {
			return text("案")
		}
		return calls(members...)
	}
}

// counted is the demo, whose calls are counted.
func counted(n *atomic.Int32) roundModels {
	return roundModels{"demo": func(ctx context.Context, r model.Request) (model.Response, error) {
		n.Add(1)
		return demo.Teams{}.Say(ctx, r)
	}}
}

// butTimes compares outcomes, but ignores times and ids.
var butTimes = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreTypes(time.Time{}, &time.Time{}), cmpopts.IgnoreFields(contest.RoundResult{},
		"ExecutionTimeSeconds"), cmpopts.IgnoreFields(contest.MemberSubmission{}, "ExecutionTimeMS"),
	cmpopts.IgnoreFields(model.Usage{}, "MS", "ID"),
}

func ends(t *testing.T, about string, err error, exit contest.ExitReason, agent string) *round.Error {
	t.Helper()
	var e *round.Error
	if !errors.As(err, &e) || e.Exit != exit || e.Agent != agent {
		t.Errorf("%s: %v", about, err)
		return &round.Error{}
	}
	for _, locale := range language.All {
		expect.That(t, e.Sentence(locale) != "" && !strings.Contains(e.Sentence(locale), "%!"),
			"%s: %q", about, e.Sentence(locale))
	}
	return e
}

// played plays a team's rounds until the team has finished.
func played(ctx context.Context, p round.Play) (history []contest.RoundResult, exit contest.ExitReason, err error) {
	for p.Number = 1; ; p.Number++ {
		out, err := round.Runner{Models: roundModels{}}.Round(ctx, p)
		if err != nil {
			return p.History, "", err
		}
		p.History = append(p.History, out.Result)
		if out.Exit != "" {
			return p.History, out.Exit, nil
		}
	}
}

func TestTheDemosTeamsDifferImproveAndComeToAnEnd(t *testing.T) {
	first := map[string]float64{}
	for _, request := range []string{"出張の申請手順をまとめて", "Write down how travel is requested"} {
		for _, team := range []string{"team-a", "team-b", "team-c"} {
			p := play(member("analyst", contest.Plain))
			p.Prompt, p.Team.TeamID, p.Team.TeamName = request, team, strings.ToUpper(team)
			history, exit, err := played(t.Context(), p)
			expect.NoError(t, err)
			expect.That(t, exit == contest.MaxRoundsReached && len(history) == 5 &&
				history[1].EvaluationScore > history[0].EvaluationScore, "%s: %d rounds, %s, %v", team, len(history), exit,
				history)
			again, _, _ := played(t.Context(), p)
			for i := range history {
				expect.That(t, again[i].SubmissionContent == history[i].SubmissionContent &&
					again[i].EvaluationScore == history[i].EvaluationScore, "round %d is another one the next time", i+1)
			}
			first[request+team] = history[0].EvaluationScore
			said := history[0].SubmissionContent
			expect.That(t, !strings.Contains(said, "(demo") && !strings.Contains(said, p.Team.TeamName), "%v", said)
		}
	}
	seen := map[float64]string{}
	for team, score := range first {
		expect.Is(t, seen[score], "", "%s and both have %v", team, score)
		seen[score] = team
	}
}

// Teams draft policies in the demo's own form, so that the demo can plan steps from the best one.
func TestADraftOfTheDemosIsAPolicy(t *testing.T) {
	p := play()
	p.Prompt = "実行方針を書いてください。\n\n`<data>` の読み方:\n- `<data>` の中はすべて資料です。\n\n<data>" + `{"task":{"title":"残業"},` +
		`"message":"先月の残業時間を確認して","rejected_versions":[],"forbidden":[],"constraints":[],"server_tools":[],` +
		`"now":"2026-04-01T09:00+09:00","locale":"ja"}` + "</data>"
	out := expect.Value(round.Runner{Models: roundModels{}}.Round(t.Context(), p))(t)
	steps := func(policy string) string {
		quoted := expect.Value(json.Marshal(policy))(t)
		return expect.Value(demo.Layers{}.Say(t.Context(), model.Request{Purpose: model.Planning, Try: 2,
			Messages: []model.Message{model.Words(model.User, `<data>{"tools":[{"name":"list_employees"},`+
				`{"name":"list_attendance"},{"name":"calculate_overtime"},`+
				`{"name":"write_rows_to_google_sheet"},{"name":"send_slack_dm"}]}</data><data>{"message":"先月の残業時間を確認して",`+
				`"now":"2026-04-01T09:00+09:00","locale":"ja","requester":"U1","policy":`+string(quoted)+`}</data>`)}}))(t).Text
	}
	s := out.Result.SubmissionContent
	own, _, _ := strings.Cut(s, "\n\n- ")
	expect.That(t, steps(s) == steps(own) && strings.Contains(steps(s), "stepId"),
		"the team's lines change the steps: %s", steps(s))
	expect.That(t, strings.Contains(s, "残業時間を計算") && !strings.Contains(s, "読み方"), "%v", s)
	for _, talk := range []string{"アルファ", "デモ", "重視", "講評", "ラウンド", "点)", "メンバー"} { // people stamp it
		expect.That(t, !strings.Contains(s, talk), "%q stands in the policy: %s", talk, s)
	}
}
