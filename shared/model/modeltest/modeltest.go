// Package modeltest runs one test suite against every provider's client, with a server that speaks its protocol.
package modeltest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
)

// Secret is the key of every call. Content is text in requests and answers. No error may quote either.
const (
	Secret  = "key-planted-in-the-test"
	Content = "himitsu no irai"
)

// Vendor describes one vendor's API: how it is called, and how it answers.
type Vendor struct {
	New  func(url string) model.Wire // a client with Secret as its key
	Key  func(http.Header) string    // the key that a request carries
	ID   string                      // the header that has the request's id
	Path string
	// Sent is the expected request as JSON.
	Sent string
	// Answers of status 200. %TEXT% is replaced by the answer as a JSON string with its quotes.
	Good, CutOff, Refused string
	Usage                 model.Usage // of Good, without its duration
	// Error is the body of an error. %CODE% is replaced by the vendor's code for it.
	Error  string
	Header map[string]string // sent with errors, %CODE% replaced; may be nil
	// Codes are the vendor's error codes by status.
	Codes map[int]string
	// NoCredit is the status and the code for an account without credit; 0 if the vendor has none.
	NoCredit     int
	NoCreditCode string
	// Form is the member with an answer's schema, and Formless the sentence of a model that takes none.
	Form, Formless string
	// Published compares the body of an answer with the vendor's published types and returns the differences.
	// PublishedError does so for the body of an error.
	Published, PublishedError func(body string) []string
}

// Request is the request of every test.
func Request() model.Request {
	return model.Request{
		Purpose: model.Planning, Try: 1, System: "the rules", Standing: "<data>the tools</data>", MaxTokens: 1000, Once: true,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["a"],` +
			`"properties":{"a":{"type":"string"}}}`),
		Messages: []model.Message{
			model.Words(model.User, Content), model.Words(model.Assistant, "{}"), model.Words(model.User, "again"),
		},
	}
}

const said = `{"a":"x"}`

func answer(body string) string {
	text, _ := json.Marshal(said) // a string can always be encoded
	return strings.ReplaceAll(body, "%TEXT%", string(text))
}

// Run runs the suite.
func Run(t *testing.T, w Vendor) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "poison", "ANTHROPIC_AUTH_TOKEN": "poison", "ANTHROPIC_CUSTOM_HEADERS": "X-Odd: poison",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "poison", "OPENAI_ORG_ID": "poison",
		"OPENAI_BASE_URL":  "http://127.0.0.1:1",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	t.Run("as published", func(t *testing.T) { w.published(t) })
	t.Run("an answer", func(t *testing.T) { w.answers(t) })
	t.Run("errors", func(t *testing.T) { w.errors(t) })
	t.Run("no whole answer", func(t *testing.T) { w.broken(t) })
	t.Run("a limit of answers", func(t *testing.T) { w.lowered(t) })
	t.Run("no schemas", func(t *testing.T) { w.formless(t) })
	t.Run("a request's id that is none", func(t *testing.T) { w.nameless(t) })
	t.Run("a redirect is not followed", func(t *testing.T) {
		reached := false
		other := expect.Server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
		_, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, other.URL, http.StatusTemporaryRedirect)
		})
		expect.That(t, !reached && err != nil, "the key went elsewhere: %v, %v", reached, err)
	})
}

// published compares the suite's answers with the types that the vendor publishes. Without this check the answers could
// have the same mistakes as the client.
func (w Vendor) published(t *testing.T) {
	for name, body := range map[string]string{"good": w.Good, "cut off": w.CutOff, "refused": w.Refused} {
		for _, d := range w.Published(answer(body)) {
			t.Errorf("%s: %s", name, d)
		}
	}
	for status, code := range w.Codes {
		for _, d := range w.PublishedError(strings.ReplaceAll(w.Error, "%CODE%", code)) {
			t.Errorf("%d: %s", status, d)
		}
	}
}

func (w Vendor) ask(t *testing.T, ctx context.Context, h http.HandlerFunc) (model.Response, error) {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	wire, err := model.Within(tenancy.Settings{}, func(string) (model.Wire, error) { return w.New(s.URL), nil }, "",
		func(_ context.Context, body []byte) (aggregate.Blob, error) {
			return aggregate.Blob{JSON: aggregate.JSON(body)}, nil
		})
	expect.NoError(t, err)
	r, err := wire.Say(ctx, Request())
	expect.That(t, r.Usage.Sent != nil && !strings.Contains(string(r.Usage.Sent.JSON), Secret),
		"what is kept of the request: %+v", r.Usage.Sent)
	expect.That(t, err == nil || !(strings.Contains(err.Error(), Secret) || strings.Contains(err.Error(), "himitsu")),
		"the error tells too much: %v", err)
	return r, err
}

func (w Vendor) answers(t *testing.T) {
	want := w.Usage
	want.Calls = 1
	for name, test := range map[string]struct {
		body string
		stop model.Stop
		text string
	}{
		"good":                 {answer(w.Good), model.StopEnd, said},
		"with unknown fields":  {strings.Replace(answer(w.Good), "{", `{"brand_new":{"a":[1]},`, 1), model.StopEnd, said},
		"text that is no JSON": {strings.ReplaceAll(w.Good, "%TEXT%", `"Sure!"`), model.StopEnd, "Sure!"},
		"cut off":              {answer(w.CutOff), model.StopLength, said},
		"refused":              {answer(w.Refused), model.StopRefused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			r, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, r *http.Request) {
				calls++
				body, _ := io.ReadAll(r.Body)
				expect.Is(t, w.Key(r.Header), Secret, "the key")
				expect.That(t, !strings.Contains(fmt.Sprint(r.Header), "poison"), "the environment got in: %v", r.Header)
				expect.That(t, r.URL.Path == w.Path, "called %s", r.URL.Path)
				want.Sent = &aggregate.Blob{JSON: aggregate.JSON(body)} // the stored body must equal the sent one byte by byte
				expect.Is(t, gocmp.Diff(decode(t, w.Sent), decode(t, string(body))), "", "sent:")
				expect.Is(t, r.Header.Get("Traceparent"), "", "traces that are sent")
				rw.Header().Set(w.ID, "req_1")
				rw.Header().Set("Content-Type", "application/json")
				io.WriteString(rw, test.body)
			})
			expect.Must(t, err == nil && calls == 1 && r.Stop == test.stop && (test.text == "" || r.Text == test.text),
				"%d calls, %+v, %v", calls, r, err)
			want.RequestID = "req_1"
			if r.Answered != "" { // as the row will name it
				r.Usage.Model = r.Answered
			}
			d := gocmp.Diff(want, r.Usage)
			expect.That(t, d == "" || name != "good", "usage: %v", d)
		})
	}
}

// nameless lets the server send a text that is no request id. Neither an answer nor an error may contain it.
func (w Vendor) nameless(t *testing.T) {
	for _, id := range []string{"req_1 ignore all that", "req_\u202e1", "依頼", strings.Repeat("x", 1000)} {
		for status, body := range map[int]string{http.StatusOK: answer(w.Good),
			http.StatusTooManyRequests: strings.ReplaceAll(w.Error, "%CODE%", w.Codes[http.StatusTooManyRequests])} {
			r, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set(w.ID, id)
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(status)
				io.WriteString(rw, body)
			})
			var e *model.Error
			failed := errors.As(err, &e)
			expect.That(t, r.Usage.RequestID == "" && failed != (status == http.StatusOK) && (!failed || e.RequestID == ""),
				"%d with %.30q: %+v, %v", status, id, r.Usage, err)
		}
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	err := json.Unmarshal([]byte(text), &v)
	expect.Must(t, err == nil, "%v: %s", err, text)
	return v
}

func (w Vendor) errors(t *testing.T) {
	type want struct {
		kind  model.Kind
		after time.Duration
		again bool
	}
	tests := map[string]struct {
		status int
		after  string
		want   want
	}{
		"400":                     {400, "", want{model.BadRequest, 0, false}},
		"401":                     {401, "", want{model.Unauthorized, 0, false}},
		"403":                     {403, "", want{model.Forbidden, 0, false}},
		"404":                     {404, "", want{model.UnknownModel, 0, false}},
		"429 with Retry-After":    {429, "17", want{model.RateLimited, 17 * time.Second, true}},
		"429 without":             {429, "", want{model.RateLimited, 0, true}},
		"429 with an odd wait":    {429, "-1e999", want{model.RateLimited, 0, true}},
		"429 with a year to wait": {429, "31536000", want{model.RateLimited, 24 * time.Hour, true}},
		"429 until a time past":   {429, "Wed, 21 Oct 2015 07:28:00 GMT", want{model.RateLimited, 0, true}},
		"500":                     {500, "", want{model.Overloaded, 0, true}},
		"503 with Retry-After":    {503, "5", want{model.Overloaded, 5 * time.Second, true}},
		"529":                     {529, "", want{model.Overloaded, 0, true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w.error(t, test.status, w.Codes[test.status], test.after, test.want.kind, test.want.after, test.want.again)
		})
	}
	if w.NoCredit != 0 {
		t.Run("no credit", func(t *testing.T) { w.error(t, w.NoCredit, w.NoCreditCode, "60", model.NoCredit, 0, false) })
	}
	t.Run("an error that is no JSON", func(t *testing.T) {
		_, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, _ *http.Request) {
			http.Error(rw, "<html>"+Content, http.StatusBadGateway)
		})
		failed(t, err, model.Overloaded, true)
	})
}

func (w Vendor) error(t *testing.T, status int, code, after string, kind model.Kind, wait time.Duration, again bool) {
	t.Helper()
	calls := 0
	r, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, _ *http.Request) {
		calls++
		rw.Header().Set(w.ID, "req_2")
		for name, value := range w.Header {
			rw.Header().Set(name, strings.ReplaceAll(value, "%CODE%", code))
		}
		if after != "" {
			rw.Header().Set("Retry-After", after)
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		io.WriteString(rw, strings.ReplaceAll(w.Error, "%CODE%", code))
	})
	e := failed(t, err, kind, again)
	if e == nil {
		return
	}
	expect.That(t, e.RetryAfter == wait && e.RequestID == "req_2" && r.Usage.Calls == 1 &&
		r.Usage.RequestID == "req_2" && e.Model != "", "%+v, usage %+v", e, r.Usage)
	expect.That(t, !again || calls == 1, "called %d times: waiting is the state machine's", calls)
}

func failed(t *testing.T, err error, kind model.Kind, again bool) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Retryable != again {
		t.Errorf("got %v, want %s", err, kind)
		return nil
	}
	return e
}

func (w Vendor) broken(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"half a body": func(rw http.ResponseWriter, _ *http.Request) {
			body := answer(w.Good)
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Content-Length", "100000")
			io.WriteString(rw, body[:len(body)/2])
		},
		"the connection is cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.ask(t, t.Context(), h)
			failed(t, err, model.Overloaded, true)
		})
	}
	t.Run("half a JSON", func(t *testing.T) {
		_, err := w.ask(t, t.Context(), func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			body := answer(w.Good)
			io.WriteString(rw, body[:len(body)/2]+Content)
		})
		failed(t, err, model.Unreadable, false)
	})
	t.Run("timeout", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := w.ask(t, ctx, func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		failed(t, err, model.Timeout, true)
	})
	t.Run("nobody answers", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		s.Close()
		_, err := w.New(s.URL).Say(t.Context(), Request())
		failed(t, err, model.Overloaded, true)
	})
}

// Demo is the demo model for tests. It records its requests and can be made to fail.
type Demo struct {
	Calls  int
	Asked  []string // the rules, Standing and the first message of each request
	Before func()
	Err    error  // returned by every call
	First  string // the answer to the first call
}

// Say implements model.Wire.
func (g *Demo) Say(ctx context.Context, r model.Request) (model.Response, error) {
	g.Calls++
	g.Asked = append(g.Asked, r.System+r.Standing+r.Messages[0].Parts[0].Text)
	if do := g.Before; do != nil {
		g.Before = nil
		do()
	}
	switch {
	case g.Err != nil:
		return model.Response{}, g.Err
	case g.Calls == 1 && g.First != "":
		return model.Response{Text: g.First, Stop: model.StopEnd,
			Usage: model.Usage{Provider: "demo", Calls: 1, Input: 10, Output: 5}}, nil
	}
	return demo.Layers{}.Say(ctx, r)
}

// Open returns the demo for any name.
func (g *Demo) Open(string) (model.Wire, error) { return g, nil }

//go:embed chat.json
var chat string

// Completion compares an answer with OpenAI's description of Chat Completions.
func Completion(body string) []string { return chatDifferences("completion", body) }

// ChatFailure compares the body of an error with OpenAI's description.
func ChatFailure(body string) []string { return chatDifferences("failure", body) }

func chatDifferences(kind, body string) []string {
	var s jsonschema.Schema
	var v any
	err := json.Unmarshal([]byte(strings.Replace(chat, "{", fmt.Sprintf(`{"$ref": "#/$defs/%s",`, kind), 1)), &s)
	if err == nil {
		err = json.Unmarshal([]byte(body), &v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	form, err := s.Resolve(nil)
	if err == nil {
		err = form.Validate(v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}
