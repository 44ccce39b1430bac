package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/model"
	"ringi/shared/model/bedrock"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/turn"
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
func talk() chat.Request {
	r := sampled()
	r.System, r.MaxTokens, r.Parallel = "the rules", 1000, true
	own := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	r.Tools = []chat.Tool{{Name: "own", Description: "ours", Schema: own}, {Name: "foreign", Description: "theirs", Schema: own, Foreign: true}}
	r.Said = []chat.Said{
		{Role: model.User, Parts: []chat.Part{{Text: "first"}, {Image: &chat.Image{Type: "image/png", Data: []byte("png")}}}},
		{Role: model.Assistant, Parts: []chat.Part{{Text: "one"}, {Text: "two"}, {Call: &chat.Call{ID: "c1", Name: "own", Input: json.RawMessage(`{"a":"x"}`)}}, {Call: &chat.Call{ID: "c2", Name: "foreign", Input: json.RawMessage(`[`)}}}},
		{Role: model.User, Parts: []chat.Part{{Result: &chat.Result{CallID: "c1", Text: "done"}}, {Result: &chat.Result{CallID: "c2", Text: "no", Failed: true}}, {Text: "and"}, {Text: "then"}}},
	}
	return r
}

// What is sent is what was sent before, to the byte, with the marks up to which vendors cache: behind what is the same in
// many calls, and in a conversation behind the last turn.
func TestWhatIsSentStaysToTheByte(t *testing.T) {
	formed := chat.Request{System: "the rules", MaxTokens: 10, Schema: json.RawMessage(formSchema), Said: []chat.Said{{Role: model.User, Parts: []chat.Part{{Text: "x"}}}}}
	for _, v := range vendors {
		for kind, r := range map[string]chat.Request{"talk": talk(), "formed": formed} {
			sent := &tap{}
			_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).Say(t.Context(), r, func(string) {})
			golden(t, v.name+"-"+kind, sent.body)
		}
		sent := &tap{}
		_, _ = v.of("http://127.0.0.1:1", "k", &http.Client{Transport: sent}).(model.Generator).Generate(t.Context(), modeltest.Request())
		golden(t, v.name+"-once", sent.body)
	}
	sent := &tap{}
	w := bedrock.New(bedrock.Config{AWS: aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "s", "")}, BaseURL: "http://127.0.0.1:1", Model: "m", HTTP: &http.Client{Transport: sent}})
	_, _ = w.Generate(t.Context(), modeltest.Request())
	golden(t, "bedrock-once", sent.body)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/sent/" + name + ".json"
	if *update {
		expect.NoError(t, os.WriteFile(path, got, 0o644))
	}
	if want := expect.Value(os.ReadFile(path))(t); !bytes.Equal(want, got) {
		t.Errorf("%s: sent\n%s\nwant\n%s", name, got, want)
	}
}
