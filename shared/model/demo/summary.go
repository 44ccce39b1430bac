package demo

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// maxSummary is the most characters of a summary. maxPeriod of them are reserved for each counted period, because the
// pipeline adds the periods that a summary does not state.
const maxSummary, maxPeriod = 1900, 45

// summary reports the counts and addresses that the steps returned. Of several months it has one line each. It leaves out
// lines that don't fit, and says how many.
func summary(in input, r reading) string {
	t, times := r.words, map[string]int{}
	periods, tabs, rows := 0, 0, 0.0
	for _, s := range in.Steps {
		times[s.name()]++
		times[s.Title]++
		if s.Facts["period"] != nil {
			periods++
		}
	}
	several := times[calculated] > 1
	var lines, ends []string
	var url any
	for _, s := range in.Steps {
		said, apart := r.summed(s, times[s.Title], several)
		written, writes := s.Facts["updated_rows"].(float64)
		switch {
		case several && writes:
			tabs, rows, url = tabs+1, rows+written, s.Facts["url"]
		case several && s.Tool == people:
		case apart:
			ends = add(ends, said)
		case said != "" && times[s.name()] > 1 && !several:
			lines = append(lines, s.Title+": "+said)
		case said != "":
			lines = append(lines, said)
		}
	}
	ends = append(r.limits(in.Steps), ends...)
	if tabs > 0 {
		ends = append([]string{fmt.Sprintf(t.Say["sumSheets"], tabs, int(rows), url)}, ends...)
	}
	if several && utf8.RuneCountInString(strings.Join(append(lines[:len(lines):len(lines)], ends...), "\n")) <= maxSummary {
		periods = 0 // each line has its period
	}
	room := maxSummary - maxPeriod*periods - utf8.RuneCountInString(strings.Join(ends, "\n"))
	for i, line := range lines {
		if room -= utf8.RuneCountInString(line) + 1; room < 0 && i > 0 {
			label, value := t.more(len(lines)-i, times[people] > len(r.months), tabs > 0)
			lines = append(lines[:i:i], label+": "+value)
			break
		}
	}
	if lines = append(lines, ends...); len(lines) == 0 {
		lines = []string{t.Say["sumDone"]}
	}
	return legible.Clip(strings.Join(lines, "\n"), maxSummary)
}

const calculated = "calculate_overtime calculate"

// name is the step's tool, with the mode of a calculation.
func (s fact) name() string {
	if mode, ok := s.Facts["mode"].(string); ok {
		return s.Tool + " " + mode
	}
	return s.Tool
}

// summed is what a summary says of a step. apart says that it stands at the end, once.
func (r reading) summed(s fact, times int, several bool) (said string, apart bool) {
	t, f := r.words, s.Facts
	if l := listOf(s.Tool); l != nil {
		return fmt.Sprintf(t.ofList(l, "sum"), f["count"]), false
	}
	averages := func(form string) string {
		if f["over_80h_average"] == nil {
			return ""
		}
		return fmt.Sprintf(form, f["over_80h_average"], f["over_360h"])
	}
	switch s.name() {
	case calculated:
		if several {
			about := strings.Trim(strings.TrimPrefix(s.Title, t.Steps["overtime"].Title), " ()")
			return fmt.Sprintf(t.Say["sumMonth"], about, f["period"], f["total_overtime_hours"], f["over_45h"], f["over_80h"],
				f["over_100h"]) + averages(t.Say["sumMonths"]), false
		}
		return fmt.Sprintf(t.Say["sumOvertime"], f["total_overtime_hours"], f["over_45h"], f["over_80h"], f["over_100h"]) +
			averages(t.Say["sumAverage"]), false
	case "calculate_overtime validate":
		return t.Say["sumValidated"], true
	case "write_rows_to_google_sheet":
		return fmt.Sprintf(t.Say["sumSheet"], f["updated_rows"], f["url"]), false
	case bookRoom:
		room := f["room_name"]
		if room == nil {
			room = f["room_id"]
		}
		return fmt.Sprintf(t.Topics["meeting"]["sum"], room, f["date"], f["start"], f["end"], f["booking_id"]), false
	case placeOrder:
		return fmt.Sprintf(t.Topics["purchase"]["sum"], f["order_number"], f["total"]), false
	case "send_slack_dm":
		if s.Title == t.Steps["tell"].Title {
			return fmt.Sprintf(t.Say["sumTold"], times), true
		}
		return t.Say["sumNotice"], true
	}
	return "", false
}

// limits says which limits can't be checked with the given months, for the table with the most months. The tool's note
// says the same, but in the workspace's language.
func (r reading) limits(steps []fact) []string {
	most := 0.0
	for _, s := range steps {
		if months, ok := s.Facts["months"].(float64); ok && s.Facts["note"] != nil {
			most = max(most, months)
		}
	}
	switch {
	case r.topic != overtime || most == 0:
		return nil
	case most == 1:
		return []string{r.words.Say["sumOne"]}
	}
	return []string{fmt.Sprintf(r.words.Say["sumSeveral"], most)}
}

// more says how many tables were left out and where they are. It counts months if all of them are of one department.
func (t words) more(n int, departments, sheet bool) (label, value string) {
	label, value = t.Say["moreMonths"], t.Say["noSpace"]
	if departments {
		label = t.Say["moreTables"]
	}
	if sheet {
		value = t.Say["seeSheet"]
	}
	return fmt.Sprintf(label, n), value
}
