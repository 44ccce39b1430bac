package circulation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// AskedText returns what a gate's stamps are on, as JSON: what is asked, the rule and the route.
func AskedText(rule *Rule, route *Route, what ...string) string {
	return textOf([]any{what, rule, route})
}

// Sum returns the hash of AskedText: Gate.Asked.
func Sum(rule *Rule, route *Route, what ...string) string {
	return hashOf(AskedText(rule, route, what...))
}

// OpenedText returns what a walk begins with, as JSON: the gate without its acts.
func OpenedText(g Gate) string {
	g.AskedAt, g.Acts = exact(g.AskedAt), nil
	return textOf(g)
}

// RouteHash returns the hash of OpenedText: by which rule and whom a gate asks, whose request it is, since when and for
// how long.
func RouteHash(g Gate) string { return hashOf(OpenedText(g)) }

// ActText returns an act as JSON.
func ActText(act Act) string {
	act.At = exact(act.At)
	return textOf(act)
}

// Hash returns the hash of acts as a JSON list of their texts.
func Hash(acts []Act) string {
	texts := make([]string, len(acts))
	for i := range acts {
		if texts[i] = ActText(acts[i]); texts[i] == "" {
			return ""
		}
	}
	return hashOf("[" + strings.Join(texts, ",") + "]")
}

// exact returns a time as rows keep it: in UTC and milliseconds.
func exact(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

// textOf returns "" for what JSON can't say: a time outside of the years 0 to 9999.
func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// hashOf returns a text's hexadecimal SHA-256, and "" for none.
func hashOf(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
