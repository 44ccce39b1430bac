package conversation_test

import (
	"errors"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/store/storetest"
)

// The page says who can answer, with which model, and why others can't. Names of keys are for administrators.
func TestTheListSaysWhichAgentsCanAnswer(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Answers = func(string) ([]agent.Answering, error) {
		return []agent.Answering{
			{ID: "codex", Lacks: agent.LacksKey, Detail: "named-key"},
			{ID: "claude", Model: "bedrock:amazon.nova-pro-v1:0", Follows: true, Default: true},
		}, nil
	}
	admin, member := w.As(webapi.Suzuki), w.As(webapi.Sato)
	admin.Get("/console/agents").Holds(t, "答えられません", "API キーがありません", "named-key", "bedrock:amazon.nova-pro-v1:0", "例: claude:")
	member.Get("/console/agents").Holds(t, "答えられません", "API キーがありません").Lacks(t, "named-key")
	for _, lack := range agent.Lacks {
		w.Answers = func(string) ([]agent.Answering, error) { return []agent.Answering{{ID: "codex", Lacks: lack}}, nil }
		member.Get("/console/agents").Holds(t, "答えられません", map[agent.Lack]string{
			agent.LacksKey: "API キーがありません", agent.LacksModel: "この環境のモデルの API キーも", agent.LacksPrice: "料金が分かりません",
			agent.LacksSecret: "登録し直してください",
		}[lack])
	}
	w.Answers = func(string) ([]agent.Answering, error) { return nil, errors.New("no answer") }
	member.Get("/console/agents").Holds(t, "確認できませんでした", "Codex").Lacks(t, "答えられません")
}
