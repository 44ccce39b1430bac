package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

func TestPrintingModelKeysShowsNothing(t *testing.T) {
	s := secret.ModelSecret{
		Anthropic: "sk-planted", OpenAI: "sk-planted", Bedrock: "sk-planted",
		Compatible: map[string]secret.ModelEndpoint{"box": {URL: "https://user:planted@example.com", Key: "sk-planted"}},
	}
	for _, v := range []any{s, &s, s.Compatible, s.Compatible["box"]} {
		b, err := json.Marshal(v)
		text := fmt.Sprintf("%v %+v %#v %s %s %v", v, v, v, v, b, err)
		expect.That(t, !strings.Contains(text, "planted"), "it shows %s", text)
	}
}
