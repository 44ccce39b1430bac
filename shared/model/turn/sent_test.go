package turn_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"testing"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

const formSchema = `{"type":"object","properties":{"score":{"type":"number"}},"required":["score"],` +
	`"additionalProperties":false}`

func decoded(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

var update = flag.Bool("update", false, "write what is sent to testdata")

// tap records the last body that is sent, and returns no answer.
type tap struct{ body []byte }

func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	t.body, _ = io.ReadAll(r.Body)
	return nil, errors.New("nobody is there")
}

// talk returns a conversation with every possible kind of part.
func talk() model.Request {
	r := sampled()
	r.System, r.MaxTokens, r.Parallel = "the rules", 1000, true
	own := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],` +
		`"additionalProperties":false}`)
	r.Tools = []model.Tool{{Name: "own", Description: "ours", Schema: own},
		{Name: "foreign", Description: "theirs", Schema: own}}
	r.Messages = []model.Message{
		{Role: model.User, Parts: []model.Part{{Text: "first"},
			{Image: &model.Image{Type: "image/png", Data: []byte("png")}}}},
		{Role: model.Assistant, Parts: []model.Part{{Text: "one"}, {Text: "two"},
			{Call: &model.Call{ID: "c1", Name: "own", Input: json.RawMessage(`{"a":"x"}`)}},
			{Call: &model.Call{ID: "c2",
				Name: "foreign", Input: json.RawMessage(`[`)}}}},
		{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "c1", Text: "done"}},
			{Result: &model.Result{CallID: "c2", Text: "no", Failed: true}}, {Text: "and"}, {Text: "then"}}},
	}
	return r
}

// Requests stay the same byte by byte, including their cache marks. These follow the part that is the same in many
// calls and, in a conversation, also the last turn.
func TestWhatIsSentStaysToTheByte(t *testing.T) {
	formed := model.Request{System: "the rules", MaxTokens: 10, Schema: json.RawMessage(formSchema),
		Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}
	for _, v := range wires {
		for kind, r := range map[string]model.Request{"talk": talk(), "formed": formed} {
			sent := &tap{}
			_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).Say(t.Context(), r)
			golden(t, v.name+"-"+kind, sent.body)
		}
		sent := &tap{}
		_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).Say(t.Context(), modeltest.Request())
		golden(t, v.name+"-once", sent.body)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/sent/" + name + ".json"
	if *update {
		expect.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want := expect.Value(os.ReadFile(path))(t)
	expect.That(t, bytes.Equal(want, got), "%s: sent\n%s\nwant\n%s", name, got, want)
}

func sampled() model.Request {
	warm, top, seed := 1.5, 0.9, 7
	return model.Request{System: "s", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}},
		MaxTokens: 10, Sampling: model.Sampling{Temperature: &warm, TopP: &top, Seed: &seed,
			StopSequences: []string{"終"}}}
}

func TestEachVendorIsSentTheSamplingThatItTakes(t *testing.T) {
	wants := map[string]map[string]any{
		"anthropic":  {"temperature": 1.0, "stop_sequences": []any{"終"}}, // it takes one of the two
		"compatible": {"temperature": 1.5, "top_p": 0.9, "stop": []any{"終"}, "seed": 7.0},
	}
	onEach(t, func(t *testing.T, w *world) {
		for _, refused := range []bool{false, true} {
			want := map[string]any{}
			if refused {
				w.Fail(models.Failure{Status: 400})
			} else {
				want = wants[w.name]
			}
			w.Scripted(models.Script{Text: "はい"})
			got, err := w.wire.Say(t.Context(), sampled())
			expect.Must(t, err == nil && got.Text == "はい", "refused %v: %+v, %v", refused, got, err)
			asked := w.Asked()
			body := decoded(t, asked[len(asked)-1])
			for _, name := range []string{"temperature", "top_p", "seed", "stop", "stop_sequences"} {
				expect.Same(t, want[name], body[name])
			}
		}
		for range 2 { // refused with its sampling, and again without
			w.Fail(models.Failure{Status: 400})
		}
		expect.That(t, expect.Err(w.wire.Say(t.Context(), sampled())) != nil, "a bad request was answered")
	})
}
