package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// topic is what a message is about.
type topic int

const (
	other topic = iota
	attendance
	overtime
	employees
	meeting
)

// wish is what the demo understands of a message and of the rejections so far.
type wish struct {
	topic      topic
	now        time.Time
	year       int
	month      time.Month
	words      words
	department string // that the message names, empty for all
	text       string // the message without mentions and markers
	priority   string
	humanCheck bool
	validate   bool
	noNotice   bool
	noSheet    bool
	remarks    []string // reasons that are none of the above, oldest first
}

var (
	mentionForm = form(`<[@!#][^>]*>`)
	spaceForm   = form(`\s+`)
	// departmentForm knows those of the local stack's company.
	departmentForm = form(`(人事|営業|開発)部|第一営業課`)
)

func wishOf(in input) (wish, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return wish{}, fmt.Errorf("read the data: now: %w", err)
	}
	text := anyForm().ReplaceAllString(mentionForm().ReplaceAllString(in.Message, " "), " ")
	w := wish{now: now, text: strings.TrimSpace(spaceForm().ReplaceAllString(text, " ")), words: japanese}
	if english := isEnglish(w.text, in.Locale); english {
		w.words = englishWords
	}
	low := strings.ToLower(w.text)
	switch {
	case has(low, "残業", "時間外", "overtime"):
		w.topic = overtime
	case has(low, "勤怠", "出勤", "労働時間", "attendance", "timesheet", "working hours"):
		w.topic = attendance
	case has(low, "従業員", "社員", "名簿", "employee", "staff"):
		w.topic = employees
	case has(low, "会議室", "meeting room"):
		w.topic = meeting
	}
	w.year, w.month = monthIn(low, now)
	w.department = departmentForm().FindString(w.text)
	w.priority = priorityOf(low)
	w.humanCheck = has(strings.ToLower(in.Message), "demo: human check", "demo:human check")
	for _, v := range in.Earlier {
		w.reject(v.Reason)
	}
	w.follow(in.Policy)
	return w, nil
}

// reject takes a rejection's reason in.
func (w *wish) reject(reason string) {
	low := strings.ToLower(reason)
	known := false
	for _, r := range []struct {
		flag *bool
		on   bool
	}{
		{&w.validate, has(low, "検証", "validat", "verif")},
		{&w.noNotice, has(low, "通知は不要", "通知不要", "通知しない", "通知なし", "no notification", "don't notify", "without notification")},
		{&w.noSheet, has(low, "シートは不要", "シート不要", "シートなし", "書き込まない", "no sheet", "without the sheet", "don't write")},
		{&w.humanCheck, has(low, "確認", "目視", "チェック", "human check", "confirm", "review")},
	} {
		if r.on {
			*r.flag, known = true, true
		}
	}
	if reason = oneLine(reason); !known && reason != "" && !slices.Contains(w.remarks, reason) {
		w.remarks = append(w.remarks, reason)
	}
}

// follow keeps to an approved policy of the demo's own, by the very lines it wrote.
func (w *wish) follow(policy string) {
	for _, words := range []words{japanese, englishWords} {
		w.validate = w.validate || strings.Contains(policy, words.validateLine)
		w.noNotice = w.noNotice || strings.Contains(policy, words.noNoticeLine)
		w.noSheet = w.noSheet || strings.Contains(policy, words.noSheetLine)
		w.humanCheck = w.humanCheck || strings.Contains(policy, words.humanLine)
		for said := range strings.SplitSeq(policy, "\n") {
			if remark, ok := words.promised(said); ok && !slices.Contains(w.remarks, remark) {
				w.remarks = append(w.remarks, remark)
			}
		}
	}
}

// promised finds the remark that a policy's line promises to take into the steps.
func (t words) promised(said string) (remark string, ok bool) {
	open, shut, _ := strings.Cut(t.quote, "%s")
	before, after, _ := strings.Cut(t.reflectedIn, "%s")
	said, ok = strings.CutPrefix(said, "• "+before+open)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(said, shut+after)
}

// isEnglish: no kana or kanji, and some Latin letter; a text with neither follows the locale.
func isEnglish(text, locale string) bool {
	latin := false
	for _, r := range text {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) {
			return false
		}
		latin = latin || unicode.In(r, unicode.Latin)
	}
	return latin || locale == "en"
}

func priorityOf(low string) string {
	switch {
	case has(low, "至急", "緊急", "urgent", "asap"):
		return "urgent"
	case has(low, "急ぎ", "早めに", "high priority"):
		return "high"
	case has(low, "急がない", "時間のあるとき", "no hurry", "low priority"):
		return "low"
	}
	return "medium"
}

var (
	yearMonthForm = form(`(20[0-9]{2})\s*[年/-]\s*(1[0-2]|0?[1-9])(?:[^0-9]|$)`)
	monthForm     = form(`(?:^|[^0-9])(1[0-2]|0?[1-9])\s*月`)
	nameForm      = form(`\b(january|february|march|april|june|july|august|september|october|november|december|(?:in|for|of) may)\b(?:\s+(20[0-9]{2}))?`)
)

// monthIn finds the month that a text means, seen from when it was written. A
// month without a year is the latest one that has begun.
func monthIn(low string, now time.Time) (int, time.Month) {
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	if m := yearMonthForm().FindStringSubmatch(low); m != nil {
		year, _ := strconv.Atoi(m[1])
		month, _ := strconv.Atoi(m[2])
		return year, time.Month(month)
	}
	switch {
	case has(low, "先々月"):
		first = first.AddDate(0, -2, 0)
	case has(low, "先月", "前月", "last month", "previous month"):
		first = first.AddDate(0, -1, 0)
	case monthForm().MatchString(low):
		month, _ := strconv.Atoi(monthForm().FindStringSubmatch(low)[1])
		return latest(time.Month(month), now), time.Month(month)
	case nameForm().MatchString(low):
		m := nameForm().FindStringSubmatch(low)
		month := monthNamed(m[1][strings.LastIndex(m[1], " ")+1:])
		if year, err := strconv.Atoi(m[2]); err == nil {
			return year, month
		}
		return latest(month, now), month
	}
	return first.Year(), first.Month()
}

func latest(m time.Month, now time.Time) int {
	if m > now.Month() {
		return now.Year() - 1
	}
	return now.Year()
}

func monthNamed(name string) time.Month {
	for m := time.January; m < time.December; m++ {
		if strings.EqualFold(m.String(), name) {
			return m
		}
	}
	return time.December
}

func has(text string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
}

// oneLine is a text on one line, cut to what a title can quote.
func oneLine(s string) string {
	r := []rune(strings.TrimSpace(spaceForm().ReplaceAllString(s, " ")))
	if len(r) > 60 {
		r = append(r[:59], '…')
	}
	return string(r)
}
