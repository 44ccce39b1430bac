package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
)

// bought is a model of a vendor's with a price.
func bought(name string, texts ...string) *scripted {
	s := says(texts...)
	for i := range s.answers {
		s.answers[i].Usage = model.Usage{Provider: "anthropic", Model: name, RequestID: "req", Calls: 1, Input: 1_000_000,
			Output: 100_000}
	}
	return s
}

func TestEveryCallIsPaidFor(t *testing.T) {
	cut := bought("claude-sonnet-4-6", "no", goodExtract)
	cut.answers = cut.answers[:1] // further calls fail
	refused := bought("claude-sonnet-4-6", "")
	refused.answers[0].Stop = model.StopRefused
	for name, tt := range map[string]struct {
		g        model.Wire
		calls    int
		cost     aggregate.MicroUSD
		unpriced int
		fails    bool
	}{
		"an answer":                        {bought("claude-sonnet-4-6", goodExtract), 1, 4_500_000, 0, false},
		"an answer and a repair":           {bought("claude-sonnet-4-6", "no", goodExtract), 2, 9_000_000, 0, false},
		"two answers that can't be used":   {bought("claude-sonnet-4-6", "no", "no"), 2, 9_000_000, 0, true},
		"an answer, and then none":         {cut, 1, 4_500_000, 0, true},
		"a refusal":                        {refused, 1, 4_500_000, 0, true},
		"a model whose price nobody knows": {bought("claude-sonnet-9", goodExtract), 1, 0, 1, false},
		"nobody":                           {says(), 0, 0, 0, true},
	} {
		_, u, err := model.Extract(t.Context(), tt.g, model.ExtractInput{Text: "x", Now: now(), Try: 1})
		expect.That(t, u.Calls == tt.calls && u.Cost == tt.cost && u.Unpriced == tt.unpriced &&
			(err != nil) == tt.fails && (u.ID == "") == (tt.calls == 0), "%s: %+v, %v", name, u, err)
	}
}

// slow answers after a minute, with a text that was cut off.
type slow struct{ calls int }

func (s *slow) Say(ctx context.Context, r model.Request) (model.Response, error) {
	s.calls++
	took := time.Minute
	if r.More {
		took *= 2
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return model.Response{}, &model.Error{Kind: model.Timeout, Retryable: true, Err: ctx.Err()}
	}
	return model.Response{Text: "cut", Stop: model.StopLength, Usage: model.Usage{Calls: 1}}, nil
}

// More room needs more time than the answer that was cut off did. Without it the paid answer is not lost to a timeout.
func TestAnAnswerIsNotAskedForAgainWithMoreRoomWithoutTheTime(t *testing.T) {
	for minutes, want := range map[time.Duration]int{5: 2, 2: 1} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute-time.Second)
			defer cancel()
			w := &slow{}
			got, err := model.SayWhole(ctx, w, model.Request{Once: true}, "p")
			expect.That(t, err == nil && got.Text == "cut" && w.calls == want && got.Usage.Calls == want,
				"%d minutes: %d calls, %+v, %v", minutes, w.calls, got, err)
		})
	}
}

func TestADemonstrationSaysWhatItUsed(t *testing.T) {
	use := func(text string, try int) (extract, draft model.Usage) {
		t.Helper()
		_, extract, err := model.Extract(t.Context(), demo.Layers{}, model.ExtractInput{Text: text, Now: now(), Try: try})
		expect.NoError(t, err)
		_, draft, err = model.Draft(t.Context(), demo.Layers{}, model.DraftInput{Request: text, Now: now(), Try: try})
		expect.NoError(t, err)
		return extract, draft
	}
	one, _ := use("今月の勤怠をまとめて", 1)
	again, _ := use("今月の勤怠をまとめて", 1)
	expect.That(t, one.Estimated == 1 && one.Input != 0 && one.Output != 0 && one.Cost == 0 && one.Unpriced == 0 &&
		one.Input == again.Input && one.Output == again.Output && one.ID != again.ID, "%+v, then %+v", one, again)
	for text, want := range map[string][2]float64{
		"demo: cost 3.50": {3.5, 3.5}, "demo: cost much": {0, 0}, "cost 3": {0, 0},
	} {
		extract, draft := use(text, 1)
		expect.That(t, extract.Cost == aggregate.USD(want[0]) && draft.Cost == aggregate.USD(want[1]),
			"%q: %s and %s, want %v", text, extract.Cost, draft.Cost, want)
	}
	e, _ := think(t, "今月の勤怠をまとめて demo: cost 3.50")
	expect.That(t, e.Description == "依頼内容: 今月の勤怠をまとめて", "what was asked of the demo is in %q", e.Description)
}

// silent is an endpoint of one's own that reports no tokens, or only those in its answer.
type silent struct {
	model.Response
	err error
}

func (s silent) Say(context.Context, model.Request) (model.Response, error) {
	s.Usage.Provider, s.Usage.Model, s.Usage.Calls = "compatible.box", "llama3.2", 1
	return s.Response, s.err
}

// A budget holds also where nobody says how many tokens a call had: they are counted from the texts, and said to be.
func TestWhereNoTokensAreReportedTheyAreEstimated(t *testing.T) {
	own := []tenancy.ModelPrice{{Model: "compatible:box/llama3.2", Input: "1", Output: "100"}}
	asked := model.Request{
		System: strings.Repeat("s", 300), Standing: strings.Repeat("標", 100),
		Schema: json.RawMessage(strings.Repeat("x", 30)),
		Tools:  []model.Tool{{Name: "abc", Description: "def", Schema: json.RawMessage("{ }")}},
		Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "abc", Image: &model.Image{}},
			{Call: &model.Call{Name: "abc", Input: json.RawMessage("{ }"), Opaque: &model.Opaque{Data: json.RawMessage("123")}}},
			{Result: &model.Result{Text: "def"}}}}},
	}
	const input = 100 + 150 + 10 + 3 + 1 + 1600 + 3 + 1
	said := model.Response{Text: strings.Repeat("案", 40),
		Calls: []model.Call{{Name: "abc", Input: json.RawMessage("{ }")}}}
	reported := said
	reported.Usage.Input, reported.Usage.Output = 7, 3
	half := said
	half.Usage.Input = 7
	lost := &model.Error{Kind: model.Overloaded}
	for name, tt := range map[string]struct {
		answers                  silent
		input, output, estimated int
	}{
		"nothing is reported":        {silent{Response: said}, input, 62, 1},
		"only the request is":        {silent{Response: half}, 7, 62, 1},
		"all is reported":            {silent{Response: reported}, 7, 3, 0},
		"an answer that broke off":   {silent{Response: said, err: lost}, input, 62, 1},
		"no answer":                  {silent{err: lost}, 0, 0, 0},
		"an answer without words":    {silent{}, input, 0, 1},
		"a filter before any answer": {silent{Response: model.Response{Stop: model.StopRefused}}, 0, 0, 0},
	} {
		got, _ := model.Say(t.Context(), model.Priced(tt.answers, own), asked, "p")
		u := got.Usage
		expect.That(t, u.Input == int64(tt.input) && u.Output == int64(tt.output) && u.Estimated == tt.estimated &&
			u.Unpriced == 0 &&
			u.Cost == aggregate.MicroUSD(tt.input+100*tt.output), "%s: %+v", name, u)
	}
	expect.Is(t, model.Usage{Estimated: 1}.Plus(model.Usage{Estimated: 2}).Estimated, 3)
}

// hung never answers.
type hung struct{}

func (hung) Say(ctx context.Context, _ model.Request) (model.Response, error) {
	<-ctx.Done()
	return model.Response{Usage: model.Usage{Provider: "compatible.box", Model: "llama3.2", Calls: 1}}, ctx.Err()
}

// Who ends contests again and again has them paid for: a vendor charges for what it was sent, whether or not anybody
// waits for the answer.
func TestACallThatWasGivenUpIsPaidFor(t *testing.T) {
	own := []tenancy.ModelPrice{{Model: "compatible:box/llama3.2", Input: "1", Output: "100"}}
	asked := model.Request{System: strings.Repeat("s", 300), Messages: []model.Message{model.Words(model.User, "案")}}
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
		"too slow": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := end(t.Context())
			defer cancel()
			got, err := model.Say(ctx, model.Priced(hung{}, own), asked, "p")
			u := got.Usage
			expect.That(t, err != nil && u.Input == 102 && u.Output == 0 && u.Estimated == 1 && u.Cost == 102, "%s: %+v, %v",
				name, u, err)
			if got, _ = model.Say(ctx, model.Priced(hung{}, own), asked, "p"); got.Usage.Cost != 0 {
				t.Errorf("%s: a call that nobody made costs %+v", name, got.Usage)
			}
		})
	}
}

// aliased answers under a name that differs from the requested one, as snapshots, fallbacks and gateways do.
type aliased string

func (name aliased) Say(context.Context, model.Request) (model.Response, error) {
	u := model.Usage{Provider: "openai", Model: "gpt-5.4", Calls: 1, Input: 900_000, Output: 100_000}
	return model.Response{Text: `{"policy": "1. 勤怠を集計します。", "title": "勤怠の集計"}`, Stop: model.StopEnd,
		Usage: u, Answered: string(name)}, nil
}

func TestWhateverAModelCallsItselfItsCallsArePaid(t *testing.T) {
	for _, name := range []string{"", "gpt-5.4-2026-03-05", "gpt-5.4-0305", "GPT-5.4", "models/x",
		strings.Repeat("x", 500_000), "x\u202e\n" + strings.Repeat("é", 200)} {
		_, u, err := model.Draft(t.Context(), aliased(name), model.DraftInput{Locale: "ja", Now: time.Now()})
		expect.NoError(t, err)
		paid := &task.Aggregate{Shared: aggregate.Shared{Uses: []*aggregate.Use{{Usage: u}}}}
		expect.That(t, paid.CostReached(aggregate.USD(0.01)) && u.Unpriced == 0,
			"%.20q: a million tokens cost %d, unpriced %d", name, u.Cost, u.Unpriced)
		n := utf8.RuneCountInString(u.Model)
		expect.That(t, n != 0 && n <= 150 && !strings.ContainsAny(u.Model, "\u202e\n"), "a name of %d characters is kept", n)
	}
}

func TestALimitNeedsAPrice(t *testing.T) {
	opened := ""
	open := func(name string) (model.Wire, error) {
		opened = name
		return demo.Layers{}, nil
	}
	for name, tt := range map[string]struct {
		limit float64
		model string
		kept  bool
	}{
		"no limit":                      {0, "compatible:box/llama3.2", true},
		"a limit and a price":           {1, "claude-sonnet-4-6", true},
		"a limit and the demonstration": {1, "demo", true},
		"a limit and no price":          {1, "compatible:box/llama3.2", false},
	} {
		opened = ""
		g, err := model.Within(tenancy.Settings{MaxCostUSD: tt.limit}, open, tt.model, nil)
		if tt.kept {
			expect.That(t, g != nil && err == nil && opened == tt.model, "%s: %v", name, err)
			continue
		}
		f := model.Failure(err)
		expect.That(t, opened == "" && f.Reason == task.ReasonModelUnpriced && f.Detail == tt.model && !f.Transient &&
			errors.As(err, new(*model.Error)), "%s: %+v of %v", name, f, err)
	}
}

// counting reports these token counts, like a gateway that counts wrong or evades the cost limit.
type counting model.Usage

func (c counting) Say(context.Context, model.Request) (model.Response, error) {
	c.Provider, c.Model, c.Calls = "openai", "gpt-5.4", 1
	return model.Response{Text: `{"policy": "1. 勤怠を集計します。", "title": "勤怠の集計"}`, Stop: model.StopEnd,
		Usage: model.Usage(c)}, nil
}

func TestNoCountOfTokensTakesBackWhatOthersCost(t *testing.T) {
	for name, c := range map[string]counting{
		"output below nothing": {Input: 100, Output: -1_000_000}, "input below nothing": {Input: -1_000_000, Output: 100},
		"cached below nothing": {Input: 100, Cached: -1_000_000}, "written below nothing": {Input: 100, Written: -1_000_000},
		"more than a price can be multiplied with": {Input: math.MaxInt64, Output: math.MaxInt64, Cached: math.MaxInt64,
			Written: math.MaxInt64},
	} {
		_, u, err := model.Draft(t.Context(), c, model.DraftInput{Locale: "ja", Now: time.Now()})
		expect.That(t, err == nil && u.Cost > 0 && min(u.Input, u.Output, u.Cached, u.Written) >= 0,
			"%s: %+v, %v", name, u, err)
	}
}

// What was charged stays: a price that is changed holds for the calls after it.
func TestAWorkspacesOwnPriceIsWhatACallCosts(t *testing.T) {
	s := tenancy.Settings{MaxCostUSD: 1}
	open := func(string) (model.Wire, error) { return bought("claude-sonnet-9", goodExtract), nil }
	keep := func(context.Context, []byte) (aggregate.Blob, error) { return aggregate.Blob{}, nil }
	_, err := model.Within(s, open, "claude-sonnet-9", keep)
	expect.That(t, err != nil, "a model of unknown price is opened")
	cost := func(input string) aggregate.MicroUSD {
		s.Prices = []tenancy.ModelPrice{{Model: "claude-sonnet-9", Input: input, Output: "0"}}
		w := expect.Value(model.Within(s, open, "claude-sonnet-9", keep))(t)
		got := expect.Value(model.Say(t.Context(), w, model.Request{}, "extract"))(t)
		expect.That(t, got.Usage.Unpriced == 0 && got.Usage.Input > 0, "%+v", got.Usage)
		return got.Usage.Cost / aggregate.MicroUSD(got.Usage.Input)
	}
	expect.That(t, cost("10") == 10 && cost("20") == 20, "calls are charged at other prices")
}
