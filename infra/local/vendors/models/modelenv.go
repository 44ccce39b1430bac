package models

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/teamconfig"
	"strings"
)

// vendor has the environment variables that a model needs.
type vendor struct {
	keys       []string // names of the key's variables; the first that is set counts
	base       string   // name of the variable that overrides the usual address
	usual      string
	parameter  string
	keyIsAMust bool
}

func vendorOf(n aggregate.ModelName, env func(string) string) vendor {
	switch n.Provider {
	case aggregate.Compatible:
		prefix := strings.ToUpper(strings.ReplaceAll(n.Endpoint, "-", "_"))
		v := vendor{keys: []string{prefix + "_API_KEY"}, base: prefix + "_BASE_URL",
			usual: teamconfig.EndpointAddress(n.Endpoint)}
		switch n.Endpoint {
		case aggregate.Gemini:
			v.keys, v.keyIsAMust = append(v.keys, "GOOGLE_API_KEY"), true
		case aggregate.Grok:
			v.keys, v.keyIsAMust = append(v.keys, "XAI_API_KEY"), true
		}
		return v
	case aggregate.Anthropic:
		return vendor{[]string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "AnthropicBaseUrl", true}
	case aggregate.OpenAI:
		return vendor{[]string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", "https://api.openai.com/v1", "OpenAiBaseUrl", true}
	case aggregate.Bedrock: // the stack has no role, so it needs a key
		region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
		return vendor{[]string{"AWS_BEARER_TOKEN_BEDROCK"}, "BEDROCK_BASE_URL", "https://bedrock-runtime." + region + ".amazonaws.com", "BedrockBaseUrl", true}
	}
	return vendor{keyIsAMust: true}
}

type Access struct {
	Key       string
	Address   string // https://host/v1
	Host      string // host of the address, with its port if it has one
	Dial      string // host:port
	Parameter string // template parameter for the address; empty for a compatible model
}

// Of parses the name of a model and reads what is needed to call it from the environment. If a variable is missing, the
// error names it. The demo model needs no variables.
func ModelOf(name string, env func(string) string) (n aggregate.ModelName, a Access, err error) {
	if n, err = aggregate.ParseModelName(name); err != nil {
		return n, a, fmt.Errorf("%q: %w", name, err)
	}
	if n.Provider == aggregate.Demo {
		return n, a, nil
	}
	v := vendorOf(n, env)
	for _, variable := range v.keys {
		a.Key = cmp.Or(a.Key, env(variable))
	}
	a.Address, a.Parameter = strings.TrimRight(cmp.Or(env(v.base), v.usual), "/"), v.parameter
	if v.keyIsAMust && a.Key == "" {
		return n, a, fmt.Errorf("%s needs %s in the environment; -model demo needs nothing", name, strings.Join(v.keys, " or "))
	}
	if a.Address == "" {
		return n, a, fmt.Errorf("%s needs %s in the environment, such as http://127.0.0.1:11434/v1, and %s if it wants a key", name, v.base, v.keys[0])
	}
	u, err := url.Parse(a.Address)
	if err != nil || u.Host == "" {
		return n, a, fmt.Errorf("%s: %s must be an address such as https://example.com/v1", name, v.base)
	}
	a.Host, a.Dial = u.Host,
		net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443"))
	return n, a, nil
}
