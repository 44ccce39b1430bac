package bedrock_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/model"
	"ringi/shared/model/bedrock"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
)

const name = "global.anthropic.claude-sonnet-4-6"

func open(url string) model.Generator {
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(modeltest.Secret, "secret", "")}
	return bedrock.New(bedrock.Config{AWS: cfg, BaseURL: url, Model: name, HTTP: provider.VendorClient()})
}

// signer is the access key that signed a request: inside AWS the role does.
func signer(h http.Header) string {
	_, credential, _ := strings.Cut(h.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	id, scope, _ := strings.Cut(credential, "/")
	if !strings.Contains(scope, "/us-east-1/bedrock/aws4_request") {
		return ""
	}
	return id
}

const good = `{"output":{"message":{"role":"assistant","content":[{"text":%TEXT%}]}},"stopReason":"end_turn",
	"usage":{"inputTokens":12,"outputTokens":7,"totalTokens":2119,"cacheReadInputTokens":2000,"cacheWriteInputTokens":100},"metrics":{"latencyMs":1}}`

func TestContract(t *testing.T) {
	modeltest.Run(t, modeltest.Wire{
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
		CutOff:  `{"output":{"message":{"role":"assistant","content":[{"text":%TEXT%}]}},"stopReason":"max_tokens"}`,
		Refused: `{"output":{"message":{"role":"assistant","content":[]}},"stopReason":"content_filtered"}`,
		Usage:   model.Usage{Provider: "bedrock", Model: name, Input: 112, Cached: 2000, Written: 100, Output: 7},
		Error:   `{"message":"himitsu no irai"}`,
		Header:  map[string]string{"X-Amzn-ErrorType": "%CODE%"},
		Codes: map[int]string{
			400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
			429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException",
		},
	})
}

// A model that takes no schema and no cache is asked in words.
func TestAModelThatTakesLess(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, string(body))
		if strings.Contains(string(body), "outputConfig") || strings.Contains(string(body), "cachePoint") {
			w.Header().Set("X-Amzn-ErrorType", "ValidationException")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"message":"This model doesn't support the outputConfig field."}`)
			return
		}
		io.WriteString(w, strings.ReplaceAll(good, "%TEXT%", `"{}"`))
	}))
	defer s.Close()
	r, err := open(s.URL).Generate(t.Context(), modeltest.Request())
	if err != nil || r.Text != "{}" || len(asked) != 2 {
		t.Fatalf("%+v, %v, asked %d times", r, err, len(asked))
	}
	var plain struct {
		System []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(asked[1]), &plain); err != nil || len(plain.System) != 1 || !strings.Contains(plain.System[0].Text, `"required":["a"]`) {
		t.Errorf("%v: %s", err, asked[1])
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
	_, err := open(s.URL).Generate(t.Context(), modeltest.Request())
	if f := model.Failure(err); f.Reason != "model_unknown" || f.Detail != name || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// Outside of AWS there is no role, but a key, which goes over TLS alone.
func TestAKeyInsteadOfARole(t *testing.T) {
	var sent string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		io.WriteString(w, strings.ReplaceAll(good, "%TEXT%", `"{}"`))
	})
	ask := func(s *httptest.Server) error {
		defer s.Close()
		c := bedrock.New(bedrock.Config{AWS: aws.Config{Region: "us-east-1"}, BaseURL: s.URL, Model: name, Key: modeltest.Secret, HTTP: s.Client()})
		_, err := c.Generate(t.Context(), modeltest.Request())
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
