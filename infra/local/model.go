package main

import (
	"fmt"

	"ringi/infra/local/modelenv"
	"ringi/infra/local/stack"
	"ringi/shared/domain/modelname"
)

// useModel makes the stack think with a model whose key the environment has. Only
// this model's key is taken: a key alone switches nothing. It returns the host that
// requests will go to, empty for the demo model.
func useModel(o *stack.Options, name string, env func(string) string) (host string, err error) {
	n, a, err := modelenv.Of(name, env)
	if err != nil {
		return "", fmt.Errorf("-model %w", err)
	}
	o.Model = name
	switch {
	case n.Provider == modelname.Demo:
	case a.Parameter != "":
		o.Parameters = map[string]string{a.Parameter: a.Address}
		o.ModelKeys = map[string]any{n.Provider: a.Key}
	default:
		o.ModelKeys = map[string]any{"compatible": map[string]any{n.Endpoint: map[string]string{"url": a.Address,
			"key": a.Key}}}
		o.Allow = append(o.Allow, a.Dial) // it may well run on this machine or beside it
	}
	return a.Host, nil
}

// announce says on the sandbox's page what thinks, and where requests go.
func announce(o *stack.Options, host string) {
	if host == "" {
		return
	}
	o.Sandbox.Banner = fmt.Sprintf("%s を使っています。依頼文とツールの結果は %s に送られ、料金がかかることがあります。", o.Model, host)
	o.Sandbox.BannerEN = fmt.Sprintf("This runs on %s. Requests and the tools' results are sent to %s, which may cost money.", o.Model, host)
}
