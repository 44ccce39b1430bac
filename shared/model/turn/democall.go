package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/lazy"
)

var (
	demoJoined = lazy.Regexp{Text: `(?i)入社|入った人|\b(?:joiners?|joined|new hires?)\b`}
	demoMonth  = lazy.Regexp{Text: `(?i)(\d{1,2})\s*月|\b(january|february|march|april|may|june|july|august|september|october|november|december)\b`}
	demoOf     = lazy.Regexp{Text: `「([^」]{1,100})」|“([^”]{1,100})”`}
)

// demoCall returns the call of a tool that answers who joined, if a person asks that in plain words.
func demoCall(text, summary string) (input string, ok bool) {
	if !demoJoined.Get().MatchString(text) {
		return "", false
	}
	arguments := map[string]any{"department": nil, "status": "all"}
	if m := demoOf.Get().FindStringSubmatch(text); m != nil {
		arguments["department"] = m[1] + m[2]
	}
	inner, err := json.Marshal(arguments)
	if err != nil {
		return "", false
	}
	return `{"tool":"list_employees","arguments":` + quoted(string(inner)) + `,"summary":` + quoted(summary) + `}`, true
}

// demoMonthOf returns the month that a text names; 0: none.
func demoMonthOf(text string) time.Month {
	m := demoMonth.Get().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n <= 12 {
		return time.Month(n)
	}
	for n := time.January; n <= time.December; n++ {
		if strings.EqualFold(n.String(), m[2]) {
			return n
		}
	}
	return 0
}

// demoCounted says who joined in the month that the person asked for, by what a call returned; false: it returned no
// employees.
func demoCounted(result, asked string, in func(ja, en string) string) (string, bool) {
	at := strings.Index(result, "{")
	if at < 0 {
		return "", false
	}
	var got struct {
		Employees []struct {
			Name   string `json:"display_name"`
			Joined string `json:"entry_date"`
		}
	}
	if json.NewDecoder(strings.NewReader(result[at:])).Decode(&got) != nil || got.Employees == nil {
		return "", false
	}
	month := demoMonthOf(asked)
	var names []string
	for _, e := range got.Employees {
		if day, err := time.Parse(time.DateOnly, e.Joined); err == nil && (month == 0 || day.Month() == month) {
			names = append(names, e.Name+" ("+e.Joined+")")
		}
	}
	slices.Sort(names)
	return strings.TrimSpace(fmt.Sprintf(in("デモのエージェントです。%d 人のうち、該当するのは %d 人です。", "%[2]d of %[1]d people match."),
		len(got.Employees), len(names)) + "\n" + strings.Join(names, "\n")), true
}
