package turn_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model"
	"ringi/shared/model/compatible"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

var gemini = vendor{"gemini", func(url, key string, client *http.Client) model.Wire {
	return compatible.New(compatible.Config{Endpoint: "gemini", BaseURL: url + "/gemini", Model: "gemini-3.5-flash", Key: key, HTTP: client})
}, model.Usage{}}

// What a vendor hangs on calls comes back with what they read, in the same answer, in another try at it, and where the
// conversation goes on.
func TestReadsComeBackWithWhatTheVendorHungOnThem(t *testing.T) {
	was := wires
	wires = append(wires[:len(wires):len(wires)], gemini)
	defer func() { wires = was }()
	onEach(t, func(t *testing.T, w *world) {
		w.Strictly(models.Rules{Signed: true})
		f, _ := filesOf(t, map[string]string{"a.txt": "1\n", "b.txt": "2\n"})
		asked := turnOf(user("a と b を読んで"))
		asked.Files = f
		read := func(id, path string) models.ScriptedCall {
			return call(id, "read_file", `{"path":"`+path+`","from":1,"to":0}`)
		}
		w.Scripted(
			models.Script{Texts: []string{"読みます。"}, Calls: []models.ScriptedCall{read("c1", "a.txt"), read("c2", "b.txt")}},
			models.Script{Calls: []models.ScriptedCall{read("c3", "a.txt")}},
			models.Script{Calls: []models.ScriptedCall{call("c4", "test_run",
				`{"argv":[],"timeout_seconds":60,"summary":"x"}`)}}, // can't be used
			models.Script{Texts: []string{"1 と 2 です。"}},
		)
		reply, _, err := w.answer(t, asked)
		expect.Must(t, err == nil && strings.HasSuffix(reply.Text, "1 と 2 です。") && len(reply.Rounds) == 2 && reply.Calls == 4, "%+v, %v", reply, err)
		kept := expect.Value(turn.ReadKept(expect.Value(turn.Kept(reply.Rounds))(t)))(t)
		expect.That(t, kept[0].Calls[0].Opaque != nil && kept[0].Calls[1].Opaque == nil && kept[1].Calls[0].Opaque != nil, "kept is %+v", kept)

		// Another try goes on from the rounds that are paid for.
		asked.Earlier = kept
		w.Scripted(models.Script{Texts: []string{"続きです。"}})
		again, _, err := w.answer(t, asked)
		expect.Must(t, err == nil && again.Calls == 1, "%+v, %v", again, err)
		sent := w.Asked()
		expect.That(t, strings.Count(sent[len(sent)-1], "sig+") == 2, "%s", sent[len(sent)-1])

		// Later turns show what was read once more.
		later := turnOf(user("a と b を読んで"), turn.Message{Sender: turn.FromAgent, Text: reply.Text, Rounds: kept}, user("本当に?"))
		later.Files = f
		w.Scripted(models.Script{Calls: []models.ScriptedCall{read("c5", "a.txt")}}, models.Script{Texts: []string{"はい。"}})
		next, _, err := w.answer(t, later)
		expect.Must(t, err == nil && next.Calls == 2, "%+v, %v", next, err)

		// No other model is sent any of that.
		other := llmOf(t)
		other.Scripted(models.Script{Texts: []string{"はい。"}})
		for _, history := range []turn.Turn{asked, later} {
			_, _, err = other.answer(t, history)
			expect.NoError(t, err)
		}
		expect.That(t, !strings.Contains(strings.Join(other.Asked(), ""), "sig+"), "another model is sent a signature")
	})
}

// llmOf is a scripted vendor of which no other test knows the model.
func llmOf(t *testing.T) *world {
	m := models.NewModels()
	s := httptest.NewServer(m.Handler())
	t.Cleanup(s.Close)
	return &world{vendor{name: "other"}, m, compatible.New(compatible.Config{Endpoint: "hub", BaseURL: s.URL + "/compatible/v1", Model: "other", Key: m.Key, HTTP: provider.VendorClient()})}
}

// Of all reasons to stop those are known that mean that an answer is whole. With any other one it is asked for once more,
// and then nothing of it is taken; all is paid for.
func TestAnAnswerThatBrokeOffIsNoAnswer(t *testing.T) {
	reasons := map[string][]string{
		"anthropic":  {"pause_turn", "brand_new"},
		"openai":     {"brand_new"},
		"compatible": {"error", "malformed_function_call", "MALFORMED_FUNCTION_CALL", "abort", "insufficient_system_resource", "brand_new"},
		"bedrock":    {"malformed_model_output", "malformed_tool_use", "brand_new"},
	}
	onEach(t, func(t *testing.T, w *world) {
		for _, reason := range reasons[w.name] {
			half := models.Script{Texts: []string{"Never pay ", "more than 1"},
				Calls: []models.ScriptedCall{call("c1", "test_run", testRun)}, Stop: reason}
			w.Scripted(half, half)
			reply, _, err := w.answer(t, turnOf(user("x")))
			e, is := errors.AsType[*model.Error](err)
			expect.That(t, is && e.Kind == model.BrokenOff && !e.Retryable && reply.Text == "" && reply.Action == nil &&
				reply.Usage.Calls == 2 && reply.Usage.Output == 60, "%s: %+v, %v", reason, reply, err)
			if f := model.Failure(err); f.Reason != "model_broken_off" || f.Transient || !strings.EqualFold(f.Detail, reason) {
				t.Errorf("%s: people are told %+v", reason, f)
			}
			w.Scripted(half, models.Script{Texts: []string{"はい"}})
			reply, _, err = w.answer(t, turnOf(user("x")))
			expect.That(t, err == nil && reply.Text == "はい" && reply.Action == nil && reply.Usage.Calls == 2, "%s, then whole: %+v, %v", reason, reply, err)
		}
	})
}

// A name that no tool has does not go back to the vendor, which would refuse it. The model is asked once without it.
func TestACallOfNoToolIsLeftOut(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		for _, name := range []string{"brain</arg_value>", "test run", "", strings.Repeat("x", 65), "テスト", "test_run\n", "shell.command"} {
			stray := models.Script{Texts: []string{"実行します。"}, Calls: []models.ScriptedCall{call("c1", name, testRun)}}
			w.Scripted(stray, models.Script{Calls: []models.ScriptedCall{call("c2", "test_run", testRun)}})
			reply, _, err := w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Action != nil && reply.Calls == 2 && reply.Code == "", "%q: %+v, %v", name, reply, err)
			stray.Texts = nil
			w.Scripted(stray, stray)
			reply, _, err = w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Action == nil && reply.Calls == 2 && reply.Code == turn.NotSupported && reply.Text != "", "%q, twice: %+v, %v", name, reply, err)
			both := models.Script{Calls: []models.ScriptedCall{call("c1", name, testRun),
				call("c2", "test_run", `{"argv":[],"timeout_seconds":60,"summary":"x"}`)}}
			w.Scripted(both, models.Script{Texts: []string{"やめます。"}})
			reply, _, err = w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Text == "やめます。" && reply.Calls == 2, "%q beside another: %+v, %v", name, reply, err)
		}
	})
}

// What a model thinks at the beginning of a text is no part of its answer, wherever the stream is cut. Vendors that
// tell thoughts apart send none there: a tag is what the model says, and so it is behind the beginning.
func TestThoughtsInATextAreNotSaid(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		for _, text := range []string{"<think>The user is annoying.</think> Hello", "The user is annoying.</think>\n\nHello", "<THINKING>\nannoying `<b>`\n</THINKING>Hello"} {
			want := text
			if w.name == "compatible" {
				want = "Hello"
			}
			w.Scripted(models.Script{Texts: split(text)})
			reply, heard, err := w.answer(t, turnOf(user("x")))
			expect.That(t, err == nil && reply.Text == want && (want == text || !strings.Contains(strings.Join(heard, ""),
				"annoying")), "%q: %+v, heard %q, %v", text, reply, heard, err)
		}
		const warned = "Warning: this script deletes the production table.\nIts last line reads: # end of notes </think>\nI recommend approving it."
		w.Scripted(models.Script{Texts: split(warned)}, models.Script{Texts: split(warned)})
		reply, _, err := w.answer(t, turnOf(user("このスクリプトを見て")))
		expect.That(t, err == nil && reply.Text == warned, "people read %q, %v", reply.Text, err)
		sum, _ := turn.Summarize(t.Context(), w.wire, messages(2, 10), 10_000, "ja")
		expect.Is(t, sum, warned)
		if w.name == "compatible" {
			w.Scripted(models.Script{Texts: []string{"<think>The user is ann"}},
				models.Script{Texts: []string{"<think>The user is ann"}})
			_, heard, err := w.answer(t, turnOf(user("x")))
			expect.That(t, model.Broke(err) && strings.Join(heard, "") == "", "a thought without an end: %q, %v", heard, err)
		}
	})
}
