package agent_test

import (
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
)

// The default is an agent that can answer, as long as there is one.
func TestWhoAnswersWhenNobodyIsNamedCanAnswer(t *testing.T) {
	for _, tt := range []struct{ lack, want string }{
		{"", "b"}, {"b", "a"}, {"ab", "c"}, {"abc", "b"},
	} {
		var all []agent.Answering
		for _, id := range []string{"a", "b", "c"} {
			x := agent.Answering{ID: id}
			for _, r := range tt.lack {
				if string(r) == id {
					x.Lacks = agent.LacksKey
				}
			}
			all = append(all, x)
		}
		agent.Choose(all, "b")
		for _, x := range all {
			expect.Is(t, x.Default, x.ID == tt.want, "without %q, %s", tt.lack, x.ID)
		}
	}
	agent.Choose(nil, "b")
}
