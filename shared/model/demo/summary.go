package demo

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// maxSummary is the most characters of a summary. maxPeriod of them are reserved for each counted period, because the
// pipeline adds the periods that a summary does not state.
const maxSummary, maxPeriod = 1900, 45

// summary reports the counts and addresses that the steps returned, table by table. It leaves out tables that don't
// fit, and says how many.
func summary(in input, r reading) string {
	t := r.words
	times, periods, listed := map[string]int{}, 0, 0
	for _, s := range in.Steps {
		times[s.Tool]++
		times[s.Title]++
		if s.Facts["period"] != nil {
			periods++
		}
		if listOf(s.Tool) != nil {
			listed++
		}
	}
	tables, ends := r.tables(in.Steps, times)
	all := utf8.RuneCountInString(strings.Join(append(slices.Concat(tables...), ends...), t.Separator))
	if times["calculate_overtime"] > 1 && all <= maxSummary { // each month's line has its period
		periods = 0
	}
	room := maxSummary - maxPeriod*periods - utf8.RuneCountInString(strings.Join(ends, t.Separator))
	var lines []string
	for i, table := range tables {
		if room -= utf8.RuneCountInString(strings.Join(table, t.Separator)) + 1; room < 0 && i > 0 {
			label, value := t.more(len(tables)-i, listed > 1, times["write_rows_to_google_sheet"] > 0)
			lines = append(lines, label+": "+value)
			break
		}
		lines = append(lines, table...)
	}
	if lines = append(lines, ends...); len(lines) == 0 {
		lines = []string{t.SumDone}
	}
	return legible.Clip(strings.Join(slices.Compact(lines), t.Separator), maxSummary)
}

// tables are the lines about each table. The first table begins with the lines that introduce all of them; ends are
// lines that belong to no table. If there are several tables, each is headed by its step's title.
func (r reading) tables(steps []fact, times map[string]int) (tables [][]string, ends []string) {
	tables = [][]string{nil}
	bare, wrote := true, false // whether the last table has only a list, and whether its rows were written
	var sheets sheetsWritten
	for _, s := range steps {
		if times["calculate_overtime"] > 1 && s.Facts["mode"] == "calculate" {
			tables = append(tables, []string{r.monthly(s)})
			continue
		}
		if times["calculate_overtime"] > 1 && (s.Tool == people || sheets.add(s)) {
			continue
		}
		said, apart := r.summed(s, times[s.Title])
		lists, writes := strings.HasPrefix(s.Tool, "list_") || listOf(s.Tool) != nil, s.Tool == "write_rows_to_google_sheet"
		last := &tables[len(tables)-1]
		switch {
		case len(said) == 0:
			continue
		case apart:
			ends = append(ends, said...)
			continue
		case times[s.Tool] > 1 && (writes && wrote || !writes && !bare || lists && len(*last) > 0):
			tables = append(tables, append([]string{heading(s)}, said...))
		case times[s.Tool] > 1 && (!writes || bare):
			*last = append(append(*last, heading(s)), said...)
		case s.Tool == "calculate_overtime" && bare && len(*last) == 1:
			*last = append([]string{fmt.Sprintf(r.words.SumBoth, strings.TrimRight((*last)[0], ".。"), said[0])}, said[1:]...)
		default:
			*last = append(*last, said...)
		}
		bare, wrote = lists, writes
	}
	return tables, append(append(sheets.lines(r.words), r.judged(steps)...), ends...)
}

// monthly is the line about one of several months: what its table is about, its days, and its numbers.
func (r reading) monthly(s fact) string {
	f, about := s.Facts, strings.Trim(strings.TrimPrefix(s.Title, r.words.OvertimeTitle.Title), " ()")
	text := fmt.Sprintf(r.words.SumMonth, about, f["period"], f["total_overtime_hours"], f["over_45h"], f["over_80h"],
		f["over_100h"])
	if f["over_80h_average"] != nil {
		text += fmt.Sprintf(r.words.SumMonths, f["over_80h_average"], f["over_360h"])
	}
	return text
}

// sheetsWritten counts the tabs and rows that were written to each spreadsheet, by its address.
type sheetsWritten struct {
	urls       []any
	tabs, rows map[any]int
}

// add counts a step that wrote rows. It returns false for any other step.
func (w *sheetsWritten) add(s fact) bool {
	rows, ok := s.Facts["updated_rows"].(float64)
	if s.Tool != "write_rows_to_google_sheet" || !ok {
		return false
	}
	if w.tabs == nil {
		w.tabs, w.rows = map[any]int{}, map[any]int{}
	}
	url := s.Facts["url"]
	if w.tabs[url] == 0 {
		w.urls = append(w.urls, url)
	}
	w.tabs[url]++
	w.rows[url] += int(rows)
	return true
}

func (w *sheetsWritten) lines(t words) (lines []string) {
	for _, url := range w.urls {
		lines = append(lines, fmt.Sprintf(t.SumSheets, w.tabs[url], w.rows[url], url))
	}
	return lines
}

// heading is the line above one of several tables: its step and its period.
func heading(s fact) string {
	if period, ok := s.Facts["period"].(string); ok && period != "" {
		return s.Title + " " + period + ":"
	}
	return s.Title + ":"
}

// summed are the summary's lines about one step. apart says that they belong to no table.
func (r reading) summed(s fact, times int) (lines []string, apart bool) {
	t, f := r.words, s.Facts
	if l := listOf(s.Tool); l != nil {
		return []string{fmt.Sprintf(t.ofList(l, "sum"), f["count"])}, false
	}
	switch s.Tool {
	case "calculate_overtime":
		if f["mode"] == "validate" {
			return []string{t.SumValidated}, true
		}
		lines = []string{fmt.Sprintf(t.SumOvertime, f["total_overtime_hours"]),
			fmt.Sprintf(t.SumOver, f["over_45h"], f["over_80h"], f["over_100h"])}
		if f["over_80h_average"] != nil {
			lines = append(lines, fmt.Sprintf(t.SumAverage, f["over_80h_average"], f["over_360h"]))
		}
		return lines, false
	case "write_rows_to_google_sheet":
		return []string{fmt.Sprintf(t.SumSheet, f["updated_rows"], f["url"])}, false
	case bookRoom:
		room := f["room_name"]
		if room == nil {
			room = f["room_id"]
		}
		return []string{fmt.Sprintf(t.Meeting.Sum, room, f["date"], f["start"], f["end"], f["booking_id"])}, false
	case placeOrder:
		return []string{fmt.Sprintf(t.Order.Sum, f["order_number"], f["total"])}, false
	case "send_slack_dm":
		if s.Title == t.TellTitle.Title {
			return []string{fmt.Sprintf(t.SumTold, times)}, true
		}
		return []string{t.SumNotice}, true
	}
	return nil, false
}

// judged says which limits can't be checked with the given months, for the table with the most months. The tool's note
// says the same, but in the workspace's language.
func (r reading) judged(steps []fact) (lines []string) {
	most := 0
	for _, s := range steps {
		if months, ok := s.Facts["months"].(float64); ok && s.Facts["note"] != nil {
			most = max(most, int(months))
		}
	}
	switch {
	case r.topic != overtime || most == 0:
		return nil
	case most == 1:
		return []string{r.words.SumOne}
	}
	return []string{fmt.Sprintf(r.words.SumSeveral, most)}
}

// more says how many tables were left out and where they are. It counts months if all of them are of one department.
func (t words) more(n int, departments, sheet bool) (label, value string) {
	label, value = t.MoreMonths, t.NoSpace
	if departments {
		label = t.MoreTables
	}
	if sheet {
		value = t.SeeSheet
	}
	return fmt.Sprintf(label, n), value
}
