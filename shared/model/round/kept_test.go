package round_test

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
)

// Each answer is saved before the next call. So a round that crashed at any call ends as if it had not, and no saved
// answer is paid for again.
func TestAfterACrashAnywhereNoSavedAnswerIsPaidAgain(t *testing.T) {
	p := play(member("analyst", contest.Plain), member("coder", contest.CodeExec), member("search", contest.WebSearch))
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x", SubmissionContent: "旧案"}}
	called := 0
	var mu sync.Mutex
	runner := func(k *kept) round.Runner {
		return round.Runner{Kept: k, Sandbox: shell{}, Reads: reads{},
			Models: roundModels{"demo": func(ctx context.Context, r model.Request) (model.Response, error) {
				mu.Lock()
				called++
				mu.Unlock()
				return demo.Teams{}.Say(ctx, r, func(string) {})
			}}}
	}
	whole := &kept{}
	want := expect.Value(runner(whole).Round(t.Context(), p))(t)
	undisturbed := called
	for crash := 1; crash < len(whole.answers); crash++ {
		called = 0
		k := &kept{crash: crash}
		_, err := runner(k).Round(t.Context(), p)
		expect.Must(t, errors.Is(err, errCrashed), "crash %d: %v", crash, err)
		lost, savedTurns := called, 0
		for key := range k.answers {
			if !strings.Contains(key, "submission") && !strings.Contains(key, "tool-") && !strings.Contains(key, "opening") {
				savedTurns++
			}
		}
		lost -= savedTurns
		k.crash = 0
		got := expect.Value(runner(k).Round(t.Context(), p))(t)
		expect.Is(t, called, undisturbed+lost, "crash %d: calls, %d undisturbed, %d lost", crash, undisturbed, lost)
		expect.Same(t, want, got, butTimes)
		expect.Same(t, slices.Sorted(maps.Keys(whole.answers)), slices.Sorted(maps.Keys(k.answers)))
	}
}

// A saved answer that nobody can read ends the team, which says so: its place is taken, so that every further answer
// would be paid for and lost.
func TestASavedAnswerThatCantBeReadEndsTheTeam(t *testing.T) {
	p := play(member("analyst", contest.Plain))
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x", SubmissionContent: "旧案"}}
	called := 0
	var mu sync.Mutex
	models := roundModels{"demo": func(ctx context.Context, r model.Request) (model.Response, error) {
		mu.Lock()
		called++
		mu.Unlock()
		return demo.Teams{}.Say(ctx, r, func(string) {})
	}}
	whole := &kept{}
	expect.Value(round.Runner{Kept: whole, Models: models}.Round(t.Context(), p))(t)
	for key := range whole.answers {
		k := &kept{answers: maps.Clone(whole.answers)}
		delete(k.answers, path.Dir(key)+"/submission") // of a member who is done, nothing else is read
		k.answers[key] = []byte(`{"text":`)
		called = 0
		printed := expect.Metrics(t, func() {
			out, err := round.Runner{Kept: k, Models: models}.Round(t.Context(), p)
			if strings.Contains(key, "/judge/") {
				expect.That(t, err == nil && out.Result.EvaluationScore > 0 && out.Judgment == nil && out.JudgeFailed != "", "%s: %v, %+v", key, err, out)
				return
			}
			e := ends(t, key, err, contest.PartialFailure, "")
			expect.That(t, errors.Is(err, round.ErrUnread) && strings.Contains(e.Sentence("ja"), "読み取れない"), "%s: %v", key, err)
		})
		expect.That(t, called == 0 && strings.Contains(printed, `"RoundUnsaved":1`), "%s: %d calls, %s", key, called, printed)
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
	m := member("bad", contest.Plain)
	m.Model = "bad"
	_, err := round.Runner{Models: roundModels{"bad": func(context.Context, model.Request) (model.Response,
		error) {
		panic("secret words")
	}}}.Round(t.Context(), play(m, member("good", contest.Plain)))
	expect.That(t, errors.Is(err, boot.ErrPanic) && !strings.Contains(err.Error(), "secret"), "%v", err)
}
