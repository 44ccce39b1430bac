package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// secretReader returns one secret, as Secrets Manager does.
type secretReader struct {
	mu    sync.Mutex
	value string
	reads int
	err   error
}

func (k *secretReader) read(context.Context, string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	return k.value, k.err
}

// holding reads a secret with this value.
func holding(value string) secret.Reader { return (&secretReader{value: value}).read }

// server is a vendor that a test scripts, with what it is sent.
type server struct {
	url   string
	heads []http.Header
	texts []string
	asked []map[string]any // the same, decoded
}

// answers starts a server that answers with these bodies one after the other, and then always with the last: an
// error's begins with its status.
func answers(t *testing.T, bodies ...string) *server {
	out := &server{}
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		sent, err := io.ReadAll(r.Body)
		expect.NoError(t, errors.Join(err, json.Unmarshal(sent, &asked)))
		body := bodies[min(len(out.asked), len(bodies)-1)]
		out.heads, out.texts = append(out.heads, r.Header), append(out.texts, string(sent))
		out.asked = append(out.asked, asked)
		w.Header().Set("Content-Type", "application/json")
		if code, rest, _ := strings.Cut(body, " "); len(code) == 3 && !strings.ContainsAny(code, "{[\"<") {
			status, err := strconv.Atoi(code)
			expect.NoError(t, err)
			w.WriteHeader(status)
			body = rest
		}
		io.WriteString(w, strings.ReplaceAll(body, "%TEXT%", `"{}"`))
	}))
	out.url = s.URL
	return out
}

// wire is a model of an endpoint on the server.
func (s *server) wire(endpoint, name string) model.Wire {
	return provider.NewCompletions(provider.CompletionsConfig{Endpoint: endpoint, BaseURL: s.url, Model: name,
		HTTP: http.DefaultClient})
}

// vendor returns the example answer of every vendor, or 401 for a wrong key. It records the paths.
func vendor(t *testing.T, paths *[]string) *httptest.Server {
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*paths = append(*paths, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if !strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), "right") {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":{"type":"authentication_error"}}`)
			return
		}
		io.WriteString(w, map[string]string{
			"messages":    `{"content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn"}`,
			"invoke":      `{"content":[{"type":"text","text":"{}"}],"stop_reason":"end_turn"}`,
			"completions": `{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}]}`,
		}[path.Base(r.URL.Path)])
	}))
	return s
}

func config(s *httptest.Server, k *secretReader) provider.Config {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	return provider.Config{
		AWS:    aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("right", "secret", "")},
		Secret: &secret.Models{Reader: k.read, ID: "models"},
		At:     map[string]string{aggregate.Anthropic: s.URL, aggregate.OpenAI: s.URL + "/v1", aggregate.Bedrock: s.URL},
		Vendor: provider.VendorClient(), Outbound: outbound.Dialer{Allow: []string{u.Host}}.Client(),
	}
}

func ask(t *testing.T, c provider.Config, name string) error {
	t.Helper()
	g := expect.Value(c.Open(name))(t)
	r, err := g.Say(t.Context(), modeltest.Request())
	expect.That(t, err != nil || r.Text == "{}", "%s says %q", name, r.Text)
	return err
}

func TestEachNameFindsItsVendor(t *testing.T) {
	var paths []string
	s := vendor(t, &paths)
	k := &secretReader{value: `{"anthropic":"right","openai":"right","compatible":{"box":{"url":"` + s.URL +
		`/v1/","key":"right"},"gemini":{"url":"` + s.URL + `/v1","key":"right"}}}`}
	c := config(s, k)
	found := []string{aggregate.Demo}
	for _, name := range []string{"claude-sonnet-4-6", "openai:gpt-5.4", "o3", "compatible:box/llama", "gemini-2.5-flash",
		"bedrock:anthropic.claude-haiku-4-5"} {
		err := ask(t, c, name)
		expect.That(t, err == nil, "%s: %v", name, err)
		found = append(found, expect.Value(aggregate.ParseModelName(name))(t).Provider)
	}
	for _, p := range aggregate.ModelProviders {
		expect.That(t, slices.Contains(found, p), "no model of %s is asked here", p)
	}
	want := []string{"/v1/messages", "/v1/chat/completions", "/v1/chat/completions", "/v1/chat/completions",
		"/v1/chat/completions", "/model/anthropic.claude-haiku-4-5/invoke"}
	expect.Same(t, want, paths)
	expect.Is(t, k.reads, 1, "the secret was read (times)")
	expect.Is[model.Wire](t, expect.Value(c.Open("demo"))(t), (demo.Layers{}))
}

// recording notes the address that is called, and answers nothing.
type recording struct{ address string }

func (r *recording) RoundTrip(q *http.Request) (*http.Response, error) {
	r.address = q.URL.String()
	return nil, errors.New("nothing is called here")
}

func TestModelsOfXAINeedAKeyAlone(t *testing.T) {
	s := vendor(t, &[]string{})
	for value, want := range map[string]string{
		`{"compatible":{"grok":{"key":"right"}}}`: "https://api.x.ai/v1/chat/completions",
		`{"compatible":{"grok":{"key":"right",
			"url":"https://proxy.example/v1"}}}`: "https://proxy.example/v1/chat/completions",
		`{"compatible":{"grok":{"key":""}}}`: "", `{}`: "",
	} {
		c, called := config(s, &secretReader{value: value}), &recording{}
		c.Outbound = &http.Client{Transport: called}
		f := model.Failure(ask(t, c, "grok-responses:grok-4"))
		expect.Is(t, called.address, want, value)
		expect.That(t, want != "" || f.Reason == task.ReasonModelKey && f.Detail == "compatible.grok", "%s: %+v", value, f)
	}
}

func TestANameOfNobodyIsRefusedWithTheList(t *testing.T) {
	for _, name := range []string{"", "llama", "demonstration", "mistral:large"} {
		_, err := provider.Config{}.Open(name)
		f := model.Failure(err)
		expect.That(t, f.Reason == task.ReasonModelUnknown && !f.Transient && f.Detail == name, "%q: %v", name, err)
		for _, p := range aggregate.ModelProviders {
			expect.Has(t, err.Error(), p, "%q: the error", name)
		}
	}
}

// A key that is added while the function runs is used at the next attempt.
func TestAMissingKeyIsNamedAndLookedForAgain(t *testing.T) {
	for name, detail := range map[string]string{
		"claude-sonnet-4-6": "anthropic", "gpt-5.4": "openai", "compatible:box/llama": "compatible.box",
		"gemini-2.5-flash": "compatible.gemini",
	} {
		var paths []string
		s := vendor(t, &paths)
		for _, lacking := range []string{`{}`, `null`, `{"anthropic":"","openai":"","compatible":{}}`,
			`{"anthropic":"wrong","openai":"wrong","compatible":{"box":{"url":"` + s.URL +
				`/v1","key":"wrong"},"gemini":{"url":"` + s.URL + `/v1","key":"wrong"}}}`} {
			k := &secretReader{value: lacking}
			c := config(s, k)
			err := ask(t, c, name)
			if f := model.Failure(err); f.Reason != task.ReasonModelKey || f.Detail != detail || f.Transient {
				t.Errorf("%s with %s: %v", name, lacking, err)
			}
			expect.That(t, !strings.Contains(err.Error(), "wrong"), "the error holds the key: %v", err)
			k.value = `{"anthropic":"right","openai":"right","compatible":{"box":{"url":"` + s.URL +
				`/v1","key":"right"},"gemini":{"url":"` + s.URL + `/v1","key":"right"}}}`
			err = ask(t, c, name)
			expect.That(t, err == nil, "%s after the key was added: %v", name, err)
		}
	}
}

func TestASecretThatCannotBeReadTellsNothing(t *testing.T) {
	s := vendor(t, &[]string{})
	for name, test := range map[string]struct {
		k    *secretReader
		want task.Failure
	}{
		"no JSON": {&secretReader{value: "sk-planted"}, task.Failure{Reason: task.ReasonModelKey, Detail: "anthropic"}},
		"odd JSON": {&secretReader{value: `{"anthropic":["sk-planted"]}`}, task.Failure{Reason: task.ReasonModelKey,
			Detail: "anthropic"}},
		"down": {&secretReader{err: errors.New("InternalServiceError")}, task.Failure{Reason: task.ReasonModelUnavailable,
			Transient: true}},
	} {
		err := ask(t, config(s, test.k), "claude-sonnet-4-6")
		d := cmp.Diff(test.want, model.Failure(err))
		expect.That(t, d == "" && !strings.Contains(err.Error(), "planted"), "%s: %v: %s", name, err, d)
	}
}

func TestAnAnswerWithoutEndIsGivenUp(t *testing.T) {
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := strings.Repeat(" ", 1<<20)
		for range 20 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
		t.Error("20 MiB were read")
	}))
	k := &secretReader{value: `{"anthropic":"right","openai":"right"}`}
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4"} {
		f := model.Failure(ask(t, config(s, k), name))
		expect.That(t, f.Reason == task.ReasonModelBadOutput && !f.Transient && f.Detail != "", "%s: %+v", name, f)
	}
}
