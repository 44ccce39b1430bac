package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

func TestTheModelThatIsAskedFor(t *testing.T) {
	type chosen struct {
		Host       string
		Keys       map[string]any
		Parameters map[string]string
		Allow      []string
	}
	box := func(url, key string) map[string]any {
		return map[string]any{"compatible": map[string]any{"my-box": map[string]string{"url": url, "key": key}}}
	}
	for _, tt := range []struct {
		name, model string
		env         map[string]string
		want        chosen
		refused     string
	}{
		{name: "demo, with keys about", model: "demo", env: map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}},
		{name: "anthropic", model: "anthropic:claude-sonnet-4-6", env: map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"},
			want: chosen{"api.anthropic.com", map[string]any{"anthropic": "a"}, map[string]string{"AnthropicBaseUrl": "https://api.anthropic.com"}, nil}},
		{name: "a bare name, elsewhere", model: "gpt-5.4", env: map[string]string{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "https://gate.example.com/v1/"},
			want: chosen{"gate.example.com", map[string]any{"openai": "o"}, map[string]string{"OpenAiBaseUrl": "https://gate.example.com/v1"}, nil}},
		{name: "bedrock", model: "bedrock:amazon.nova-pro-v1:0", env: map[string]string{"AWS_BEARER_TOKEN_BEDROCK": "b", "AWS_REGION": "ap-northeast-1"},
			want: chosen{"bedrock-runtime.ap-northeast-1.amazonaws.com", map[string]any{"bedrock": "b"}, map[string]string{"BedrockBaseUrl": "https://bedrock-runtime.ap-northeast-1.amazonaws.com"}, nil}},
		{name: "gemini", model: "gemini-2.5-flash", env: map[string]string{"GEMINI_API_KEY": "g"},
			want: chosen{"generativelanguage.googleapis.com", map[string]any{"compatible": map[string]any{"gemini": map[string]string{"url": "https://generativelanguage.googleapis.com/v1beta/openai", "key": "g"}}}, nil, []string{"generativelanguage.googleapis.com:443"}}},
		{name: "on this machine", model: "compatible:my-box/llama3.2:3b", env: map[string]string{"MY_BOX_BASE_URL": "http://127.0.0.1:11434/v1"},
			want: chosen{"127.0.0.1:11434", box("http://127.0.0.1:11434/v1", ""), nil, []string{"127.0.0.1:11434"}}},
		{name: "no key", model: "claude-sonnet-4-6", env: map[string]string{"OPENAI_API_KEY": "o"}, refused: "-model claude-sonnet-4-6 needs ANTHROPIC_API_KEY in the environment"},
		{name: "no role", model: "bedrock:x", refused: "needs AWS_BEARER_TOKEN_BEDROCK"},
		{name: "no address", model: "compatible:my-box/x", refused: "needs MY_BOX_BASE_URL in the environment, such as http://"},
		{name: "an odd address", model: "compatible:my-box/x", env: map[string]string{"MY_BOX_BASE_URL": "localhost"}, refused: "MY_BOX_BASE_URL must be an address"},
		{name: "nobody's", model: "llama3", refused: "anthropic:<model>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o stack.Options
			host, err := useModel(&o, tt.model, func(name string) string { return tt.env[name] })
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want %q in it", err, tt.refused)
				}
				return
			}
			d := cmp.Diff(tt.want, chosen{host, o.ModelKeys, o.Parameters, o.Allow})
			expect.That(t, d == "" && err == nil && o.Model == tt.model, "%v %v", d, err)
		})
	}
}

func TestTheBannerSaysWhereRequestsGo(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "key-planted")
	o, host, err := parse([]string{"-model", "anthropic:claude-sonnet-4-6"}, streams{err: io.Discard})
	expect.Must(t, err == nil && host == "api.anthropic.com", "%v %v", host, err)
	for _, banner := range []string{o.Sandbox.Banner, o.Sandbox.BannerEN} {
		expect.That(t, strings.Contains(banner, "anthropic:claude-sonnet-4-6") && strings.Contains(banner, host) && !strings.Contains(banner, "planted"),
			"%v", banner)
	}
	if got := ready("http://127.0.0.1:3000", "demo", ""); got != "ready http://127.0.0.1:3000" {
		t.Error(got)
	}
	if got := ready("http://127.0.0.1:3000", o.Model, host); got != "ready http://127.0.0.1:3000 with anthropic:claude-sonnet-4-6 at api.anthropic.com" {
		t.Error(got)
	}
	if o, host, err := parse(nil, streams{err: io.Discard}); err != nil || host != "" || o.ModelKeys != nil || strings.Contains(o.Sandbox.BannerEN, "anthropic") {
		t.Errorf("a key alone switches something: %q %v %v", host, o.ModelKeys, err)
	}
}
