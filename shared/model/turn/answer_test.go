package turn_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

// Each vendor refuses a request for its length in words of its own, once, and none of its words are kept.
var gemini = vendor{"gemini", func(url, key string, client *http.Client) model.Wire {
	return provider.NewCompletions(provider.CompletionsConfig{Endpoint: "gemini", BaseURL: url + "/gemini",
		Model: "gemini-3.5-flash",
		Key:   key, HTTP: client})
}, model.Usage{}}

// What a vendor hangs on calls comes back with what they read, in the same answer and in another try at it.
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
			models.Script{Text: "読みます。", Calls: []models.ScriptedCall{read("c1", "a.txt"), read("c2", "b.txt")}},
			models.Script{Calls: []models.ScriptedCall{read("c3", "a.txt")}},
			models.Script{Calls: []models.ScriptedCall{call("c4", "test_run",
				`{"argv":[],"timeout_seconds":60,"summary":"x"}`)}}, // can't be used
			models.Script{Text: "1 と 2 です。"},
		)
		reply, err := w.answer(t, asked)
		expect.Must(t, err == nil && strings.HasSuffix(reply.Text, "1 と 2 です。") && len(reply.Rounds) == 2 &&
			reply.Calls == 4, "%+v, %v", reply, err)
		kept := expect.Value(turn.ReadKept(expect.Value(json.Marshal(reply.Rounds))(t)))(t)
		expect.That(t, kept[0].Calls[0].Opaque != nil && kept[0].Calls[1].Opaque == nil &&
			kept[1].Calls[0].Opaque != nil,
			"kept is %+v", kept)

		// Another try goes on from the rounds that are paid for.
		asked.Earlier = kept
		w.Scripted(models.Script{Text: "続きです。"})
		again, err := w.answer(t, asked)
		expect.Must(t, err == nil && again.Calls == 1, "%+v, %v", again, err)
		sent := w.Asked()
		expect.That(t, strings.Count(sent[len(sent)-1], "sig+") == 2, "%s", sent[len(sent)-1])

		// No other model is sent any of that.
		other := llmOf(t)
		other.Scripted(models.Script{Text: "はい。"})
		expect.Value(other.answer(t, asked))(t)
		expect.That(t, !strings.Contains(strings.Join(other.Asked(), ""), "sig+"), "another model is sent a signature")
	})
}

// llmOf is a scripted vendor of which no other test knows the model.
func llmOf(t *testing.T) *world {
	m := models.NewModels()
	s := expect.Server(t, m.Handler())
	return &world{vendor{name: "other"}, m, provider.NewCompletions(provider.CompletionsConfig{Endpoint: "hub",
		BaseURL: s.URL + "/compatible/v1", Model: "other", Key: m.Key, HTTP: provider.VendorClient()})}
}

// Of all reasons to stop those are known that mean that an answer is whole. With any other one it is asked for once
// more,
// and then nothing of it is taken; all is paid for.
func TestAnAnswerThatBrokeOffIsNoAnswer(t *testing.T) {
	reasons := map[string][]string{
		"anthropic":  {"pause_turn", "brand_new"},
		"compatible": {"error", "malformed_function_call", "MALFORMED_FUNCTION_CALL", "brand_new"},
	}
	onEach(t, func(t *testing.T, w *world) {
		for _, reason := range reasons[w.name] {
			half := models.Script{Text: "Never pay more than 1",
				Calls: []models.ScriptedCall{call("c1", "test_run", testRun)}, Stop: reason}
			w.Scripted(half, half)
			reply, err := w.answer(t, turnOf(user("x")))
			e, is := errors.AsType[*model.Error](err)
			expect.That(t, is && e.Kind == model.BrokenOff && !e.Retryable && reply.Text == "" && reply.Action == nil &&
				reply.Usage.Calls == 2 && reply.Usage.Output == 60, "%s: %+v, %v", reason, reply, err)
			if f := model.Failure(err); f.Reason != "model_broken_off" || f.Transient ||
				!strings.EqualFold(f.Detail, reason) {
				t.Errorf("%s: people are told %+v", reason, f)
			}
			w.Scripted(half, models.Script{Text: "はい"})
			reply, err = w.answer(t, turnOf(user("x")))
			expect.That(t, err == nil && reply.Text == "はい" && reply.Action == nil && reply.Usage.Calls == 2,
				"%s, then whole: %+v, %v", reason, reply, err)
		}
	})
}

// A name that no tool has does not go back to the vendor, which would refuse it. The model is asked once more.
func TestACallOfNoToolIsAskedForAgain(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		for _, name := range []string{"brain</arg_value>", "test run", "", strings.Repeat("x", 65), "テスト", "test_run\n",
			"shell.command"} {
			stray := models.Script{Text: "実行します。", Calls: []models.ScriptedCall{call("c1", name, testRun),
				call("c2", "test_run", testRun)}}
			w.Scripted(stray, models.Script{Calls: []models.ScriptedCall{call("c2", "test_run", testRun)}})
			reply, err := w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Action != nil && reply.Usage.Calls == 2 && reply.Code == "", "%q: %+v, %v",
				name, reply, err)
			w.Scripted(stray, stray)
			reply, err = w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Action == nil && reply.Usage.Calls == 2 && reply.Code == turn.NotSupported &&
				reply.Text != "", "%q, twice: %+v, %v", name, reply, err)
			stray.Stop = "length"
			w.Scripted(stray, stray)
			reply, err = w.answer(t, turnOf(user("テストして")))
			expect.That(t, err == nil && reply.Code == turn.NotSupported, "%q, cut off: %+v, %v", name, reply, err)
		}
	})
}

func TestAnAnswerThatIsCutOffProposesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		// Each answer that is cut off is asked for again with more room first.
		long := models.Script{Text: "長い", Stop: "length"}
		w.Scripted(long, long)
		reply, err := w.answer(t, turnOf(user("x")))
		expect.That(t, err == nil && reply.Code == turn.CutOff && !strings.Contains(reply.Text, "長い") &&
			strings.Contains(reply.Text, "途中で切れた") &&
			reply.Usage.Calls == 2 && reply.Usage.CutOff == 1, "%+v, %v", reply, err)
		half := models.Script{Text: "書きます", Calls: []models.ScriptedCall{{ID: "c1", Name: "test_run",
			Input: `{"argv":["a"`}}, Stop: "length"}
		w.Scripted(half, models.Script{Calls: []models.ScriptedCall{call("c2", "test_run", testRun)}})
		if reply, err = w.answer(t, turnOf(user("x"))); err != nil || reply.Action == nil || reply.Code != "" {
			t.Errorf("asked again: %+v, %v", reply, err)
		}
		w.Scripted(half, half, half, half, half, half)
		if reply, err = w.answer(t, turnOf(user("x"))); err != nil || reply.Action != nil || reply.Code != turn.CutOff {
			t.Errorf("cut off for good: %+v, %v", reply, err)
		}
	})
}
