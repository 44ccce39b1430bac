package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"ringi/infra/local/stack"
	"ringi/shared/model/provider"
	"ringi/shared/modelname"
)

// vendor says which variables of the environment a model needs, by the names that the
// vendors' own tools use.
type vendor struct {
	key        string // the variable of the key
	base       string // the variable of the address, when it is another than usual
	usual      string
	parameter  string // the template's, that takes the address
	keyIsAMust bool
}

func vendorOf(n modelname.Name, env func(string) string) vendor {
	switch n.Provider {
	case modelname.Anthropic:
		return vendor{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "AnthropicBaseUrl", true}
	case modelname.OpenAI:
		return vendor{"OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1", "OpenAiBaseUrl", true}
	case modelname.Bedrock: // there is no role on this machine
		region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
		return vendor{"AWS_BEARER_TOKEN_BEDROCK", "BEDROCK_BASE_URL", "https://bedrock-runtime." + region + ".amazonaws.com", "BedrockBaseUrl", true}
	}
	prefix := strings.ToUpper(strings.ReplaceAll(n.Endpoint, "-", "_"))
	v := vendor{key: prefix + "_API_KEY", base: prefix + "_BASE_URL"}
	if n.Endpoint == modelname.Gemini {
		v.usual, v.keyIsAMust = provider.Gemini, true
	}
	return v
}

// useModel makes the stack think with a model whose key the environment has. Only
// this model's key is taken: a key alone switches nothing. It returns the host that
// requests will go to, empty for the demo model.
func useModel(o *stack.Options, name string, env func(string) string) (host string, err error) {
	n, err := modelname.Parse(name)
	if err != nil {
		return "", fmt.Errorf("-model %q: %w", name, err)
	}
	o.Model = name
	if n.Provider == modelname.Demo {
		return "", nil
	}
	v := vendorOf(n, env)
	key, address := env(v.key), strings.TrimRight(cmp.Or(env(v.base), v.usual), "/")
	if v.keyIsAMust && key == "" {
		return "", fmt.Errorf("-model %s needs %s in the environment; -model demo needs nothing", name, v.key)
	}
	if address == "" {
		return "", fmt.Errorf("-model %s needs %s in the environment, such as http://127.0.0.1:11434/v1, and %s if it wants a key", name, v.base, v.key)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("-model %s: %s must be an address such as https://example.com/v1", name, v.base)
	}
	if v.parameter != "" {
		o.Parameters = map[string]string{v.parameter: address}
		o.ModelKeys = map[string]any{n.Provider: key}
		return u.Host, nil
	}
	o.ModelKeys = map[string]any{"compatible": map[string]any{n.Endpoint: map[string]string{"url": address, "key": key}}}
	// It may well run on this machine or beside it.
	o.Allow = append(o.Allow, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443")))
	return u.Host, nil
}

// announce says on the sandbox's page what thinks, and where requests go.
func announce(o *stack.Options, host string) {
	if host == "" {
		return
	}
	o.Sandbox.Banner = fmt.Sprintf("%s を使っています。依頼文とツールの結果は %s に送られ、料金がかかることがあります。", o.Model, host)
	o.Sandbox.BannerEN = fmt.Sprintf("This runs on %s. Requests and the tools' results are sent to %s, which may cost money.", o.Model, host)
}
