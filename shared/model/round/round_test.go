package round_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

func TestARoundGoesFromTheLeaderToAScore(t *testing.T) {
	k := &kept{}
	r := round.Runner{Models: roundModels{}, Kept: k}
	out := expect.Value(r.Round(t.Context(), play(member("analyst", contest.Plain), member("writer", contest.Plain))))(t)
	expect.NoError(t, out.Result.Check())
	expect.NoError(t, out.Record.Check())
	expect.That(t, out.Result.RoundNumber == 1 && out.Result.TeamName == "アルファ" && out.Exit == "" &&
		len(out.Metrics) == 3, "%+v", out)
	s := out.Record.Submissions
	expect.That(t, len(s) == 2 && s[0].AgentName == "analyst" && s[1].AgentName == "writer" &&
		s[0].Status == contest.Success && len(s[0].AllMessages) == 2 && s[0].ExecutionTimeMS != nil, "%+v", s)
	u := out.Result.Usage
	expect.That(t, u.Requests == 4 && u.ToolCalls == 2 && out.Usage.Calls == 7, "%+v, %+v", u, out.Usage)
	expect.Is(t, k.spent.Calls, 7, "kept %+v", k.spent)
	var kinds []string
	for _, m := range out.Messages {
		for _, p := range m.Parts {
			kinds = append(kinds, string(m.Kind)+" "+string(p.PartKind))
		}
	}
	expect.Same(t, []string{"request system-prompt", "request user-prompt", "response tool-call", "response tool-call",
		"request tool-return", "request tool-return", "response text"}, kinds)
}

func TestALeaderWithoutMembersWorksAlone(t *testing.T) {
	out := expect.Value(round.Runner{Models: roundModels{"demo": func(_ context.Context, r model.Request) (model.Response,
		error) {
		expect.That(t, len(r.Tools) <= 0, "%d tools", len(r.Tools))
		return demo.Teams{}.Say(t.Context(), r)
	}}}.Round(t.Context(), play()))(t)
	expect.That(t, out.Record.Submissions == nil && out.Result.SubmissionContent != "", "%+v", out)
}

func TestABlankPromptIsRefusedBeforeAnyCall(t *testing.T) {
	for _, blank := range []string{"", " \n", "　", "\u200b"} {
		p := play()
		p.Prompt = blank
		expect.Fails(t, expect.Err((round.Runner{}).Round(t.Context(), p)), round.ErrBlankPrompt, "%q", blank)
	}
}

// The leader calls all members at once. Each member's model records how many others are running.
func TestMembersWorkAtTheSameTimeAndNeverMoreThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inFlight, most := 0, 0
		m := roundModels{"slow": func(ctx context.Context, r model.Request) (model.Response, error) {
			mu.Lock()
			inFlight++
			most = max(most, inFlight)
			mu.Unlock()
			time.Sleep(3 * time.Second)
			mu.Lock()
			inFlight--
			mu.Unlock()
			return text("答え")
		}}
		var all []teamconfig.Member
		for i := range 10 {
			all = append(all, memberBy("slow", fmt.Sprint("m", i), contest.Plain))
		}
		p := play(all...)
		p.Team.MaxConcurrentMembers = 5
		begun := time.Now()
		out := expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
		expect.That(t, most == 5 && time.Since(begun) == 6*time.Second && len(out.Record.Submissions) == 10,
			"%d at once, %s, %d submissions", most, time.Since(begun), len(out.Record.Submissions))
		for i, s := range out.Record.Submissions {
			expect.That(t, s.AgentName == fmt.Sprint("m", i) && *s.ExecutionTimeMS == 3000,
				"%d: %s after %v ms", i, s.AgentName, *s.ExecutionTimeMS)
		}
	})
}

func TestALeaderReadsWhatAMemberCouldNotDo(t *testing.T) {
	var told []model.Result
	m := roundModels{
		"leader": func(_ context.Context, r model.Request) (model.Response, error) {
			if got := results(r); got != nil {
				told = got
				return text("案")
			}
			return calls("delegate_to_down", "delegate_to_shy", "delegate_to_no", "delegate_to_search", "delegate_to_code",
				"delegate_to_good", "delegate_to_panic")
		},
		"down": failing(model.Overloaded, true), "shy": func(context.Context, model.Request) (model.Response, error) {
			return text(" 　")
		},
		"no": func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Stop: model.StopRefused}, nil
		},
		"panic": func(context.Context, model.Request) (model.Response, error) { return text("無事") },
	}
	p := p2(play(), "leader")
	for _, name := range []string{"down", "shy", "no", "search", "code", "good", "panic"} {
		of := cmp.Or(map[string]contest.AgentType{"search": contest.WebSearch, "code": contest.CodeExec}[name], contest.Plain)
		p.Team.Members = append(p.Team.Members, memberBy(name, name, of))
	}
	out := expect.Value(round.Runner{Models: m}.Round(t.Context(), p))(t)
	want := []string{"接続できません", "回答しません", "断りました", "読み取りツール", "コードを実行できません", "", ""}
	for i, s := range out.Record.Submissions {
		failed := want[i] != ""
		expect.That(t, failed == (s.Status == contest.Error) && (!failed || strings.Contains(*s.ErrorMessage, want[i])) &&
			told[i].Failed == failed && (!failed || told[i].Text == "ERROR: "+*s.ErrorMessage), "%s: %+v, told %+v",
			s.AgentName, s, told[i])
	}
	expect.That(t, len(told) == 7 && len(out.Record.Submissions) == 7 && out.Record.Submissions[0].Usage.Requests == 0,
		"told %+v", told)
	expect.NoError(t, out.Record.Check())
}

func TestTheBudgetAndTheContestAreAskedForBeforeEachCall(t *testing.T) {
	p := play(member("analyst", contest.Plain))
	p.Number = 2
	for n := 1; n <= 7; n++ {
		for _, why := range []error{round.ErrBudget, round.ErrStopped} {
			k, asked := &kept{}, 0
			var mu sync.Mutex
			_, err := round.Runner{Models: roundModels{}, Kept: k, May: func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				if asked++; asked >= n {
					return fmt.Errorf("no: %w", why)
				}
				return nil
			}}.Round(t.Context(), p)
			switch {
			case n > 6:
				expect.NoError(t, err)
			case why == round.ErrStopped:
				expect.Fails(t, err, round.ErrStopped, "%d", n)
			default:
				ends(t, fmt.Sprint(n), err, contest.BudgetExhausted, "")
			}
			calls := k.spent.Calls
			expect.That(t, n >= 4 || calls == n-1, "%d calls were made before the no to the %d.", calls, n)
		}
	}
}

func TestACallEndsWithItsAgentsTimeTheTeamsOrTheCallers(t *testing.T) {
	hang := func(ctx context.Context, _ model.Request) (model.Response, error) {
		<-ctx.Done()
		return model.Response{}, model.FromTransport("demo", ctx.Err())
	}
	synctest.Test(t, func(t *testing.T) {
		p := play()
		ten := 10
		p.Team.Leader = teamconfig.Leader{Model: "hang", Call: teamconfig.Call{TimeoutSeconds: &ten}}
		r := round.Runner{Models: roundModels{"hang": hang}}
		begun := time.Now()
		_, err := r.Round(t.Context(), p)
		e := ends(t, "its own", err, contest.PartialFailure, round.Leader)
		expect.That(t, e.Kind == model.Timeout && time.Since(begun) == 10*time.Second, "%+v after %s", e, time.Since(begun))
		p.Until, begun = time.Now().Add(4*time.Second), time.Now()
		_, err = r.Round(t.Context(), p)
		if ends(t, "the team's", err, contest.TeamTimeout, ""); time.Since(begun) != 4*time.Second {
			t.Errorf("after %s", time.Since(begun))
		}
		if _, err = r.Round(t.Context(), p); err == nil {
			t.Error("played after the team's end")
		}
		p.Until, begun = time.Time{}, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err = r.Round(ctx, p); !errors.Is(err, round.ErrAgain) || time.Since(begun) != 5*time.Second {
			t.Errorf("the caller's: %v after %s", err, time.Since(begun))
		}
		// A second call waits for the next invocation if its timeout exceeds the remaining time.
		calm := func(context.Context, model.Request) (model.Response, error) {
			time.Sleep(time.Second)
			return calls("delegate_to_analyst")
		}
		p = play(member("analyst", contest.Plain))
		p.Team.Leader = teamconfig.Leader{Model: "calm", Call: teamconfig.Call{TimeoutSeconds: &ten}}
		begun = time.Now()
		ctx, cancel = context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		if _, err = (round.Runner{Models: roundModels{"calm": calm}}).Round(ctx, p); !errors.Is(err, round.ErrAgain) ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel = context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err = r.Round(ctx, p2(p, "hang")); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func p2(p round.Play, leader string) round.Play {
	p.Team.Leader.Model = leader
	return p
}

func TestACallIsTriedAgainAsOftenAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for retries, again := range map[int]bool{0: true, 3: true, 2: false} {
			n := 0
			p := play()
			p.Team.Leader = teamconfig.Leader{Model: "down", Call: teamconfig.Call{MaxRetries: &retries}}
			begun := time.Now()
			_, err := round.Runner{Models: roundModels{"down": func(ctx context.Context, r model.Request) (model.Response,
				error) {
				n++
				return failing(model.Overloaded, again)(ctx, r)
			}}}.Round(t.Context(), p)
			ends(t, fmt.Sprint(retries), err, contest.PartialFailure, round.Leader)
			want, waited := retries+1, []time.Duration{0, 1, 3, 7}[retries]*time.Second
			if !again {
				want, waited = 1, 0
			}
			expect.That(t, n == want && time.Since(begun) == waited, "%d retries: %d calls in %s", retries, n, time.Since(begun))
		}
	})
}

func TestAVendorThatIsClosedForLongIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A rate limit is waited for until the team's time is over.
		for _, tt := range []struct {
			kind         model.Kind
			after, until time.Duration
			least, most  time.Duration
		}{
			{model.Overloaded, 20 * time.Second, 0, 60 * time.Second, 60 * time.Second},
			{model.Overloaded, 10 * time.Minute, 0, 0, 0},
			{model.RateLimited, 10 * time.Minute, 5 * time.Minute, 0, 0},
			{model.RateLimited, 20 * time.Second, 90 * time.Second, 70 * time.Second, 90 * time.Second},
			{model.RateLimited, 80 * time.Second, 90 * time.Second, 80 * time.Second, 90 * time.Second},
		} {
			begun := time.Now()
			m, retries := memberBy("shut", "shut", contest.Plain), 3
			m.MaxRetries = &retries
			p := play(m)
			if tt.until > 0 {
				p.Until = begun.Add(tt.until)
			}
			out := expect.Value(round.Runner{Models: roundModels{"shut": func(context.Context, model.Request) (model.Response,
				error) {
				return model.Response{}, &model.Error{Provider: "demo", Kind: tt.kind, Retryable: true, RetryAfter: tt.after}
			}}}.Round(t.Context(), p))(t)
			took, s := time.Since(begun), out.Record.Submissions
			expect.That(t, len(s) == 1 && s[0].Status == contest.Error && took >= tt.least && took <= tt.most,
				"%+v: %+v after %s", tt, s, took)
		}
	})
}

func TestALeaderThatOnlyDelegatesComesToAnEnd(t *testing.T) {
	n := 0
	p := p2(play(member("analyst", contest.Plain)), "leader")
	_, err := round.Runner{Models: roundModels{"leader": func(context.Context, model.Request) (model.Response, error) {
		n++
		return calls(slices.Repeat([]string{"delegate_to_analyst"}, 12)...)
	}}}.Round(t.Context(), p)
	ends(t, "delegates", err, contest.PartialFailure, round.Leader)
	expect.That(t, n <= 16, "%d answers", n)
}

func TestStopSequencesHoldAndSamplingIsSent(t *testing.T) {
	warm, top, seed, most := 0.3, 0.5, 4, 77
	p := p2(play(), "leader")
	l := &p.Team.Leader
	l.Temperature, l.TopP, l.Seed, l.MaxTokens, l.StopSequences = &warm, &top, &seed, &most, []string{"終わり"}
	out := expect.Value(round.Runner{Models: roundModels{"leader": func(_ context.Context,
		r model.Request) (model.Response, error) {
		expect.Same(t, model.Sampling{Temperature: &warm, TopP: &top, Seed: &seed, StopSequences: []string{"終わり"}},
			r.Sampling)
		expect.That(t, r.MaxTokens == 77 && r.Parallel, "%+v", r)
		return text("案です。終わり。この後は要らない")
	}}}.Round(t.Context(), p))(t)
	expect.Is(t, out.Result.SubmissionContent, "案です。")
}

func TestConfiguredWordsStandInPlaceOfTheBuiltInOnes(t *testing.T) {
	own, more := "あなたは経理の専門家です。", "数字には必ず単位を付けます。"
	m := memberBy("member", "analyst", contest.Plain)
	m.SystemInstruction, m.SystemPrompt = &own, &more
	p := p2(play(m), "leader")
	p.Team.Leader.SystemPrompt = &own
	check := func(next says, has []string, no string) says {
		return func(ctx context.Context, r model.Request) (model.Response, error) {
			for _, s := range has {
				expect.Has(t, r.System, s)
			}
			expect.That(t, !strings.Contains(r.System, no), "%s in %s", no, r.System)
			return next(ctx, r)
		}
	}
	expect.Value(round.Runner{Models: roundModels{
		"leader": check(demo.Teams{}.Say, []string{own, "`seconds_left`"}, "あなたはチームのリーダーです"),
		"member": check(func(context.Context, model.Request) (model.Response, error) { return text("答え") },
			[]string{own, more, "`task`"}, "あなたはチームのメンバーです"),
	}}.Round(t.Context(), p))(t)
}
