package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/outbound"
	"ringi/shared/words/legible"
)

// Agents says which agents of a tenant can answer. The console has no access to models' keys.
type Agents interface {
	Answering(ctx context.Context, tenant string) ([]agent.Answering, error)
}

// askedWithin bounds the question, since somebody waits for the page.
const askedWithin = 8 * time.Second

// answerMessage calls the function that has the keys.
type answerMessage struct{ function *outbound.Function }

func Function(cfg aws.Config, name string) Agents {
	return answerMessage{outbound.FunctionAt(cfg, name)}
}

func (m answerMessage) Answering(ctx context.Context, tenant string) ([]agent.Answering, error) {
	var out agent.Answered
	if err := m.function.Call(ctx, agent.Asked{Tenant: tenant}, &out); err != nil {
		return nil, fmt.Errorf("ask answer-message: %w", err)
	}
	return out.Agents, nil
}

// answering adds to the agents whether they can answer, and why not. If that can't be found out, the page says so.
func (p *agentsPage) answering(ctx context.Context, who Agents, v *web.Viewer) {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	all, err := who.Answering(ctx, v.Tenant)
	if err != nil {
		slog.WarnContext(ctx, "which agents can answer is not shown", "err", err)
		p.Unknown = true
		return
	}
	words := v.Texts("agents")
	for i := range p.Agents {
		row := &p.Agents[i]
		at := slices.IndexFunc(all, func(x agent.Answering) bool { return x.ID == row.ID })
		if at < 0 {
			continue
		}
		x := all[at]
		row.Default = x.Default
		switch name := legible.OneLine(x.Model); {
		case x.Lacks != "":
			row.Lacks = words.In("lacks", string(x.Lacks))
			if v.Admin && x.Detail != "" {
				row.Missing = legible.OneLine(x.Detail)
			}
		case x.Follows && x.Model == aggregate.Demo:
			row.Answers = words.Say("follows_demo")
		case x.Follows:
			row.Answers = words.Say("follows", "model", name)
		}
		if x.Default {
			p.Example = words.Say("example", "agent", x.ID)
		}
	}
}
