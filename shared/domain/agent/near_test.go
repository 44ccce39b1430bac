package agent_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
)

func TestANearMissOfAnIDIsSeen(t *testing.T) {
	defs := append(agent.BuiltIn(), agent.Definition{ID: "codec"}, agent.Definition{ID: "hr"})
	for word, want := range map[string]string{
		"claud": "claude", "claudee": "claude", "cloude": "claude", "cluade": "claude", "Claud": "claude", "laude": "claude",
		"codx": "codex", "code": "codex codec", "codey": "codex codec",
		"claude": "", "codex": "", "cloud": "", "メモ": "", "h": "", "hrs": "", "": "", "memo": "", "claude-code": "",
		"edualc": "",
	} {
		var got []string
		for _, d := range agent.Near(defs, word) {
			got = append(got, d.ID)
		}
		expect.Is(t, strings.Join(got, " "), want, word)
	}
}
