package bedrock_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
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
