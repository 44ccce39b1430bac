package demo

import (
	"fmt"
	"slices"
	"strings"
)

func extract(in input, w wish) map[string]string {
	title := map[topic]string{
		attendance: fmt.Sprintf(w.words.titleAttendance, w.when()),
		overtime:   fmt.Sprintf(w.words.titleOvertime, w.when()),
		employees:  w.words.titleEmployees,
		meeting:    w.words.meeting.title,
		other:      oneLine(w.text),
	}[w.topic]
	description := fmt.Sprintf(w.words.describe, cut(w.text, 2500))
	if w.text == "" {
		title, description = w.words.titleEmpty, w.words.empty
	}
	kind := "standard"
	if w.priority == "urgent" {
		kind = "urgent"
	}
	if wantsHelp(w.text) {
		return map[string]string{"kind": "help", "sentence": w.words.help, "title": "", "description": "", "priority": w.priority, "task_type": kind}
	}
	return map[string]string{"kind": "task", "sentence": "", "title": title, "description": description, "priority": w.priority, "task_type": kind}
}

func (w wish) when() string { return w.words.month(w.year, w.month) }

// withMonth reports whether the topic is about a month's records.
func (w wish) withMonth() bool { return w.topic == attendance || w.topic == overtime }

// tab is the sheet's tab that results go to.
func (w wish) tab() string {
	switch w.topic {
	case attendance:
		return fmt.Sprintf(w.words.tabAttendance, w.year, w.month)
	case overtime:
		return fmt.Sprintf(w.words.tabOvertime, w.year, w.month)
	}
	return w.words.tabEmployees
}

// withSheet reports whether results are written to the sheet.
func (w wish) withSheet() bool { return w.topic != other && w.topic != meeting && !w.noSheet }

func draft(in input, w wish) string {
	t := w.words
	lines := []string{map[topic]string{
		attendance: fmt.Sprintf(t.purposeAttendance, w.when()),
		overtime:   fmt.Sprintf(t.purposeOvertime, w.when()),
		employees:  t.purposeEmployees,
		other:      fmt.Sprintf(t.purposeOther, oneLine(w.text)),
	}[w.topic], t.scope}
	if w.department != "" {
		lines[1] = fmt.Sprintf(t.scopeOf, w.department)
	}
	how, privacy := []string{t.readEmployees}, t.privacy
	if w.topic == meeting {
		lines, how = w.meetingPolicy()
		privacy = t.meeting.privacy
	}
	if w.withMonth() {
		lines = append(lines, fmt.Sprintf(t.period, w.when()))
	}
	if w.withMonth() {
		how = append(how, t.readAttendance)
	}
	if w.validate {
		how = append(how, t.validateLine)
	}
	if w.withMonth() {
		how = append(how, t.calculate)
	}
	switch {
	case w.withSheet():
		how = append(how, fmt.Sprintf(t.sheetLine, w.tab()))
	case w.noSheet:
		how = append(how, t.noSheetLine)
	}
	if w.noNotice {
		how = append(how, t.noNoticeLine)
	} else {
		how = append(how, t.noticeLine)
	}
	if w.humanCheck {
		how = append(how, t.humanLine)
	}
	lines = append(lines, t.how)
	for i, h := range how {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, h))
	}
	lines = append(lines, privacy)
	return strings.Join(append(lines, remarks(in, w)...), "\n")
}

// remarks lists the reasons for which versions were rejected, and what became of them.
func remarks(in input, w wish) []string {
	if len(in.Earlier) == 0 {
		return nil
	}
	lines := []string{w.words.earlier}
	for _, v := range in.Earlier {
		reason := oneLine(v.Reason)
		said := w.words.reflected
		if slices.Contains(w.remarks, reason) {
			said = w.words.reflectedIn
		}
		lines = append(lines, "• "+fmt.Sprintf(said, fmt.Sprintf(w.words.quote, reason)))
	}
	return lines
}

// summary tells the counts and addresses that the steps returned.
func summary(in input, w wish) string {
	t := w.words
	var lines []string
	for _, s := range in.Steps {
		f := s.Facts
		switch s.Tool {
		case "list_employees":
			lines = append(lines, fmt.Sprintf(t.sumEmployees, f["count"]))
		case "calculate_overtime":
			if f["mode"] == "validate" {
				lines = append(lines, t.sumValidated)
				continue
			}
			lines = append(lines, fmt.Sprintf(t.sumOvertime, f["total_overtime_hours"]),
				fmt.Sprintf(t.sumOver, f["over_45h"], f["over_80h"], f["over_100h"]))
			if note, ok := f["note"].(string); ok && w.topic == overtime {
				lines = append(lines, note)
			}
		case "write_rows_to_google_sheet":
			lines = append(lines, fmt.Sprintf(t.sumSheet, f["updated_rows"], f["url"]))
		case bookRoom:
			lines = append(lines, fmt.Sprintf(t.meeting.sum, f["room_id"], f["date"], f["start"], f["end"], f["booking_id"]))
		case "send_slack_dm":
			lines = append(lines, t.sumNotice)
		}
	}
	if len(lines) == 0 {
		lines = []string{t.sumDone}
	}
	return cut(strings.Join(slices.Compact(lines), t.separator), 1900)
}

func cut(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}
