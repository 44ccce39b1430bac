package turn_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
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

// A server's schema may have optional members and references, which OpenAI's strict mode refuses.
func TestAForeignToolIsOfferedWithItsWholeSchema(t *testing.T) {
	const foreign = `{"type":"object","properties":{"at":{"$ref":"#/$defs/time"},"room":{"type":"string"}},` +
		`"required":["at"],"$defs":{"time":{"type":"string"}}}`
	onEach(t, func(t *testing.T, w *world) {
		w.Scripted(models.Script{Text: "はい"})
		_, err := w.wire.Say(t.Context(), model.Request{
			Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}, MaxTokens: 10,
			Tools: []model.Tool{{Name: "rooms_list", Description: "d", Schema: json.RawMessage(foreign),
				Foreign: true}},
		})
		expect.NoError(t, err)
		tool := decoded(t, w.Asked()[0])["tools"].([]any)[0].(map[string]any)
		if f, ok := tool["function"].(map[string]any); ok {
			tool = f
		}
		for _, at := range []string{"input_schema", "parameters"} {
			if s, ok := tool[at]; ok {
				expect.Same(t, any(decoded(t, foreign)), s)
			}
		}
		expect.That(t, tool["strict"] != true, "it is held to the strict form")
	})
}

// Anthropic, OpenAI or Gemini refuses a whole request for one such schema. The tool can be called all the same.
func TestAForeignToolWithAnySchemaCanBeCalled(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		for about, x := range map[string]struct{ schema, input string }{
			"a name": {`{"type":"object","properties":{"$top":{"type":"integer"}}}`, `{"$top":5}`},
			"a pattern": {`{"type":"object","properties":{"k":{"type":"string","pattern":"^(?!null$)"}}}`,
				`{"k":"a"}`},
			"anyOf": {`{"type":"object","properties":{"id":{"type":"string"}},"anyOf":[{"required":["id"]}]}`,
				`{"id":"1"}`},
			"an array":  {`{"type":"object","properties":{"tags":{"type":"array"}}}`, `{"tags":[1]}`},
			"numbers":   {`{"type":"object","properties":{"top":{"type":"integer","enum":[0,1,2]}}}`, `{"top":1}`},
			"an object": {`{"type":"object","properties":{"query":{"type":"object"}}}`, `{"query":{"a":1}}`},
			"a required one": {`{"type":"object","properties":{"x":{"type":"object","properties":{"a":{"type":"string"}},` +
				`"required":["b"]}}}`, `{"x":{"b":1}}`},
		} {
			input, _ := json.Marshal(map[string]string{"arguments_json": x.input})
			w.Scripted(models.Script{Calls: []models.ScriptedCall{call("c1", "list", string(input)),
				call("c2", "own", `{"arguments_json":"x"}`)}})
			own := json.RawMessage(`{"type":"object","properties":{"arguments_json":{"type":"string"}},` +
				`"required":["arguments_json"],"additionalProperties":false}`)
			got, err := w.wire.Say(t.Context(), model.Request{
				Messages: []model.Message{model.Words(model.User, "x")}, MaxTokens: 10,
				Tools: []model.Tool{{Name: "list", Description: strings.Repeat("d", 2000) + "END",
					Schema: json.RawMessage(x.schema), Foreign: true}, {Name: "own", Schema: own}},
			})
			expect.Must(t, err == nil && len(got.Calls) == 2, "%s: %+v, %v", about, got, err)
			expect.Same(t, decoded(t, x.input), decoded(t, string(got.Calls[0].Input)))
			expect.Is(t, string(got.Calls[1].Input), `{"arguments_json":"x"}`, about)
			sent := w.Asked()[len(w.Asked())-1] // OpenAI takes 1,024 characters of a description: the rest is in the schema
			expect.That(t, strings.Contains(sent, "END") && strings.Contains(sent, `\"type\":\"object\"`), "%s: %s",
				about, sent)
		}
	})
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
		{Name: "foreign", Description: "theirs", Schema: own, Foreign: true}}
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
