package round_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
)

// A vendor that limits the rate and doesn't say for how long is asked again after growing pauses, and a team that ends
// for it says which model it was.
func TestARateLimitWithoutATimeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begun, open := time.Now(), 5*time.Minute
		limited := func(context.Context, model.Request) (model.Response, error) {
			if at = append(at, time.Since(begun)); time.Since(begun) < open {
				return model.Response{}, &model.Error{Provider: "compatible.gemini", Model: "gemini-3.5-flash",
					Kind: model.RateLimited, Status: 429, Retryable: true}
			}
			return text("案")
		}
		p, none := p2(play(), "limited"), 0
		p.Team.Leader.MaxRetries = &none // of calls that fail
		p.Until = begun.Add(10 * time.Minute)
		r := round.Runner{Models: roundModels{"limited": limited}}
		out := expect.Value(r.Round(t.Context(), p))(t)
		expect.Is(t, out.Result.SubmissionContent, "案")
		for i := range at[1:] {
			wait, most := at[i+1]-at[i], min(time.Second<<i, time.Minute)
			expect.That(t, wait >= most/2 && wait <= most, "pause %d after %s: %s of %s", i, at[i], wait, most)
		}
		expect.That(t, len(at) > 10, "%d pauses", len(at)-1)
		at, begun, open = nil, time.Now(), time.Hour
		p.Until = begun.Add(5 * time.Minute)
		_, err := r.Round(t.Context(), p)
		e := ends(t, "limited", err, contest.PartialFailure, round.Leader)
		took := time.Since(begun)
		expect.That(t, took >= 295*time.Second && took < 5*time.Minute, "the team waited %s of its 5 minutes", took)
		expect.That(t, e.Kind == model.RateLimited && strings.Contains(e.Sentence("ja"), "レート制限") &&
			strings.Contains(e.Sentence("en"), "(gemini-3.5-flash)"), "%s %s", e.Sentence("ja"), e.Sentence("en"))
	})
}

// A vendor that says each time that a moment is enough is not asked a hundred times in a second for as long as the team
// has time.
func TestARateLimitThatLastsLongerThanItSaysIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		p := p2(play(), "limited")
		p.Until = time.Now().Add(10 * time.Minute)
		_, err := round.Runner{Models: roundModels{"limited": func(context.Context, model.Request) (model.Response, error) {
			calls++
			return model.Response{}, &model.Error{Kind: model.RateLimited, Retryable: true, RetryAfter: 20 * time.Millisecond}
		}}}.Round(t.Context(), p)
		e := new(round.Error)
		expect.That(t, errors.As(err, &e) && calls < 70, "%d calls in 10 minutes, then %v", calls, err)
	})
}

// hangs is a model, or a tool, that answers only when nobody waits any more.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return &model.Error{Provider: "demo", Kind: model.Timeout, Retryable: true, Err: ctx.Err()}
}

// hungTool is a tool of members that hangs.
type hungTool struct{}

func (hungTool) Tools() []model.Tool { return []model.Tool{{Name: "look"}} }
func (hungTool) Lacking() string     { return "" }
func (hungTool) Read(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
	return "", hangs(ctx)
}

// A contest that people end, for example with the best draft so far, doesn't wait for what hangs, nor until a vendor's
// limit is over.
func TestACallThatHangsEndsWithTheContest(t *testing.T) {
	hung := func(ctx context.Context, _ model.Request) (model.Response, error) {
		return model.Response{Usage: model.Usage{Provider: "anthropic", Model: "claude-sonnet-4-6", Calls: 1}}, hangs(ctx)
	}
	limited := func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Kind: model.RateLimited, Retryable: true, RetryAfter: 9 * time.Minute}
	}
	for name, set := range map[string]func(p *round.Play, r *round.Runner){
		"the leader":         func(p *round.Play, r *round.Runner) { *p = p2(*p, "hung") },
		"a wait for a limit": func(p *round.Play, r *round.Runner) { *p = p2(*p, "limited") },
		"a member": func(p *round.Play, r *round.Runner) {
			*p = p2(*p, "delegates")
			p.Team.Members[0].Model = "hung"
		},
		"a member's tool": func(p *round.Play, r *round.Runner) {
			*p = p2(*p, "delegates")
			p.Team.Members[0].Model, p.Team.Members[0].AgentType = "reads", string(contest.WebSearch)
			r.Reads = hungTool{}
		},
		"the evaluator": func(p *round.Play, r *round.Runner) {
			for i := range p.Evaluator.Metrics {
				p.Evaluator.Metrics[i].Model = "hung"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				p := play(member("analyst", contest.Plain))
				p.Until = begun.Add(10 * time.Minute)
				k := &kept{answers: map[string][]byte{}}
				r := round.Runner{Models: roundModels{
					"hung": hung, "limited": limited, "delegates": delegates("analyst"), "reads": uses("look", `{}`),
				}, Kept: k, Stands: func(context.Context) error {
					switch {
					case time.Since(begun) > 12*time.Second:
						return round.ErrStopped
					case time.Since(begun) > 7*time.Second:
						return errors.New("throttled")
					}
					return nil
				}}
				set(&p, &r)
				_, err := r.Round(t.Context(), p)
				took := time.Since(begun)
				expect.That(t, errors.Is(err, round.ErrStopped), "%v", err)
				expect.That(t, took > 12*time.Second && took <= 17*time.Second, "it ended after %s", took)
				if !strings.HasSuffix(name, "limit") && !strings.HasSuffix(name, "tool") { // a model was asked
					expect.That(t, k.spent.Cost > 0 && k.spent.Estimated > 0, "what was sent is not paid for: %+v", k.spent)
				}
			})
		})
	}
}

// A caller whose own time is over, or who is stopped, is told so, and not that the contest has ended.
func TestACallersEndIsNotTheContests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, cancel)
		_, err := round.Runner{Models: roundModels{"hung": func(ctx context.Context, _ model.Request) (model.Response,
			error) {
			return model.Response{}, hangs(ctx)
		}}, Stands: func(context.Context) error { return nil }}.Round(ctx, p2(play(), "hung"))
		expect.That(t, errors.Is(err, context.Canceled) && !errors.Is(err, round.ErrStopped), "%v", err)
	})
}

// The teams of a contest call a model with one key and meet its limit together. They don't ask again together, neither
// after pauses of their own nor after one that the vendor names, which is never shortened.
func TestTeamsThatMeetALimitTogetherDontAskAgainTogether(t *testing.T) {
	for _, said := range []time.Duration{0, 18 * time.Second, 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[time.Duration]int{}
			begun := time.Now()
			limited := func(context.Context, model.Request) (model.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				at := time.Since(begun)
				expect.That(t, at == 0 || at >= said, "asked again after %s, said %s", at, said)
				asked[at.Truncate(time.Second)]++
				return model.Response{}, &model.Error{Kind: model.RateLimited, Retryable: true, RetryAfter: said}
			}
			var all sync.WaitGroup
			for i := range 20 {
				p := p2(play(), "limited")
				p.Team.TeamID, p.Until = fmt.Sprint("team-", i), begun.Add(10*time.Minute)
				all.Go(func() {
					_, err := round.Runner{Models: roundModels{"limited": limited}}.Round(t.Context(), p)
					expect.That(t, errors.As(err, new(*round.Error)), "%v", err)
				})
			}
			all.Wait()
			delete(asked, 0)
			for at, n := range asked {
				early := said == 0 && at < 8*time.Second
				last := at > 9*time.Minute // what is left of the teams' time bounds the pauses
				expect.That(t, n <= 13 || early || last, "%d teams ask again %s after the beginning, said %s", n, at, said)
			}
		})
	}
}

// Each answer is saved before the next call. So a round that crashed at any call ends as if it had not, and no saved
// answer is paid for again.
func TestAfterACrashAnywhereNoSavedAnswerIsPaidAgain(t *testing.T) {
	p := play(member("analyst", contest.Plain), member("coder", contest.CodeExec), member("search", contest.WebSearch))
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x",
		SubmissionContent: "旧案"}}
	var called atomic.Int32
	runner := func(k *kept) round.Runner {
		return round.Runner{Kept: k, Sandbox: shell{}, Reads: reads{}, Models: counted(&called)}
	}
	whole := &kept{}
	want := expect.Value(runner(whole).Round(t.Context(), p))(t)
	undisturbed := called.Load()
	for crash := 1; crash < len(whole.answers); crash++ {
		called.Store(0)
		k := &kept{crash: crash}
		_, err := runner(k).Round(t.Context(), p)
		expect.Must(t, errors.Is(err, errCrashed), "crash %d: %v", crash, err)
		lost := called.Load()
		for key := range k.answers {
			if !strings.Contains(key, "submission") && !strings.Contains(key, "tool-") && !strings.Contains(key, "opening") {
				lost--
			}
		}
		k.crash = 0
		got := expect.Value(runner(k).Round(t.Context(), p))(t)
		expect.Is(t, called.Load(), undisturbed+lost, "crash %d: calls, %d undisturbed, %d lost", crash, undisturbed, lost)
		want.Usage.Prompt, got.Usage.Prompt = "", "" // of the metric that was scored last
		expect.Same(t, want, got, butTimes)
		expect.Same(t, slices.Sorted(maps.Keys(whole.answers)), slices.Sorted(maps.Keys(k.answers)))
	}
}

// A saved answer that nobody can read ends the team, which says so: its place is taken, so that every further answer
// would be paid for and lost.
func TestASavedAnswerThatCantBeReadEndsTheTeam(t *testing.T) {
	p := play(member("analyst", contest.Plain))
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x",
		SubmissionContent: "旧案"}}
	var called atomic.Int32
	models := counted(&called)
	whole := &kept{}
	expect.Value(round.Runner{Kept: whole, Models: models}.Round(t.Context(), p))(t)
	for key := range whole.answers {
		k := &kept{answers: maps.Clone(whole.answers)}
		delete(k.answers, path.Dir(key)+"/submission") // of a member who is done, nothing else is read
		k.answers[key] = []byte(`{"text":`)
		called.Store(0)
		_, err := round.Runner{Kept: k, Models: models}.Round(t.Context(), p)
		e := ends(t, key, err, contest.PartialFailure, "")
		expect.That(t, errors.Is(err, round.ErrUnread) && strings.Contains(e.Sentence("ja"), "読み取れない") && called.Load() == 0,
			"%s: %v after %d calls", key, err, called.Load())
	}
}

func TestAnAnswerIsKeptThoughNobodyWaitsForItAnyMore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := &kept{}
	_, err := round.Runner{Kept: k, Models: roundModels{"leader": func(context.Context, model.Request) (model.Response,
		error) {
		cancel()
		return text("案")
	}}}.Round(ctx, p2(play(), "leader"))
	if _, ok := k.answers["01/leader/1"]; !ok || !errors.Is(err, context.Canceled) || k.spent.Calls != 1 {
		t.Errorf("%v, kept %v", err, slices.Collect(maps.Keys(k.answers)))
	}
}

func TestAPanicInAMembersCallEndsTheRoundAlone(t *testing.T) {
	m := memberBy("bad", "bad", contest.Plain)
	_, err := round.Runner{Models: roundModels{"bad": func(context.Context, model.Request) (model.Response, error) {
		panic("secret words")
	}}}.Round(t.Context(), play(m, member("good", contest.Plain)))
	expect.That(t, errors.Is(err, boot.ErrPanic) && !strings.Contains(err.Error(), "secret"), "%v", err)
}

// thinking are models that think, each behind its vendor's wire.
var thinking = map[string]func(url, key string) model.Wire{
	"anthropic": func(url, key string) model.Wire {
		return provider.NewAnthropic(provider.AnthropicConfig{BaseURL: url + "/anthropic", Model: "claude-opus-5-5",
			Key: key, HTTP: provider.VendorClient()})
	},
	"gemini": func(url, key string) model.Wire {
		return provider.NewCompletions(provider.CompletionsConfig{Endpoint: "gemini", BaseURL: url + "/gemini",
			Model: "gemini-3.5-flash", Key: key, HTTP: provider.VendorClient()})
	},
}

// plays answers for all of a contest. The leader delegates to both members at once, then to one more, then submits.
func plays(said []model.Message, tools []string) models.Script {
	data := shown(model.Request{Messages: []model.Message{{Parts: []model.Part{{Text: said[0].Parts[0].Text}}}}})
	answers := 0
	for _, m := range said {
		if m.Role == model.Assistant {
			answers++
		}
	}
	call := func(i int) models.ScriptedCall {
		return models.ScriptedCall{ID: fmt.Sprintf("c%d", i), Name: tools[i], Input: `{"task":"調べる"}`}
	}
	switch {
	case data["metric"] != nil:
		return models.Script{Text: `{"score":80,"comment":"良い"}`}
	case data["task"] != nil:
		return models.Script{Text: "答え"}
	case answers == 0:
		return models.Script{Text: "分担します。", Calls: []models.ScriptedCall{call(0), call(1)}}
	case answers == 1:
		return models.Script{Calls: []models.ScriptedCall{call(1)}}
	}
	return models.Script{Text: "できた案"}
}

// strict starts a scripted vendor and returns a round whose models are all its model.
func strict(t *testing.T, name string, rules models.Rules) (*models.Models, round.Runner, round.Play, *kept) {
	m := models.NewModels()
	rules.Answer = plays
	m.Strictly(rules)
	s := expect.Server(t, m.Handler())
	p := p2(play(memberBy("m", "a", contest.Plain), memberBy("m", "b", contest.Plain)), "m")
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x",
		SubmissionContent: "旧案"}}
	p.Until = time.Now().Add(time.Minute)
	for i := range p.Evaluator.Metrics {
		p.Evaluator.Metrics[i].Model = "m"
	}
	k := &kept{}
	return m, round.Runner{Models: roundModels{"m": thinking[name](s.URL, m.Key).Say}, Kept: k}, p, k
}

// A round that was interrupted anywhere goes on with the signatures of the answers that were saved.
func TestSignaturesAreSavedWithAnswers(t *testing.T) {
	for name := range thinking {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, r, p, whole := strict(t, name, models.Rules{Signed: true, Thinks: 25_000})
			expect.Value(r.Round(t.Context(), p))(t)
			for crash := 1; crash < len(whole.answers); crash++ {
				k := &kept{crash: crash}
				r.Kept = k
				_, err := r.Round(t.Context(), p)
				expect.Must(t, errors.Is(err, errCrashed), "crash %d: %v", crash, err)
				k.crash = 0
				out := expect.Value(r.Round(t.Context(), p))(t)
				expect.Is(t, out.Usage.Calls, 12, "crash %d", crash)
			}
			expect.That(t, strings.Contains(strings.Join(m.Asked(), ""), "sig+"), "nothing was signed")
		})
	}
}
