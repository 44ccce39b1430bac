package bedrock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/infra/local/vendors"
	"ringi/shared/model"
	"ringi/shared/model/bedrock"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

const name = "global.anthropic.claude-sonnet-4-6"

func open(url string) model.Wire { return opened(url, name) }

func opened(url, name string) model.Wire {
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(modeltest.Secret,
		"secret", "")}
	return bedrock.New(bedrock.Config{AWS: cfg, BaseURL: url, Model: name, HTTP: provider.VendorClient()})
}

// signer returns the access key that signed a request.
func signer(h http.Header) string {
	_, credential, _ := strings.Cut(h.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	id, scope, _ := strings.Cut(credential, "/")
	if !strings.Contains(scope, "/us-east-1/bedrock/aws4_request") {
		return ""
	}
	return id
}

// converse is an answer with the members that every answer of Converse has.
func converse(content, stop, cache string) string {
	return `{"output":{"message":{"role":"assistant","content":[` + content + `]}},"stopReason":"` + stop + `",
		"usage":{"inputTokens":12,"outputTokens":7,"totalTokens":2119` + cache + `},"metrics":{"latencyMs":1}}`
}

var good = converse(`{"text":%TEXT%}`, "end_turn", `,"cacheReadInputTokens":2000,"cacheWriteInputTokens":100`)

func TestContract(t *testing.T) {
	api := expect.Value(vendors.Published("bedrock"))(t)
	modeltest.Run(t, modeltest.Vendor{
		New: open,
		Key: signer, ID: "X-Amzn-RequestId", Path: "/model/" + name + "/converse",
		Sent: `{
			"inferenceConfig": {"maxTokens": 1000},
			"system": [{"text": "the rules"}, {"cachePoint": {"type": "default"}}],
			"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"name": "answer",
				"schema": "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\"}}}"}}}},
			"messages": [
				{"role": "user", "content": [{"text": "<data>the tools</data>"}, {"cachePoint": {"type": "default"}}, {"text": "himitsu no irai"}]},
				{"role": "assistant", "content": [{"text": "{}"}]},
				{"role": "user", "content": [{"text": "again"}]}
			]
		}`,
		Good:    good,
		CutOff:  converse(`{"text":%TEXT%}`, "max_tokens", ""),
		Refused: converse("", "content_filtered", ""),
		Usage:   model.Usage{Provider: "bedrock", Model: name, Input: 112, Cached: 2000, Written: 100, Output: 7},
		Error:   `{"message":"himitsu no irai"}`,
		Header:  map[string]string{"X-Amzn-ErrorType": "%CODE%"},
		Codes: map[int]string{
			400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
			429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
		},
		Form: "outputConfig", Formless: `The model returned the following errors: output_config.format: Extra inputs ` +
			`are not permitted`,
		Published:      func(body string) []string { return api.Check("ConverseResponse", body) },
		PublishedError: func(body string) []string { return api.Check("Exception", body) },
		PublishedSent:  func(body string) []string { return api.Check("ConverseRequest", body) },
	})
}

// AWS returns misleading statuses for these errors: 403 for an unknown key, 424 for a failure of the model.
func TestWhatAWSMeansByItsErrors(t *testing.T) {
	for _, tt := range []struct {
		code, body string
		status     int
		kind       model.Kind
		again      bool
	}{
		{"UnrecognizedClientException", `{"message":"The security token included in the request is invalid."}`, 403,
			model.Unauthorized, false},
		{"ExpiredTokenException", `{"message":"The security token included in the request is expired"}`, 403,
			model.Unauthorized, false},
		{"IncompleteSignature", `{"message":"The request signature does not conform to AWS standards."}`, 400,
			model.Unauthorized, false},
		{"AccessDeniedException", `{"message":"You don't have access to the model."}`, 403, model.Forbidden, false},
		{"ModelErrorException", `{"message":"m","originalStatusCode":500,"resourceName":"r"}`, 424, model.Overloaded, true},
		{"ModelErrorException", `{"message":"m","originalStatusCode":429}`, 424, model.RateLimited, true},
		{"ModelErrorException", `{"message":"m","originalStatusCode":400}`, 424, model.BadRequest, false},
		{"ModelErrorException", `{"message":"m"}`, 424, model.Overloaded, true},
		{"ModelTimeoutException", `{"message":"m"}`, 408, model.Timeout, true},
		{"ModelNotReadyException", `{"message":"m"}`, 429, model.RateLimited, true},
		{"ServiceQuotaExceededException", `{"message":"m"}`, 400, model.RateLimited, true},
	} {
		t.Run(tt.code, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-ErrorType", tt.code)
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer s.Close()
			_, err := open(s.URL).Say(t.Context(), modeltest.Request(), nil)
			var e *model.Error
			expect.That(t, errors.As(err, &e) && e.Kind == tt.kind && e.Retryable == tt.again, "%s: %v", tt.body, err)
		})
	}
}

// A model that supports no schema, or no cache points, gets the request without what it names, in Converse's words or
// in its vendor's, and the schema in words.
func TestAModelThatTakesLess(t *testing.T) {
	for _, formless := range []string{"This model doesn't support the outputConfig field.",
		"The model returned the following errors: output_config.format: Extra inputs are not permitted"} {
		for takes, refusals := range map[string]map[string]string{
			"neither":      {"outputConfig": formless, "cachePoint": "This model doesn't support the cachePoint field."},
			"cache points": {"outputConfig": formless},
			"schemas":      {"cachePoint": "This model doesn't support the cachePoint field."},
		} {
			var asked []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = append(asked, string(body))
				for _, member := range []string{"outputConfig", "cachePoint"} {
					if said := refusals[member]; said != "" && strings.Contains(string(body), member) {
						w.Header().Set("X-Amzn-ErrorType", "ValidationException")
						w.WriteHeader(http.StatusBadRequest)
						io.WriteString(w, `{"message":"`+said+`"}`)
						return
					}
				}
				io.WriteString(w, strings.ReplaceAll(good, "%TEXT%", `"{}"`))
			}))
			q, warm := modeltest.Request(), 0.2
			q.Sampling.Temperature = &warm
			r, err := open(s.URL).Say(t.Context(), q, nil)
			s.Close()
			expect.Must(t, err == nil && r.Text == "{}" && len(asked) == 1+len(refusals), "%s: %+v, %v, asked %d times", takes,
				r, err, len(asked))
			last := asked[len(asked)-1]
			for part, want := range map[string]bool{"outputConfig": takes == "schemas", "cachePoint": takes == "cache points",
				`"temperature"`: true} {
				expect.That(t, strings.Contains(last, part) == want, "%s: %s in %s", takes, part, last)
			}
			var plain struct {
				System []struct{ Text string }
			}
			expect.NoError(t, json.Unmarshal([]byte(last), &plain))
			worded := strings.Contains(plain.System[0].Text, `"required":["a"]`)
			expect.That(t, worded == (takes != "schemas"), "%s: %s", takes, last)
		}
	}
}

func TestAModelThatIsNone(t *testing.T) {
	calls := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("X-Amzn-ErrorType", "ValidationException")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"message":"The provided model identifier is invalid."}`)
	}))
	defer s.Close()
	_, err := open(s.URL).Say(t.Context(), modeltest.Request(), nil)
	f := model.Failure(err)
	expect.That(t, f.Reason == "model_unknown" && f.Detail == name && calls == 1, "%d calls: %v", calls, err)
}

// Outside AWS there is no role, and a key is used instead. It is sent only over TLS.
func TestAKeyInsteadOfARole(t *testing.T) {
	var sent string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		io.WriteString(w, strings.ReplaceAll(good, "%TEXT%", `"{}"`))
	})
	ask := func(s *httptest.Server) error {
		defer s.Close()
		c := bedrock.New(bedrock.Config{AWS: aws.Config{Region: "us-east-1"}, BaseURL: s.URL, Model: name,
			Key: modeltest.Secret, HTTP: s.Client()})
		_, err := c.Say(t.Context(), modeltest.Request(), nil)
		return err
	}
	if err := ask(httptest.NewTLSServer(h)); err != nil || sent != "Bearer "+modeltest.Secret {
		t.Errorf("%q, %v", sent, err)
	}
	sent = ""
	if err := ask(httptest.NewServer(h)); err == nil || sent != "" {
		t.Errorf("the key went in the clear: %q", sent)
	}
}

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
