package aggregate

import (
	"errors"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"ringi/shared/runtime/expect"
)

// An id source that counts up within a millisecond would produce ids with equal beginnings.
func TestNewIDsOfOneMomentAreUnrelated(t *testing.T) {
	seen := map[[4]byte]bool{}
	for range 200 {
		id := expect.Value(ulid.ParseStrict(NewID()))(t)
		begin := [4]byte(id.Entropy()[:4])
		expect.Must(t, !seen[begin], "two ids begin their random part with %x", begin)
		seen[begin] = true
	}
}

func TestVendorsAreNamedWithTheirEndpoint(t *testing.T) {
	for name, want := range map[string]string{"gpt-5.4": "openai", "gemini-2.5-flash": "compatible.gemini",
		"compatible:my_box/x": "compatible.my_box", "demo": "demo"} {
		expect.Is(t, expect.Value(ParseModelName(name))(t).Vendor(), want)
	}
}

func TestParseModel(t *testing.T) {
	for name, want := range map[string]ModelName{
		"claude-sonnet-4-6":                          {"anthropic", "", "claude-sonnet-4-6"},
		"anthropic:claude-sonnet-4-6":                {"anthropic", "", "claude-sonnet-4-6"},
		"gpt-5.4-mini":                               {"openai", "", "gpt-5.4-mini"},
		"o3":                                         {"openai", "", "o3"},
		"openai:ft:gpt-5.4:acme::1a2b":               {"openai", "", "ft:gpt-5.4:acme::1a2b"},
		"gemini-2.5-flash":                           {"compatible", "gemini", "gemini-2.5-flash"},
		"google-gla:gemini-2.5-flash-lite":           {"compatible", "gemini", "gemini-2.5-flash-lite"},
		"compatible:ollama/llama3.2:3b":              {"compatible", "ollama", "llama3.2:3b"},
		"compatible:hub/meta-llama/Llama-3.3":        {"compatible", "hub", "meta-llama/Llama-3.3"},
		"compatible:my_agent/my_agent":               {"compatible", "my_agent", "my_agent"},
		"bedrock:global.anthropic.claude-sonnet-4-6": {"bedrock", "", "global.anthropic.claude-sonnet-4-6"},
		"bedrock:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0": {
			"bedrock", "", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"},
		"grok:grok-4":                {"compatible", "grok", "grok-4"},
		"grok-responses:grok-4-fast": {"compatible", "grok", "grok-4-fast"},
		"demo":                       {"demo", "", ""},
		"demo:any":                   {"demo", "", "any"},
	} {
		got, err := ParseModelName(name)
		expect.That(t, err == nil && got == want, "%s: %+v, %v", name, got, err)
		if again, err := ParseModelName(got.String()); err != nil || again != want {
			t.Errorf("%s in full is %s, which is read as %+v, %v", name, got, again, err)
		}
	}
	for _, name := range []string{
		"", "llama3.2:3b", "demonstration", "anthropic", "anthropic:", "openai: gpt-5", "bedrock:", "mistral:large", "Claude-sonnet", "oslo",
		"compatible:llama", "compatible:/x", "compatible:Ollama/x", "compatible:../x", "compatible:_x/x", "compatible:a/", "google-gla:", "grok:", "grok", "google-vertex:gemini-2.5-flash", "claude-sonnet 4", "claude-\n", "demo:a b",
		"gpt-" + strings.Repeat("5", 200), "anthropic:../../v1/messages?x", "anthropic:/etc",
	} {
		got, err := ParseModelName(name)
		var field ErrField
		if !errors.As(err, &field) || field.Field != "model" {
			t.Errorf("%q is read as %+v, %v", name, got, err)
			continue
		}
		for _, provider := range ModelProviders {
			expect.That(t, strings.Contains(field.Limit, provider), "%q: the refusal does not name %s", name, provider)
		}
	}
}
