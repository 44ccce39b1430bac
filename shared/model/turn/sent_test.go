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

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

var update = flag.Bool("update", false, "write what is sent to testdata")

// tap keeps the last body that is sent, and answers nothing.
type tap struct{ body []byte }

func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	t.body, _ = io.ReadAll(r.Body)
	return nil, errors.New("nobody is there")
}

// talk is a conversation with everything that one can have.
func talk() model.Request {
	r := sampled()
	r.System, r.MaxTokens, r.Parallel = "the rules", 1000, true
	own := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	r.Tools = []model.Tool{{Name: "own", Description: "ours", Schema: own}, {Name: "foreign", Description: "theirs", Schema: own, Foreign: true}}
	r.Messages = []model.Message{
		{Role: model.User, Parts: []model.Part{{Text: "first"}, {Image: &model.Image{Type: "image/png", Data: []byte("png")}}}},
		{Role: model.Assistant, Parts: []model.Part{{Text: "one"}, {Text: "two"}, {Call: &model.Call{ID: "c1", Name: "own", Input: json.RawMessage(`{"a":"x"}`)}}, {Call: &model.Call{ID: "c2", Name: "foreign", Input: json.RawMessage(`[`)}}}},
		{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "c1", Text: "done"}}, {Result: &model.Result{CallID: "c2", Text: "no", Failed: true}}, {Text: "and"}, {Text: "then"}}},
	}
	return r
}

// What is sent is what was sent before, to the byte, with the marks up to which vendors cache: behind what is the same
// in many calls, and in a conversation behind the last turn.
func TestWhatIsSentStaysToTheByte(t *testing.T) {
	formed := model.Request{System: "the rules", MaxTokens: 10, Schema: json.RawMessage(formSchema), Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}
	for _, v := range vendors {
		for kind, r := range map[string]model.Request{"talk": talk(), "formed": formed} {
			sent := &tap{}
			_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).Say(t.Context(), r, func(string) {})
			golden(t, v.name+"-"+kind, sent.body)
			if v.name == "bedrock" {
				asConverse(t, string(sent.body))
			}
		}
		sent := &tap{}
		_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).Say(t.Context(), modeltest.Request(), nil)
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
