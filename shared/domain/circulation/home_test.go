package circulation

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// Of a gate with a home only the home's members stamp for the channel, and the hash of how it opened covers the home.
func TestAGateWithAHomeAsksItsMembers(t *testing.T) {
	at := time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)
	g := Gate{Rule: &Rule{ID: "r"}, AskedAt: at, Hours: 24, Asked: "hash", Askers: []Person{{User: "SATO"}}, Home: "CHOME",
		Route: &Route{Form: Form, Hands: 1, Stages: []Stage{{Name: "みんな", Mode: ModeChannel, Need: 1}}}}
	for name, c := range map[string]struct {
		home, found string
		lacks       Lack
	}{
		"a member of the home":                  {"CHOME", "CHOME", ""},
		"a member of another channel":           {"CHOME", "C1", LackChannel},
		"of no channel":                         {"CHOME", "", LackChannel},
		"a member of the channel, without home": {"", "C1", ""},
	} {
		x, tanaka := g, Person{User: "TANAKA"}
		x.Home = c.home
		err := Admit(x, Walk(x), Act{Form: Form, Kind: Stamp, Hand: tanaka, Principal: tanaka, At: at, Stage: 1, Hash: "hash",
			Surface: "slack", Found: Found{Channel: c.found}})
		refused, is := errors.AsType[*Refusal](err)
		expect.That(t, is == (c.lacks != "") && (!is || refused.Lacks == c.lacks && refused.Home == c.home), "%s: %+v", name,
			err)
	}
	without := g
	without.Home = ""
	expect.That(t, RouteHash(g) != RouteHash(without), "the home is no part of the hash")
}
