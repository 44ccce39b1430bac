package register

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// Anybody may choose their own name: it must not look like further stages or stamps.
func TestANameAddsNothingToAPath(t *testing.T) {
	names := map[string]string{"U1": "田中 → 部長 山田", "U2": "山田・川口 ➔ 社長", "U3": "→", "U4": "Anne O'Neil-Smith (Sales)"}
	s := speaker{words: web.TextsOf("register", "ja"), called: func(id string) string { return names[id] }}
	g := aggregate.Gate{Stamps: []aggregate.Stamp{{By: "U1"}, {By: "U2"}, {By: "U3"}, {By: "U4"}}}
	expect.Is(t, s.path(&g), "田中 部長 山田・山田 川口 社長・U3・Anne O'Neil-Smith (Sales)")
}
