package demo

import (
	"cmp"
	"maps"
	"strings"

	"ringi/shared/words/legible"
)

// maxSummary is the most characters of a summary.
const maxSummary = 1900

// results are the names in the words of steps' results, by tool and the mode of a calculation.
var results = map[string]string{judge + "calculate": "calculate", judge + "validate": "validate", writeRows: "sheet",
	bookRoom: "room", placeOrder: "order", sendDM: "notice"}

// summary reports the counts and addresses that the steps returned. Of several months it has one line each. Which
// limits can't be checked with the given months it says in the request's language, which the tool's note may not have.
func summary(in input, w *wish) string {
	t, times, rows, most, lines := w.words, map[string]int{}, 0.0, 0.0, []string{}
	name := func(s fact) string {
		mode, _ := s.Facts["mode"].(string) // others have none
		if s.Tool == sendDM && s.Title == t.Steps["tell"].Title {
			return "tell"
		}
		return cmp.Or(results[s.Tool+mode], s.Tool)
	}
	for _, s := range in.Steps {
		times[name(s)]++
		written, _ := s.Facts["updated_rows"].(float64)
		months, _ := s.Facts["months"].(float64)
		rows, most = rows+written, max(most, months)
	}
	several := times["calculate"] > 1
	say := func(name string, times int, about string, f map[string]any) {
		said := t.text("sum", map[string]any{"name": name, "times": times, "about": about, "f": f, "several": several,
			"average": f["over_80h_average"] != nil})
		if said != "" {
			lines = add(lines, said)
		}
	}
	for _, s := range in.Steps {
		f, of := maps.Clone(s.Facts), name(s)
		for _, l := range allLists() {
			said := l.of(t, "sum", "count", f["count"])
			if times[of] > 1 {
				said = s.Title + ": " + said
			}
			if l.Name == s.Tool && !several {
				lines = append(lines, said)
			}
		}
		if of == "sheet" && times["sheet"] > 1 {
			of, f["updated_rows"] = "sheets", int(rows)
		}
		say(of, times[name(s)], strings.Trim(strings.TrimPrefix(s.Title, t.Steps["overtime"].Title), " ()"), f)
	}
	if most > 0 && w.topic == "overtime" {
		say(map[bool]string{true: "one", false: "limits"}[most == 1], 0, "", map[string]any{"months": most})
	}
	if len(lines) == 0 {
		say("done", 0, "", nil)
	}
	return legible.Clip(strings.Join(lines, "\n"), maxSummary)
}
