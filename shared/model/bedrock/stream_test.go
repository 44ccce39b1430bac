package bedrock_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

func frame(w io.Writer, event, body string) {
	m := eventstream.Message{Payload: []byte(body)}
	for name, value := range map[string]string{eventstreamapi.MessageTypeHeader: eventstreamapi.EventMessageType,
		eventstreamapi.EventTypeHeader: event, eventstreamapi.ContentTypeHeader: "application/json"} {
		m.Headers.Set(name, eventstream.StringValue(value))
	}
	_ = eventstream.NewEncoder().Encode(w, m) // a failure means that the client has disconnected
	w.(http.Flusher).Flush()
}

// Members of a team call one model at the same time. Each reads only its own answer, also under the race detector.
func TestStreamsAtTheSameTimeDontMix(t *testing.T) {
	number := regexp.MustCompile(`number (\d)`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := number.FindStringSubmatch(string(body))[1]
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		frame(w, "messageStart", `{"role":"assistant"}`)
		for range 50 {
			frame(w, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"`+n+`"}}`)
		}
		frame(w, "messageStop", `{"stopReason":"end_turn"}`)
	}))
	defer s.Close()
	c := open(s.URL)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := model.Request{MaxTokens: 10, Messages: []model.Message{model.Words(model.User, fmt.Sprint("number ", i))}}
			got, err := c.Say(t.Context(), r, func(string) {})
			expect.That(t, err == nil && got.Text == strings.Repeat(fmt.Sprint(i), 50), "%d: %q, %v", i, got.Text, err)
		})
	}
	all.Wait()
}

// Nova writes its thoughts into the text; Anthropic's models have blocks for them.
func TestOnlySomeModelsWriteThoughtsIntoTheText(t *testing.T) {
	const thought = "<thinking>SECRET</thinking>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		frame(w, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"`+thought+`"}}`)
		frame(w, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Never. It says </thinking>"}}`)
		frame(w, "messageStop", `{"stopReason":"end_turn"}`)
	}))
	defer s.Close()
	for id, want := range map[string]string{"us.amazon.nova-pro-v1:0": "", "jp.anthropic.claude-sonnet-4-6": thought} {
		got, err := opened(s.URL, id).Say(t.Context(), model.Request{MaxTokens: 10, Messages: []model.Message{
			model.Words(model.User, "x")}}, nil)
		expect.That(t, err == nil && got.Text == want+"Never. It says </thinking>", "%s: %q, %v", id, got.Text, err)
	}
}

// streaming answers with these frames; a name of an event, then its body.
func streaming(t *testing.T, then func(), frames ...string) (sent *string, w model.Wire) {
	t.Helper()
	sent = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*sent += string(body)
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		for i := 0; i < len(frames); i += 2 {
			frame(w, frames[i], frames[i+1])
		}
		then()
	}))
	t.Cleanup(s.Close)
	return sent, open(s.URL)
}

var (
	begun    = []string{"contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}`}
	argument = []string{"contentBlockDelta", `{"contentBlockIndex":1,` +
		`"delta":{"toolUse":{"input":"{\"id\":1234567890123456789}"}}}`}
	stopped = []string{"contentBlockStop", `{"contentBlockIndex":1}`}
	called  = []string{"messageStop", `{"stopReason":"tool_use"}`}
)

func TestACallKeepsItsArguments(t *testing.T) {
	lost := []string{"contentBlockDelta", strings.Replace(argument[1], "1", "0", 1)}
	for about, x := range map[string]struct {
		frames [][]string
		whole  bool
	}{
		"as published":     {[][]string{begun, argument, stopped, called}, true},
		"of another index": {[][]string{begun, lost, stopped, called}, false},
		"without an end":   {[][]string{begun, argument, called}, false},
	} {
		_, w := streaming(t, func() {}, slices.Concat(x.frames...)...)
		got, err := model.Say(t.Context(), w, model.Request{MaxTokens: 10,
			Messages: []model.Message{model.Words(model.User, "x")}}, "p", nil)
		whole := err == nil && string(got.Calls[0].Input) == `{"id":1234567890123456789}`
		expect.That(t, x.whole && whole || !x.whole && model.Broke(err),
			"%s: %+v, %v", about, got.Calls, err)
	}
}

// The ids of many services have more digits than a float.
func TestNumbersAreSentWithAllTheirDigits(t *testing.T) {
	const id, bound = "1234567890123456789", "100000000000000001"
	sent, w := streaming(t, func() {}, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hello"}}`,
		"messageStop", `{"stopReason":"end_turn"}`)
	_, err := w.Say(t.Context(), model.Request{MaxTokens: 10,
		Tools: []model.Tool{{Name: "f", Schema: []byte(`{"type":"object","properties":{"id":{"type":"integer",` +
			`"minimum":` + bound + `}}}`)}},
		Messages: []model.Message{model.Words(model.User, "x"),
			{Role: model.Assistant, Parts: []model.Part{{Call: &model.Call{ID: "t0", Name: "f",
				Input: []byte(`{"id":[` + id + `]}`)}}}},
			{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "t0", Text: "done"}}}}}}, nil)
	expect.That(t, err == nil && strings.Contains(*sent, id) && strings.Contains(*sent, bound), "%s, %v", *sent, err)
}

// Half an answer whose stream ends is asked for once more; one whose connection broke can come whole later.
func TestHalfAnAnswerIsBrokenOff(t *testing.T) {
	half := []string{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"half"}}`}
	asked := 0
	ends, broke := func() { asked++ }, func() { asked++; panic(http.ErrAbortHandler) }
	for about, x := range map[string]struct {
		then   func()
		frames []string
		asked  int
		again  bool
	}{"it ends": {ends, half, 2, false}, "it breaks": {broke, half, 1, true}, "nothing came": {ends, nil, 1, true}} {
		asked = 0
		_, w := streaming(t, x.then, x.frames...)
		_, err := model.SayWhole(t.Context(), w, model.Request{MaxTokens: 10,
			Messages: []model.Message{model.Words(model.User, "x")}}, "p", func(string) {})
		expect.That(t, asked == x.asked && model.Failure(err).Transient == x.again, "%s: %d asked, %v", about, asked, err)
	}
}

// Nova takes no members at the top of a schema but an object's (zed-industries/zed#28521, BerriAI/litellm#10062).
func TestNovaIsOfferedPlainSchemas(t *testing.T) {
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ToolConfig struct {
				Tools []struct {
					ToolSpec struct {
						InputSchema struct{ JSON map[string]any }
					}
				}
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&q) // else there are no tools, which the test sees
		for _, tool := range q.ToolConfig.Tools {
			for name := range tool.ToolSpec.InputSchema.JSON {
				if !slices.Contains([]string{"type", "properties", "required"}, name) {
					w.Header().Set("X-Amzn-ErrorType", "ValidationException")
					w.WriteHeader(http.StatusBadRequest)
					io.WriteString(w, `{"message":"Malformed input request: extraneous key [`+name+`] is not permitted"}`)
					return
				}
			}
			text, _ := json.Marshal(tool.ToolSpec.InputSchema.JSON)
			sent += string(text)
		}
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		for i, name := range []string{"find", "own"} {
			frame(w, "contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":"t%d",`+
				`"name":"%s"}}}`,
				i, i, name))
			frame(w, "contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":`+
				`"{\"arguments_json\":\"{\\\"at\\\":1}\"}"}}}`, i))
			frame(w, "contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i))
		}
		frame(w, "messageStop", `{"stopReason":"tool_use"}`)
	}))
	defer s.Close()
	got, err := opened(s.URL, "us.amazon.nova-pro-v1:0").Say(t.Context(), model.Request{MaxTokens: 10,
		Messages: []model.Message{model.Words(model.User, "x")},
		Tools: []model.Tool{{Name: "find", Foreign: true, Schema: []byte(`{"type":"object","properties":{"at":` +
			`{"$ref":"#/definitions/place"}},"definitions":{"place":{"type":"string"}}}`)},
			{Name: "own", Schema: []byte(`{"type":"object","properties":{"b":{"type":"string"}},` +
				`"additionalProperties":false}`)}},
	}, nil)
	expect.Must(t, err == nil && len(got.Calls) == 2, "%+v, %v", got, err)
	expect.Is(t, string(got.Calls[0].Input), `{"at":1}`, "what stood in the text")
	expect.Is(t, string(got.Calls[1].Input), `{"arguments_json":"{\"at\":1}"}`, "its own")
	expect.That(t, strings.Contains(sent, `"b"`), "%s", sent)
}
