package main

import (
	"fmt"

	"ringi/infra/local/stack"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
)

// useModel configures the stack's model, whose key comes from the environment. It takes only the key of the named
// model: setting a key does not select a model. It returns the host that requests go to, empty for the demo model.
func useModel(o *stack.Options, name string, env func(string) string) (host string, err error) {
	n, a, err := models.ModelOf(name, env)
	if err != nil {
		return "", fmt.Errorf("-model %w", err)
	}
	o.Model = name
	switch {
	case n.Provider == aggregate.Demo:
	case a.Parameter != "":
		o.Parameters = map[string]string{a.Parameter: a.Address}
		o.ModelKeys = map[string]any{n.Provider: a.Key}
	default:
		o.ModelKeys = map[string]any{"compatible": map[string]any{n.Endpoint: map[string]string{"url": a.Address,
			"key": a.Key}}}
		o.Allow = append(o.Allow, a.Dial) // the model may run on this machine or in its network
	}
	return a.Host, nil
}

// announce names the model and its host on the sandbox's page.
func announce(o *stack.Options, host string) {
	if host == "" {
		return
	}
	o.Sandbox.Banner = fmt.Sprintf("%s を使っています。依頼文とツールの結果は %s に送られ、料金がかかることがあります。", o.Model, host)
	o.Sandbox.BannerEN = fmt.Sprintf("This runs on %s. Requests and the tools' results are sent to %s, which may cost money.", o.Model, host)
}
