package demo

import (
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/lazy"
)

// Trouble lists the failures that a request asks for in a contest of drafts.
type Trouble struct {
	Hang       bool // the leader's model never answers
	Refuse     bool // the leader's model declines
	Unscored   bool // the evaluator's model fails
	Slow       time.Duration
	Cost       float64 // of each call, in dollars
	NeverStops bool    // the judge always wants another round
}

// "demo: hang team-b" makes that team's leader hang, "demo: refuse team-b" makes it decline, "demo: unscored team-b"
// makes the team's evaluator fail. With "round 2" at the end this happens in that round only. "demo: slow 3" makes each
// call of a contest take 3 seconds, "demo: cost 0.10 contest" makes it cost 0.10 dollars, and "demo: play on" lets
// teams play all rounds.
var (
	troubleForm = &lazy.Regexp{Text: `(?i)demo:\s*(hang|refuse|unscored)\s+([\w.-]*\w)(?:\s+round\s+(\d{1,2}))?`}
	slowForm    = &lazy.Regexp{Text: `(?i)demo:\s*slow\s+(\d{1,3}(?:\.\d{1,3})?)`}
	playOnForm  = &lazy.Regexp{Text: `(?i)demo:\s*play on`}
)

// TroubleOf reads the troubles that a request asks for in one team and round.
func TroubleOf(request, team string, round int) (t Trouble) {
	for _, m := range troubleForm.Get().FindAllStringSubmatch(request, -1) {
		if m[2] != team || m[3] != "" && m[3] != strconv.Itoa(round) {
			continue
		}
		switch strings.ToLower(m[1]) {
		case "hang":
			t.Hang = true
		case "refuse":
			t.Refuse = true
		default:
			t.Unscored = true
		}
	}
	if m := slowForm.Get().FindStringSubmatch(request); m != nil {
		s, _ := strconv.ParseFloat(m[1], 64) // of digits and a point
		t.Slow = time.Duration(s * float64(time.Second))
	}
	if m := costForm.Get().FindStringSubmatch(request); m != nil && (m[2] == "" || strings.ToLower(m[2]) == "contest") {
		t.Cost, _ = strconv.ParseFloat(m[1], 64) // likewise
	}
	t.NeverStops = playOnForm.Get().MatchString(request)
	return t
}

// Plain removes the markers ("demo: …") from a text.
func Plain(text string) string { return strings.TrimSpace(anyForm.Get().ReplaceAllString(text, "")) }
