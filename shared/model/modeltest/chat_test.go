package modeltest

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestWhatOpenAIDoesNotPublishIsFound(t *testing.T) {
	const good = `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
		`"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","content":"x","refusal":null}}]}`
	expect.That(t, len(Completion(good)) == 0, "%v", Completion(good))
	for was, is := range map[string]string{
		`"id":"a",`:       ``,
		`"created":1`:     `"created":"1"`,
		`"index":0`:       `"index":0,"more":1`,
		`chat.completion`: `chat`,
		`"model":"m"`:     `"model":null`,
		`,"refusal":null`: ``,
		`"content":"x"`:   `"content":"x","tool_calls":[{"id":"c"}]`,
	} {
		body := strings.Replace(good, was, is, 1)
		expect.That(t, len(Completion(body)) > 0, "%s is taken", body)
	}
	expect.That(t, len(ChatFailure(`{"error":{"message":"m","type":"t","param":null}}`)) > 0, "an error without a code")
}
