package provider_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

func wire() modeltest.Vendor {
	return modeltest.Vendor{
		New: func(url string) model.Wire {
			return provider.NewAnthropic(provider.AnthropicConfig{BaseURL: url, Model: "claude-sonnet-4-6",
				Key: modeltest.Secret, HTTP: provider.VendorClient()})
		},
		Key: func(h http.Header) string { return h.Get("X-Api-Key") }, ID: "Request-Id", Path: "/v1/messages",
		Sent: `{
			"model": "claude-sonnet-4-6", "max_tokens": 1000,
			"system": [{"type": "text", "text": "the rules", "cache_control": {"type": "ephemeral"}}],
			"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": false, ` +
			`"required": ["a"], "properties": {"a": {"type": "string"}}}}},
			"messages": [
				{"role": "user", "content": [{"type": "text", "text": "<data>the tools</data>", "cache_control": {"type": ` +
			`"ephemeral"}}, {"type": "text", "text": "himitsu no irai"}]},
				{"role": "assistant", "content": [{"type": "text", "text": "{}"}]},
				{"role": "user", "content": [{"type": "text", "text": "again"}]}
			]
		}`,
		Good: message(`{"type":"thinking","thinking":"…","signature":"s"},{"type":"text","text":%TEXT%,"citations":null}`,
			`"end_turn"`, `null`,
			`"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":7`),
		CutOff: message(`{"type":"text","text":%TEXT%,"citations":null}`, `"max_tokens"`, `null`,
			`"input_tokens":1,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":1`),
		Refused: message(``, `"refusal"`, `{"type":"refusal","category":"cyber","explanation":null}`,
			`"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0`),
		Usage: model.Usage{Provider: "anthropic", Model: "claude-sonnet-4-6-20260217", Input: 112, Cached: 2000,
			Written: 100, Output: 7},
		Error: `{"type":"error","error":{"type":"%CODE%","message":"himitsu no irai"},"request_id":"req_2"}`,
		Codes: map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
			429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
		},
		NoCredit: 402, NoCreditCode: "billing_error",
		Form: "output_config", Formless: `'claude-sonnet-4-20250514' does not support output format.`,
		Published: modeltest.Differences[sdk.Message], PublishedError: modeltest.Differences[shared.ErrorResponse],
	}
}

// message is an answer with the members that every answer of Anthropic's has.
func message(content, stop, details, usage string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6-20260217","container":null,` +
		`"diagnostics":null,"content":[` + content + `],
		"stop_reason":` + stop + `,"stop_sequence":null,"stop_details":` + details + `,"usage":{` + usage +
		`,"cache_creation":null,"inference_geo":null,
		"output_tokens_details":null,"server_tool_use":null,"service_tier":"standard","speed":null}}`
}

func TestContract(t *testing.T) { modeltest.Run(t, wire()) }

// Bedrock has the model in the path and errors of its own. Requests are signed with the role's credentials, or bear a
// key.
func TestTheContractOnBedrock(t *testing.T) {
	const id = "global.anthropic.claude-sonnet-4-6"
	role := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	w := wire()
	w.New = func(url string) model.Wire {
		return provider.NewAnthropic(provider.AnthropicConfig{Bedrock: &role, BaseURL: url, Model: id,
			HTTP: provider.VendorClient()})
	}
	w.Key = func(h http.Header) string {
		if !strings.HasPrefix(h.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=id/") {
			return ""
		}
		return modeltest.Secret
	}
	w.ID, w.Path, w.Usage.Provider = "X-Amzn-Requestid", "/model/"+id+"/invoke", "bedrock"
	w.Sent = strings.Replace(w.Sent, `"model": "claude-sonnet-4-6"`, `"anthropic_version": "bedrock-2023-05-31"`, 1)
	w.Error, w.Header = `{"message":"himitsu no irai"}`, map[string]string{"X-Amzn-ErrorType": "%CODE%:http://amazon.com/"}
	w.Codes = map[int]string{400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException",
		404: "ResourceNotFoundException", 429: "ThrottlingException", 500: "InternalServerException",
		503: "ServiceUnavailableException"}
	w.NoCredit, w.PublishedError = 0, func(string) []string { return nil } // AWS has no types for what is passed on
	modeltest.Run(t, w)

	for about, tt := range map[string]struct {
		status     int
		code, body string
		kind       model.Kind
		again      bool
	}{
		"no such model": {400, "ValidationException", `{"message":"The provided model identifier is invalid."}`,
			model.UnknownModel, false},
		"a role without rights": {403, "ExpiredTokenException", `{"message":"x"}`, model.Unauthorized, false},
		"a used-up quota":       {400, "ServiceQuotaExceededException", `{"message":"x"}`, model.RateLimited, true},
		"the model's failure": {424, "ModelErrorException", `{"message":"x","originalStatusCode":500}`,
			model.Overloaded, true},
		"too long": {400, "ValidationException", `{"message":"Input is too long for requested model."}`,
			model.TooLong, false},
	} {
		s := expect.Server(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("X-Amzn-ErrorType", tt.code)
			rw.WriteHeader(tt.status)
			io.WriteString(rw, tt.body)
		}))
		_, err := w.New(s.URL).Say(t.Context(), modeltest.Request())
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is && e.Kind == tt.kind && e.Retryable == tt.again && e.Provider == "bedrock", "%s: %v", about, err)
	}
}

func TestAKeyOfBedrocksIsSentInPlaceOfASignature(t *testing.T) {
	s := answers(t, wire().Good)
	w := provider.NewAnthropic(provider.AnthropicConfig{Bedrock: &aws.Config{Region: "us-east-1"}, BaseURL: s.url,
		Model: "anthropic.m", Key: modeltest.Secret, HTTP: http.DefaultClient})
	expect.Value(w.Say(t.Context(), modeltest.Request()))(t)
	expect.Is(t, s.heads[0].Get("Authorization"), "Bearer "+modeltest.Secret)
}

// Anthropic's refusals for length have a sentence or a code, those for want of money only a sentence. What looks like a
// tag in an answer is what the model says.
func TestALengthIsToldAndATagIsText(t *testing.T) {
	for body, kind := range map[string]model.Kind{`400 {"type":"error","error":{"type":"invalid_request_error",` +
		`"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`: model.TooLong, `413 {"type":"error","error":{` +
		`"type":"request_too_large","message":"Request exceeds the maximum size"}}`: model.TooLong,
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to ` +
			`access the Anthropic API."}}`: model.NoCredit} {
		s := answers(t, body)
		_, err := claude(s, "claude-sonnet-4-6").Say(t.Context(), modeltest.Request())
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is && e.Kind == kind && !e.Retryable && len(s.asked) == 1, "%v after %d calls", err,
			len(s.asked))
	}
	const text = "<think>The user is annoying.</think> Hello"
	s := answers(t, searchAnswer("end_turn", "0", `{"type":"text","text":"`+text+`"}`))
	got := expect.Value(claude(s, "claude-sonnet-4-6").Say(t.Context(), modeltest.Request()))(t)
	expect.Is(t, got.Text, text)
}

// claude is a model of Anthropic's on a server.
func claude(s *server, name string) model.Wire {
	return provider.NewAnthropic(provider.AnthropicConfig{BaseURL: s.url, Model: name, Key: "k", HTTP: http.DefaultClient})
}

// searched asks for a search, to which the vendor gives these answers one after the other.
func searched(t *testing.T, bodies ...string) (got model.Response, sent []map[string]any, err error) {
	t.Helper()
	s := answers(t, bodies...)
	got, err = model.Say(t.Context(), claude(s, "claude-sonnet-4-6"), model.Request{System: "s", Once: true, Searches: 3,
		MaxTokens: 1000, Messages: []model.Message{model.Words(model.User, "overtime")}}, "p")
	return got, s.asked, err
}

func searchAnswer(stop, searches, content string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6",` +
		`"content":[` + content + `],"stop_reason":"` + stop +
		`","usage":{"input_tokens":1000,"output_tokens":100,` +
		`"server_tool_use":{"web_search_requests":` + searches + `,"web_fetch_requests":0}}}`
}

const (
	asks  = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"overtime"}}`
	finds = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result",` +
		`"url":"https://example.com/a","title":"A","encrypted_content":"secret","page_age":"May 1, 2026"}]}`
	cites = `{"type":"text","text":"It is 45 hours.","citations":[{"type":"web_search_result_location",` +
		`"url":"https://example.com/a",` +
		`"title":"A","encrypted_index":"index","cited_text":"45"}]}`
)

func failing(code string) string {
	return `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1",` +
		`"content":{"type":"web_search_tool_result_error","error_code":"` + code + `"}}`
}

// The vendor searches, as often as it may, and each search is paid.
func TestTheVendorsOwnSearch(t *testing.T) {
	got, sent, err := searched(t, searchAnswer("end_turn", "2",
		`{"type":"text","text":"I look it up. "},`+asks+","+finds+","+strings.ReplaceAll(asks, "u_1", "u_2")+","+
			strings.ReplaceAll(failing("max_uses_exceeded"), "u_1", "u_2")+","+cites))
	expect.NoError(t, err)
	want := []any{map[string]any{"type": "web_search_20250305", "name": "web_search", "max_uses": 3.0}}
	expect.That(t, len(sent) == 1 && cmp.Equal(sent[0]["tools"], any(want)), "sent %v", sent)
	expect.Is(t, got.Text, "I look it up. It is 45 hours.")
	expect.That(t, cmp.Equal(got.Found, []model.Source{{Title: "A", URL: "https://example.com/a"}}), "found %v", got.Found)
	expect.Is(t, got.SearchFailed, "max_uses_exceeded")
	// 1,000 tokens at $3 and 100 at $15 a million, and two searches at $10 a thousand
	expect.That(t, got.Usage.Searches == 2 && got.Usage.Cost == 3000+1500+20000, "%+v", got.Usage)
}

// The vendor charges nothing for a search that failed.
func TestASearchThatFailedSaysHow(t *testing.T) {
	for _, code := range []string{"max_uses_exceeded", "too_many_requests", "invalid_tool_input", "query_too_long",
		"request_too_large", "unavailable"} {
		got, _, err := searched(t, searchAnswer("end_turn", "0", asks+","+failing(code)))
		expect.NoError(t, err)
		expect.That(t, got.SearchFailed == code && len(got.Found) == 0 && got.Usage.Cost == 4500, "%s: %+v", code, got)
	}
}

// An answer that the vendor pauses is not whole.
func TestAPausedSearchBrokeOff(t *testing.T) {
	_, sent, err := searched(t, searchAnswer("pause_turn", "1", asks+","+finds+","+cites))
	expect.That(t, model.Broke(err) && len(sent) == 1, "%v after %d calls", err, len(sent))
}

// A call keeps the digits of its arguments.
func TestACallKeepsItsArguments(t *testing.T) {
	for _, input := range []string{`{}`, `{"id":9007199254740993}`} {
		s := answers(t, searchAnswer("tool_use", "0", `{"type":"tool_use","id":"a","name":"f","input":`+input+`}`))
		got, err := claude(s, "claude-sonnet-4-6").Say(t.Context(), model.Request{MaxTokens: 1000,
			Messages: []model.Message{model.Words(model.User, "x")}})
		expect.That(t, err == nil && len(got.Calls) == 1 && string(got.Calls[0].Input) == input, "%s: %+v, %v",
			input, got.Calls, err)
	}
}

// thoughts is an answer with thoughts before and between two calls.
var thoughts = message(`{"type":"thinking","thinking":"a <b> & c","signature":"SIG=="},`+
	`{"type":"redacted_thinking","data":"ENC=="},{"type":"text","text":"so","citations":null},`+
	`{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"thinking","thinking":"","signature":"SIG2"},`+
	`{"type":"tool_use","id":"b","name":"t","input":{}}`, `"tool_use"`, `null`, `"input_tokens":1,"output_tokens":9`)

// Thoughts come back where they were and as they were, encrypted ones too. Where anything before them has changed, they
// stay out, because the vendor refuses them then.
func TestThoughtsComeBackAsTheyWere(t *testing.T) {
	s := answers(t, thoughts)
	w := claude(s, "claude-opus-5-5")
	r := model.Request{System: "s", MaxTokens: 4_000, Tools: []model.Tool{{Name: "t",
		Schema: json.RawMessage(`{"type":"object","properties":{},"required":[]}`)}},
		Messages: []model.Message{model.Words(model.User, "x")}}
	got := expect.Value(w.Say(t.Context(), r))(t)
	expect.Must(t, len(got.Calls) == 2 && got.Calls[0].Opaque != nil && got.Calls[1].Opaque != nil, "%+v", got.Calls)
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant,
		Parts: []model.Part{{Text: got.Text}, {Call: &got.Calls[0]}, {Call: &got.Calls[1]}}},
		model.Message{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "a", Text: "1"}},
			{Result: &model.Result{CallID: "b", Text: "2"}}}})
	sent := func() (types []string, body string) {
		expect.Value(w.Say(t.Context(), r))(t)
		var q struct {
			Messages []struct {
				Content []struct{ Type, Thinking, Signature, Data string }
			}
		}
		body = s.texts[len(s.texts)-1]
		expect.NoError(t, json.Unmarshal([]byte(body), &q))
		for _, b := range q.Messages[1].Content {
			types = append(types, strings.TrimSpace(b.Type+" "+b.Thinking+b.Signature+b.Data))
		}
		return types, body
	}
	types, body := sent()
	expect.Same(t, []string{"thinking a <b> & cSIG==", "redacted_thinking ENC==", "text", "tool_use", "thinking SIG2",
		"tool_use"}, types)
	expect.Has(t, body, `"max_tokens":20384`)
	r.System = "other rules"
	types, _ = sent()
	expect.Same(t, []string{"text", "tool_use", "tool_use"}, types)
}
