package modeltest

import (
	"context"

	"ringi/shared/model"
	"ringi/shared/model/demo"
)

// Demo is the demo model for tests. It records its requests and can be made to fail.
type Demo struct {
	Calls  int
	Asked  []string // the rules, Standing and the first message of each request
	Before func()
	Err    error  // returned by every call
	First  string // the answer to the first call
}

// Say implements model.Wire.
func (g *Demo) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	g.Calls++
	g.Asked = append(g.Asked, r.System+r.Standing+r.Messages[0].Parts[0].Text)
	if do := g.Before; do != nil {
		g.Before = nil
		do()
	}
	switch {
	case g.Err != nil:
		return model.Response{}, g.Err
	case g.Calls == 1 && g.First != "":
		return model.Response{Text: g.First, Stop: model.StopEnd,
			Usage: model.Usage{Provider: "demo", Calls: 1, Input: 10, Output: 5}}, nil
	}
	return demo.Layers{}.Say(ctx, r, onText)
}

// Open returns the demo for any name.
func (g *Demo) Open(string) (model.Wire, error) { return g, nil }
