package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

// withFiles returns a conversation whose files can be read, as an earlier action left them.
func withFiles(t *testing.T, change ...func(*tenancy.Settings)) (*world, *trees) {
	t.Helper()
	w, s := talking(t, change...), &trees{all: map[string]*files.Tree{}}
	s.holds("notes.txt", "the budget\nis 30,000 yen\n")
	w.Files = s
	w.version("v1")
	return w, s
}

// holds has the version v1 be one file.
func (s *trees) holds(path, content string) {
	s.all["v1"], _ = (&files.Tree{}).Apply([]files.File{{Path: path, Content: content}})
}

// version moves the conversation's files to another version.
func (w *world) version(v string) {
	w.T.Helper()
	w.Rewrite(func(s *conversation.Conversation) { s.WorkspaceVersion = v })
}

func callOf(name, input string) model.Call {
	return model.Call{ID: "c", Name: name, Input: json.RawMessage(input)}
}

var readNotes = callOf("read_file", `{"path":"notes.txt","from":1,"to":0}`)

// answers has the model give these answers, one after the other, and then the last one again.
func (w *world) answers(all ...model.Response) {
	w.vendor.requests = nil
	w.vendor.asked = func() {
		n := min(len(w.vendor.requests), len(all))
		w.vendor.says = all[n-1]
		w.vendor.says.Stop = model.StopEnd
		w.vendor.says.Usage = model.Usage{Input: 100, Output: 10, Cost: 1000, Provider: "p", Model: "m"}
	}
}

// reading is an answer that reads.
func reading(calls ...model.Call) model.Response { return model.Response{Calls: calls} }

func (w *world) results() string {
	w.T.Helper()
	var out []string
	for _, m := range w.vendor.requests[len(w.vendor.requests)-1].Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				out = append(out, p.Result.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestAnAgentReadsTheConversationsFiles(t *testing.T) {
	w, s := withFiles(t)
	w.answers(reading(callOf("list_files", `{"path":""}`)),
		reading(readNotes, callOf("search", `{"text":"yen","path":""}`)), model.Response{Text: "30,000 yen"})
	expect.Value(w.handle())(t)
	expect.Has(t, w.results(), "is 30,000 yen")
	expect.That(t, s.got == 1 && s.of == w.Ref.Tenant+"/"+w.Ref.ID, "%d archives were opened, of %s", s.got, s.of)
	m := w.Newest()
	expect.That(t, m.Content == "30,000 yen" && len(m.Read) == 3, "%+v", m)
	expect.Same(t, conversation.Read{Tool: "read_file", Path: "notes.txt", From: 1, To: 2}, m.Read[1])
	a := w.Load()
	uses := expect.Value(w.Rows.Uses(t.Context(), w.Ref.Tenant, w.Ref.ID))(t)
	day := expect.Value(w.Store.Spent(t.Context(), w.Ref.Tenant, time.Now()))(t)
	expect.That(t, len(uses) == 3 && a.Conversation.Usage.Cost == 3000 && a.Conversation.Usage.Calls == 3 &&
		day.Day == 3000 && a.Conversation.Reading == nil,
		"%d uses, %+v, day %+v", len(uses), a.Conversation, day)
	expect.That(t, len(a.Inbox) == 0 && a.Head.Resting, "%+v", a.Head)
}

// What a crash comes after was paid, and another try goes on from it, although the model is asked nothing twice.
func TestAnotherTryReadsNothingTwice(t *testing.T) {
	for name, crash := range map[string]func(w *world){
		"the model fails":       func(w *world) { w.vendor.err = &model.Error{Kind: model.Overloaded, Retryable: true} },
		"the invocation is cut": func(w *world) { panic("cut") },
	} {
		t.Run(name, func(t *testing.T) {
			w, s := withFiles(t)
			w.answers(reading(callOf("list_files", `{"path":""}`)), reading(readNotes), model.Response{Text: "done"})
			step := w.vendor.asked
			w.vendor.asked = func() {
				if len(w.vendor.requests) == 3 {
					crash(w)
				}
				step()
			}
			func() {
				defer func() { _ = recover() }()
				expect.That(t, expect.Err(w.handle()) != nil, "the first try succeeds")
			}()
			a := w.Load()
			expect.That(t, a.Conversation.Usage.Cost == 2000 || a.Conversation.Usage.Cost == 3000,
				"paid %s", a.Conversation.Usage.Cost)
			expect.That(t, a.Conversation.Reading != nil && len(a.Conversation.Reading.Read) == 2 && len(a.Inbox) == 1,
				"%+v", a.Conversation.Reading)
			w.vendor.err = nil
			w.answers(model.Response{Text: "done"})
			before := a.Conversation.Usage.Cost
			expect.Value(w.handle())(t)
			expect.Is(t, len(w.vendor.requests), 1, "calls of the second try")
			expect.Has(t, w.results(), "notes.txt\",\"bytes\"")
			expect.Has(t, w.results(), "is 30,000 yen")
			m := w.Newest()
			expect.That(t, m.Content == "done" && len(m.Read) == 2 &&
				w.Load().Conversation.Usage.Cost == before+1000, "%+v", m)
			expect.Is(t, s.got, 2, "the archive was opened")
		})
	}
}

func TestReadingStopsWithTheTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*tenancy.Settings)
		during func(*world)
		calls  int
		said   string
	}{
		"a person stops it": {costs(9), func(w *world) { w.Stop() }, 1,
			"The answer was stopped. To continue, write again."},
		"another run took over":  {costs(9), restarted, 1, ""},
		"the conversation costs": {costs(0.0015), func(*world) {}, 5, "that is all"},
		"the day's budget": {func(s *tenancy.Settings) { s.MaxCostDayUSD = 0.0015 }, func(*world) {}, 5,
			"that is all"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := withFiles(t, tt.change)
			w.answers(reading(readNotes))
			step := w.vendor.asked
			w.vendor.asked = func() {
				step()
				tt.during(w)
				if len(w.vendor.requests) == tt.calls && tt.calls > 1 {
					w.vendor.says.Calls, w.vendor.says.Text = nil, "that is all"
				}
			}
			_, err := w.handle()
			expect.That(t, err == nil || errors.Is(err, aggregate.ErrSuperseded), "%v", err)
			a := w.Load()
			expect.That(t, len(w.vendor.requests) == min(tt.calls, 3+2) &&
				a.Conversation.Usage.Calls == len(w.vendor.requests), "%d calls, %d are paid", len(w.vendor.requests),
				a.Conversation.Usage.Calls)
			if tt.calls == 1 {
				expect.Is(t, s.got, 0, "read for nobody")
			} else {
				last := fmt.Sprint(w.vendor.requests[len(w.vendor.requests)-1].Tools)
				expect.That(t, !strings.Contains(last, "read_file"), "the last call offers reads")
			}
			if tt.said != "" {
				expect.Is(t, w.Newest().Content, tt.said)
			}
		})
	}
}

func TestFilesThatCantBeReadAreSaidToBe(t *testing.T) {
	for err, want := range map[error]string{large.ErrGone: "were deleted when their time was over",
		errors.New("the bucket does not answer"): "can't be read at the moment"} {
		w, s := withFiles(t)
		s.err = err
		w.answers(reading(readNotes), model.Response{Text: "sorry"})
		expect.Value(w.handle())(t)
		expect.Has(t, w.results(), want)
		expect.That(t, !strings.Contains(w.results(), "bucket") && w.Newest().Content == "sorry" &&
			w.Newest().Read[0].Failed,
			"%s, %+v", w.results(), w.Newest())
	}
}

// unkept is a bucket that is down.
type unkept struct{ storetest.Rows }

func (unkept) KeepReads(context.Context, aggregate.Ref, json.RawMessage) (aggregate.Blob, error) {
	return aggregate.Blob{}, errors.New("no room")
}

func TestABucketThatIsDownKeepsNobodyFromReading(t *testing.T) {
	w, _ := withFiles(t)
	w.Payloads = unkept{}
	w.answers(reading(readNotes), model.Response{Text: "done"})
	expect.Value(w.handle())(t)
	expect.That(t, w.Newest().Content == "done" && len(w.Newest().Read) == 1, "%+v", w.Newest())
}

// An answer that fails for good still shows people what was read for it.
func TestWhatWasReadForNothingIsShown(t *testing.T) {
	w, _ := withFiles(t)
	w.answers(reading(readNotes), model.Response{})
	step := w.vendor.asked
	w.vendor.asked = func() {
		if step(); len(w.vendor.requests) == 2 {
			w.vendor.err = &model.Error{Kind: model.Refused}
		}
	}
	expect.Value(w.handle())(t)
	m := w.Newest()
	expect.That(t, m.Sender == conversation.FromSystem && len(m.Read) == 1 && m.Read[0].Path == "notes.txt" &&
		w.Load().Conversation.Reading == nil, "%+v", m)
}

// What an agent read is named to it in later turns.
func TestWhatWasReadIsNamedLater(t *testing.T) {
	w, s := withFiles(t)
	w.answers(reading(readNotes), model.Response{Text: "30,000 yen"})
	expect.Value(w.handle())(t)
	w.answers(model.Response{Text: "as I said"})
	w.says(w.later(1), "and?")
	expect.That(t, w.results() == "" && s.got == 1, "%s", w.results())
	expect.Has(t, w.told(), `\"read\":\"notes.txt\",\"lines\":\"1–2\"`)
}

func restarted(w *world) {
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, time.Now()) })
}

// small is an agent whose model takes little at once.
func small(s *tenancy.Settings) {
	s.Agents = []tenancy.Agent{{ID: "small", Provider: tenancy.OpenAI, Model: "small",
		Capabilities: tenancy.Capabilities, ContextTokens: 20_000}}
}

// fits checks that each request, with what is asked for, fits a model that takes 20,000 tokens.
func (w *world) fits() {
	w.T.Helper()
	for i, r := range w.vendor.requests {
		n := model.Tokens(r.System) + r.MaxTokens
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if n += model.Tokens(p.Text); p.Result != nil {
					n += model.Tokens(p.Result.Text)
				}
			}
		}
		expect.That(w.T, n < 20_000 && (r.Tools == nil || r.MaxTokens <= 5_000),
			"request %d has %d tokens and asks for %d", i, n, r.MaxTokens)
	}
}

// A model that takes less at once gets less, whatever has the length: files count as words do.
func TestAnAgentIsSentWhatItsOwnModelTakes(t *testing.T) {
	w := talkingOf(t, inbound(root, "U1", "hello"), conversation.Opening{AgentID: "small", Locale: "en"}, small)
	w.File = func(context.Context, aggregate.Ref, string, int) (slackapi.File, error) {
		return slackapi.File{Body: []byte(strings.Repeat("lines of a file ", 3_000))}, nil // 16,000 tokens
	}
	in := inbound(second, "U1", "look")
	in.Attachments = []conversation.Attachment{{Kind: unread, Name: "a.txt", Type: "text/plain", FileID: "F1",
		Bytes: 48_000}}
	w.Deliver(in)
	expect.Value(w.handle())(t)
	w.says(third, "and what is in it?")
	w.fits()
	expect.Has(t, w.messages(0), "too large for what the agent's model takes at once")
	expect.Has(t, w.messages(0), "hello")
}

// A vendor that refuses the length gets the conversation once more, folded to half, or what it reads in smaller parts.
// What both tries cost is charged once.
func TestARefusalForLengthIsFoldedAndTriedOnceMore(t *testing.T) {
	for about, tt := range map[string]struct {
		refused []int // which calls
		reads   bool
		text    string
		calls   int // answers and summaries
		reason  aggregate.Reason
	}{
		"it fits folded":           {[]int{1}, false, strings.Repeat("w", 30_000), 3, ""},
		"it fits neither way":      {[]int{1, 3}, false, strings.Repeat("w", 30_000), 3, task.ReasonModelTooLong},
		"there is nothing to fold": {[]int{1, 2}, false, "", 2, task.ReasonModelTooLong},
		"after reading":            {[]int{2}, true, "", 4, ""},
	} {
		t.Run(about, func(t *testing.T) {
			w, shelf := withFiles(t)
			shelf.holds("notes.txt", strings.Repeat("a line of the notes\n", 2_000))
			for i := range 3 {
				if tt.text != "" {
					w.Tell(w.later(i+1), "U1", tt.text)
				}
			}
			says := model.Response{Text: "hi"}
			w.answers(says)
			if tt.reads {
				w.answers(reading(readNotes), says, reading(readNotes), says)
			}
			step := w.vendor.asked
			w.vendor.asked = func() {
				step()
				if w.vendor.err = nil; slices.Contains(tt.refused, len(w.vendor.requests)) {
					w.vendor.err = &model.Error{Provider: "openai", Model: "small", Kind: model.TooLong}
				}
			}
			expect.Value(w.handle())(t)
			m, a, used := w.Newest(), w.Load(), w.Load().Conversation.Usage
			expect.That(t, len(w.vendor.requests) == tt.calls && used.Calls == tt.calls && m.Reason == tt.reason &&
				used.Cost == aggregate.MicroUSD(1000*tt.calls) && len(a.Inbox) == 0, "%d calls, %+v, %+v",
				len(w.vendor.requests), used, m)
			first, last := w.vendor.requests[0], w.vendor.requests[tt.calls-1]
			expect.That(t, tt.text == "" || last.Tokens() < first.Tokens()*3/4, "%d, then %d",
				first.Tokens(), last.Tokens())
			expect.That(t, !tt.reads || strings.Contains(w.results(), "read fewer lines"), "%s", w.results())
			expect.That(t, tt.reason == "" || strings.Contains(m.Content, "too long for the AI model (small)"), "%s",
				m.Content)
		})
	}
}

// What an agent reads counts, too: all of a turn fits what its model takes at once, and nothing is read twice.
func TestWhatAnAgentReadsFitsItsModel(t *testing.T) {
	w, shelf := withFiles(t, func(s *tenancy.Settings) { small(s); s.Agents[0].ID = "codex" })
	shelf.holds("notes.txt", strings.Repeat("a line of the notes\n", 600)) // 4,000 tokens
	w.answers(reading(readNotes), reading(readNotes), reading(readNotes), reading(readNotes), model.Response{Text: "read"})
	expect.Value(w.handle())(t)
	w.fits()
	expect.Has(t, w.results(), "too large for what the agent's model takes at once")
	expect.Has(t, w.results(), "a line of the notes")
	expect.Is(t, w.Newest().Content, "read")
}

// A model's call is charged even if the answer comes after the stop button or after the end of the conversation.
func TestAnAnswerThatComesTooLateIsPaidFor(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"stopped": func(w *world) { w.Stop() }, "closed": func(w *world) { w.End() },
	} {
		w := talking(t)
		w.vendor.says.Usage = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}
		w.vendor.asked = func() { end(w) }
		w.handle()
		w.costs(name, 50)
	}
}

// refusing is a store that permanently refuses the next commit and accepts later ones.
type refusing struct {
	Store
	next bool
}

func (s *refusing) Decide(ctx context.Context, ref aggregate.Ref,
	decide conversation.Decision) (*conversation.Aggregate, error) {
	if s.next {
		s.next = false
		return nil, errors.New("the table never takes that")
	}
	return s.Store.Decide(ctx, ref, decide)
}

func TestAnAnswerThatCantBeSavedIsPaidFor(t *testing.T) {
	for name, fails := range map[string]error{
		"an answer": nil, "one that none mends": &model.Error{Kind: model.Refused},
		"a failure that another try may mend": &model.Error{Kind: model.Overloaded, Retryable: true},
	} {
		w := talking(t)
		store := &refusing{Store: w.Store}
		w.Store = store
		w.vendor.says.Usage, w.vendor.err = model.Usage{ID: "call", Input: 100, Output: 50, Cost: 1000}, fails
		w.vendor.asked = func() { store.next = true }
		if _, err := w.handle(); pipeline.Name(err) != pipeline.Internal {
			t.Errorf("%s: the state machine is told %s: %v", name, pipeline.Name(err), err)
		}
		w.costs(name, 50)
	}
}

// costs checks the recorded cost of one call.
func (w *world) costs(name string, output int64) {
	w.T.Helper()
	uses := expect.Value(w.Rows.Uses(w.T.Context(), w.Ref.Tenant, w.Ref.ID))(w.T)
	day := expect.Value(w.Store.Spent(w.T.Context(), w.Ref.Tenant, time.Now()))(w.T)
	if got := w.Load().Conversation.Usage; got.Output != output || len(uses) != 1 || day.Day != got.Cost ||
		day.Day == 0 {
		w.T.Errorf("%s: the session cost %+v, with %d calls, and the day %+v", name, got, len(uses), day)
	}
}

// An answer that is too long for a row is replaced by a sentence, once, and is charged.
func TestAnAnswerThatIsTooLongToBeKept(t *testing.T) {
	w := talking(t)
	w.vendor.says.Text = strings.Repeat("a", 500_000)
	w.vendor.says.Usage = model.Usage{ID: "call", Input: 1000, Output: 150_000, Cost: 1000}
	expect.Value(w.handle())(t)
	got := w.Newest()
	expect.That(t, got.Content == wordsIn("en").long && got.Reason == reasonTooLong && len(w.Load().Inbox) == 0 &&
		len(w.vendor.requests) == 1, "said %.100q because of %q after %d calls; %d messages wait", got.Content,
		got.Reason, len(w.vendor.requests), len(w.Load().Inbox))
	expect.Is(t, w.Load().Conversation.Status, conversation.Open, "the agent counts")
	w.costs("too long", 150_000)
	w.vendor.says.Text = "short"
	w.says("1775034001.000100", "shorter, please")
	expect.Is(t, w.Newest().Content, "short", "then it said")
}
