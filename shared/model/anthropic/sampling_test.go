package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// Since Opus 4.1, models take a temperature or top_p, and refuse both at once.
func TestAModelThatTakesOneKindOfSamplingKeepsTheTemperature(t *testing.T) {
	var asked []map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&q))
		asked = append(asked, q)
		if q["temperature"] != nil && q["top_p"] != nil {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"+
				"\"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"}}")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	t.Cleanup(s.Close)
	cold, top := 0.0, 0.9
	r := modeltest.Request()
	r.Once = false
	r.Sampling = model.Sampling{Temperature: &cold, TopP: &top, StopSequences: []string{"END"}}
	w := anthropic.New(anthropic.Config{BaseURL: s.URL, Model: "claude-sonnet-4-5", Key: "k", HTTP: http.DefaultClient})
	expect.Value(w.Say(t.Context(), r, func(string) {}))(t)
	expect.That(t, len(asked) == 2, "%d calls", len(asked))
	last := asked[len(asked)-1]
	expect.That(t, last["temperature"] == 0.0 && last["top_p"] == nil && last["stop_sequences"] != nil, "%v", last)
}
