package turn_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors/llm"
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
	was := vendors
	vendors = append(vendors[:len(vendors):len(vendors)], gemini)
	defer func() { vendors = was }()
	onEach(t, func(t *testing.T, w *world) {
		if w.name == "compatible" { // of Chat Completions Gemini alone signs calls
			return
		}
		w.Strictly(llm.Rules{Signed: true})
		f, _ := filesOf(t, map[string]string{"a.txt": "1\n", "b.txt": "2\n"})
		asked := turnOf(user("a と b を読んで"))
		asked.Files = f
		read := func(id, path string) llm.ScriptedCall {
			return call(id, "read_file", `{"path":"`+path+`","from":1,"to":0}`)
		}
		w.Scripted(
			llm.Script{Texts: []string{"読みます。"}, Calls: []llm.ScriptedCall{read("c1", "a.txt"), read("c2", "b.txt")}},
			llm.Script{Calls: []llm.ScriptedCall{read("c3", "a.txt")}},
			llm.Script{Calls: []llm.ScriptedCall{call("c4", "test_run", `{"argv":[],"timeout_seconds":60,"summary":"x"}`)}}, // can't be used
			llm.Script{Texts: []string{"1 と 2 です。"}},
		)
		reply, _, err := w.answer(t, asked)
		expect.Must(t, err == nil && strings.HasSuffix(reply.Text, "1 と 2 です。") && len(reply.Rounds) == 2 && reply.Calls == 4, "%+v, %v", reply, err)
		kept := expect.Value(turn.ReadKept(expect.Value(turn.Kept(reply.Rounds))(t)))(t)
		expect.That(t, kept[0].Calls[0].Opaque != nil && kept[0].Calls[1].Opaque == nil && kept[1].Calls[0].Opaque != nil, "kept is %+v", kept)

		// Another try goes on from the rounds that are paid for.
		asked.Earlier = kept
		w.Scripted(llm.Script{Texts: []string{"続きです。"}})
		again, _, err := w.answer(t, asked)
		expect.Must(t, err == nil && again.Calls == 1, "%+v, %v", again, err)
		sent := w.Asked()
		expect.That(t, strings.Count(sent[len(sent)-1], "sig+") == 2, "%s", sent[len(sent)-1])

		// Later turns show what was read once more.
		later := turnOf(user("a と b を読んで"), turn.Message{Sender: turn.FromAgent, Text: reply.Text, Rounds: kept}, user("本当に?"))
		later.Files = f
		w.Scripted(llm.Script{Calls: []llm.ScriptedCall{read("c5", "a.txt")}}, llm.Script{Texts: []string{"はい。"}})
		next, _, err := w.answer(t, later)
		expect.Must(t, err == nil && next.Calls == 2, "%+v, %v", next, err)

		// No other model is sent any of that.
		other := llmOf(t)
		other.Scripted(llm.Script{Texts: []string{"はい。"}})
		for _, history := range []turn.Turn{asked, later} {
			_, _, err = other.answer(t, history)
			expect.NoError(t, err)
		}
		expect.That(t, !strings.Contains(strings.Join(other.Asked(), ""), "sig+"), "another model is sent a signature")
	})
}

// llmOf is a scripted vendor of which no other test knows the model.
func llmOf(t *testing.T) *world {
	m := llm.New()
	s := httptest.NewServer(m.Handler())
	t.Cleanup(s.Close)
	return &world{vendor{name: "other"}, m, compatible.New(compatible.Config{Endpoint: "hub", BaseURL: s.URL + "/compatible/v1", Model: "other", Key: m.Key, HTTP: provider.VendorClient()})}
}
