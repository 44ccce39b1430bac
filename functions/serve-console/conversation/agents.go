package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/modelname"
	"ringi/shared/explain/errorclass"
	"ringi/shared/words/legible"
)

// Agents says which agents of a tenant can answer. The console has no access to models' keys.
type Agents interface {
	Answering(ctx context.Context, tenant string) ([]agent.Answering, error)
}

// askedWithin bounds the question, since somebody waits for the page.
const askedWithin = 8 * time.Second

// answerMessage calls the function that has the keys.
type answerMessage struct {
	lambda   *lambda.Client
	function string
}

func Function(cfg aws.Config, function string) Agents {
	return answerMessage{lambda.NewFromConfig(cfg), function}
}

func (m answerMessage) Answering(ctx context.Context, tenant string) ([]agent.Answering, error) {
	payload, err := json.Marshal(agent.Asked{Tenant: tenant})
	if err != nil {
		return nil, err
	}
	said, err := m.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &m.function, Payload: payload})
	if err != nil {
		return nil, fmt.Errorf("ask answer-message: %w", err)
	}
	if said.FunctionError != nil {
		return nil, fmt.Errorf("answer-message failed: %w", errorclass.ErrUnavailable)
	}
	var out agent.Answered
	err = json.Unmarshal(said.Payload, &out)
	return out.Agents, err
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
		case x.Follows && x.Model == modelname.Demo:
			row.Answers = words.Say("follows_demo")
		case x.Follows:
			row.Answers = words.Say("follows", "model", name)
		}
		if x.Default {
			p.Example = words.Say("example", "agent", x.ID)
		}
	}
}
