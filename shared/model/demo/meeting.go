package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
)

// Tools of the local stack's MCP server. An administrator has to allow them first.
const (
	listRooms = "rooms.list_rooms"
	bookRoom  = "rooms.book_room"
)

// meetingWords are the texts about meeting rooms in one language.
type meetingWords struct {
	Title, Purpose, When, Find, Book, Privacy      string
	AssumedDay, AssumedTime, AssumedEnd            string
	ListTitle, BookTitle                           step
	Done, LabelTime, LabelRoom, LabelNumber, Wrong string
	NoTools                                        string // an answer, and the first line of a policy
	Sum, Untitled                                  string
}

// slot is the day and time of a meeting in Japan.
type slot struct {
	day                  time.Time
	start, end           int // minutes of the day
	noDay, noTime, noEnd bool
}

func clock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

var (
	inDaysForm      = &lazy.Regexp{Text: `(?i)(\d{1,2})\s*日後|\bin\s+(\d{1,2})\s+days?\b`}
	dayWordForm     = &lazy.Regexp{Text: `(?i)明々後日|しあさって|一昨日|おととい|昨日|きのう|明後日|あさって|明日|あした|あす|本日|今日|きょう|\b(?:the\s+)?day\s+after\s+tomorrow\b|\btomorrow\b|\btoday\b|\byesterday\b`}
	weekdayForm     = &lazy.Regexp{Text: `(?i)(今週|来週|再来週)?の?\s*([月火水木金土日])曜日?|\b(?:(this|next)\s+|on\s+)?(mon|tues|wednes|thurs|fri|satur|sun)day\b`}
	onDayForm       = &lazy.Regexp{Text: `(?i)(?:(20\d\d)\s*[年/-]\s*)?\b(1[0-2]|0?[1-9])\s*[月/-]\s*([0-3]?\d)日?|\b(` + names + `)\.?\s+([0-3]?\d)(?:st|nd|rd|th)?\b|\b([0-3]?\d)日`}
	lengthForm      = &lazy.Regexp{Text: `(?i)(\d{1,2})\s*時間\s*(半)?|(\d{1,3})\s*分間?|\b(?:for\s+)?(\d{1,2}|an|one|two|half\s+an)\s*(?:-\s*)?(?:hours?|hrs?|h)\b|\b(?:for\s+)?(\d{1,3})\s*(?:minutes?|mins?)\b`}
	at              = `(?:(午前|午後|朝|夜)\s*)?\b(\d{1,2})(?:\s*:\s*([0-5]\d)|\s*時\s*(半|[0-5]?\d\s*分)?)?\s*(a\.?m\.?|p\.?m\.?)?`
	betweenTimeForm = &lazy.Regexp{Text: `(?i)` + at + until + at + `(?:まで)?(?:の?間)?`}
	timeForm        = &lazy.Regexp{Text: `(?i)(?:(午前|午後|朝|夜)\s*)?\b(\d{1,2})(?:\s*:\s*([0-5]\d)|\s*時\s*(半|[0-5]?\d\s*分)?|\s*(am|pm|a\.m\.|p\.m\.))\s*(am|pm)?(?:\b|から|より)?`}
	// roomForm matches the name of a room: a capital letter or a number next to a word for meeting rooms, which was taken
	// out before.
	roomForm = &lazy.Regexp{Text: `\x1f ?(?:[A-Z]|\d{1,4})\b|\b[A-Z] ?\x1f|第\s*\d+ ?\x1f`}
	// likeForm matches what a room is to be like or to have, in either language.
	likeForm = &lazy.Regexp{Text: `(?i)([\p{Han}\p{Katakana}ー々A-Za-z0-9]+)(?:[のがに]?(?:ある|使える|できる|ない|近い|付き|つき)|\p{Hiragana}{0,3}い|\p{Hiragana}{0,3}な|の)\x1f|\b(?:with|in|on|at|near)\s+(?:(?:a|an|the|our)\s+)?([A-Za-z][\w-]*|\d+(?:st|nd|rd|th)\s+floor)`}
	// roomLikeForm matches the word before a room.
	roomLikeForm = &lazy.Regexp{Text: `(?i)\b([a-z][\w-]*)\s+(?:(?:meeting|conference)\s+)?rooms?\b`}
	// freeForm asks which rooms are free, bookForm for a booking.
	freeForm = &lazy.Regexp{Text: `(?i)空き(?:状況)?|空いて(?:い)?(?:る|ます)|あいて(?:い)?(?:る|ます)|(?:利用|予約)(?:状況|一覧)|\bavailab(?:le|ility)\b|\bfree\b`}
	bookForm = &lazy.Regexp{Text: `(?i)予約(?:し|を|お願い|したい|でき)|確保|押さえ|おさえ|取って|とって|取りたい|[取と]れ(?:る|ます)|\bbook\b|\breserve\b`}
	// vagueForm matches a time that is too wide for a meeting. severalForm asks for more than one room.
	vagueForm   = &lazy.Regexp{Text: `(?i)今週|来週|再来週|今月|来月|再来月|来年|午前|午後|朝|昼|夕方|夜|\b(?:this|next)\s+(?:week|month)\b|\b(?:morning|afternoon|evening)\b`}
	severalForm = &lazy.Regexp{Text: `(?i)[2-9]\s*(?:つ|部屋|室)|\b(?:two|three|several)\b`}
	peopleForm  = &lazy.Regexp{Text: `(?i)^\s*(?:人|名|people|persons)`}
	// hourForm matches a bare hour that can only be in the morning or at noon.
	hourForm = &lazy.Regexp{Text: `(?i)\bat\s+(8|9|10|11|12)\b`}
	noonForm = &lazy.Regexp{Text: `(?i)\bnoon\b|正午`}
)

// roomSaid is what the whole text says of the room that is to be booked, empty if it says nothing.
func (s *scanner) roomSaid(text string) string {
	if said := strings.Trim(roomForm.Get().FindString(s.text), " \x1f"); said != "" {
		return said
	}
	strange := s.unread()
	for _, m := range likeForm.Get().FindAllStringSubmatch(s.text, -1) {
		if slices.ContainsFunc(strange, func(w string) bool { return strings.Contains(m[0], w) }) {
			return strings.Trim(m[0], " \x1f")
		}
	}
	if m := roomLikeForm.Get().FindStringSubmatch(text); m != nil && slices.Contains(strange, m[1]) {
		return m[1]
	}
	return ""
}

// slot takes the day and time of a meeting out of a text. second is a further day, time or length that the text names.
func (s *scanner) slot(now time.Time) (out slot, second string) {
	out = slot{day: now.AddDate(0, 0, 1), start: 10 * 60, noDay: true, noTime: true, noEnd: true}
	length, lengths := 60, s.take(lengthForm)
	for _, m := range lengths {
		switch {
		case m[1] != "":
			length = 60 * number(m[1])
			if m[2] != "" {
				length += 30
			}
		case strings.Contains(strings.ToLower(m[4]), "half"):
			length = 30
		case m[4] != "":
			length = 60 * max(1, number(m[4]), map[string]int{"two": 2}[strings.ToLower(m[4])])
		default:
			length = number(m[3] + m[5])
		}
		out.noEnd = false
	}
	var ranges [][]string
	s.takeAs(taken, betweenTimeForm, func(m []string, after string) bool { // hours, not people
		ok := !peopleForm.Get().MatchString(after) &&
			(strings.Contains(m[0], "時") || m[1]+m[3]+m[5]+m[6]+m[8]+m[10] != "")
		if ok {
			ranges = append(ranges, m)
		}
		return ok
	})
	day, second := s.day(now) // behind the hours: 2-3 pm is no date
	if day != nil {
		out.day, out.noDay = *day, false
	}
	times := slices.Concat(s.take(timeForm), s.take(noonForm), hours(s.take(hourForm)))
	if said := slices.Concat(ranges, times); len(said) > 1 {
		second = or(second, said[1][0])
	} else if len(lengths) > 1 {
		second = or(second, lengths[1][0])
	}
	switch {
	case len(ranges) > 0:
		m := ranges[0]
		end := minutes(m[6], m[7], m[8], m[9], m[10])
		late := m[5]
		if late == "" && m[1] == "" && number(m[2]) < 12 && minutes("", m[2], m[3], m[4], m[10]) < end {
			late = m[10] // from 3 to 4 pm
		}
		out.start, out.end, out.noTime, out.noEnd = minutes(m[1], m[2], m[3], m[4], late), end, false, false
		return out, second
	case len(times) > 0 && len(times[0]) > 1:
		m := times[0]
		out.start, out.noTime = minutes(m[1], m[2], m[3], m[4], m[5]+m[6]), false
	case len(times) > 0:
		out.start, out.noTime = 12*60, false
	}
	out.end = out.start + length
	return out, second
}

// hours writes bare hours as groups of timeForm.
func hours(found [][]string) (out [][]string) {
	for _, m := range found {
		out = append(out, []string{m[0], "", m[1], "", "", "", ""})
	}
	return out
}

// wrong reports whether the time does not exist or is past.
func (s slot) wrong(now time.Time) bool {
	if s.day.IsZero() || s.start >= 24*60 || s.end > 24*60 || s.end <= s.start {
		return true
	}
	begin := time.Date(s.day.Year(), s.day.Month(), s.day.Day(), 0, s.start, 0, 0, now.Location())
	return begin.Before(now)
}

func minutes(half, hour, minute, japanese, meridiem string) int {
	h, m := number(hour), number(minute)
	switch {
	case japanese == "半":
		m = 30
	case japanese != "":
		m = number(strings.TrimSpace(strings.TrimSuffix(japanese, "分")))
	}
	if late := half == "午後" || half == "夜" || strings.HasPrefix(strings.ToLower(meridiem), "p"); late && h < 12 {
		h += 12
	}
	return h*60 + m
}

// day takes the day out of a text. It returns nil if the text has none, and as second a word that names another day.
func (s *scanner) day(now time.Time) (day *time.Time, second string) {
	for _, f := range []struct {
		form *lazy.Regexp
		day  func(now time.Time, m []string) time.Time
	}{{inDaysForm, func(now time.Time, m []string) time.Time { return now.AddDate(0, 0, number(m[1]+m[2])) }},
		{dayWordForm, dayWord}, {onDayForm, onDay}, {weekdayForm, weekday}} {
		for _, m := range s.take(f.form) {
			switch then := f.day(now, m); {
			case day == nil:
				day = &then
			case then.Format(time.DateOnly) != day.Format(time.DateOnly):
				second = or(second, m[0])
			}
		}
	}
	return day, second
}

// dayWord returns the day that a word such as tomorrow means.
func dayWord(now time.Time, m []string) time.Time {
	said, n := strings.ToLower(m[0]), 0
	switch {
	case has(said, "一昨日", "おととい"):
		n = -2
	case has(said, "昨日", "きのう", "yesterday"):
		n = -1
	case has(said, "明々後日", "しあさって"):
		n = 3
	case has(said, "明後日", "あさって", "after tomorrow"):
		n = 2
	case has(said, "明日", "あした", "あす", "tomorrow"):
		n = 1
	}
	return now.AddDate(0, 0, n)
}

// onDay is the next date with that day and month, or the zero time if there is none.
func onDay(now time.Time, m []string) time.Time {
	year, mon, day := now.Year(), number(m[2])+monthNamed(m[4]), number(m[3]+m[5]+m[6])
	if mon == 0 {
		mon = int(now.Month())
	}
	if m[1] != "" {
		year = number(m[1])
	}
	then := time.Date(year, time.Month(mon), day, 0, 0, 0, 0, now.Location())
	if then.Day() != day { // 31 November
		return time.Time{}
	}
	if m[1] == "" && then.AddDate(0, 0, 1).Before(now) { // a meeting is ahead
		then = then.AddDate(1, 0, 0)
	}
	return then
}

// weekday is the next date on that day of the week. Weeks begin on Monday.
func weekday(now time.Time, m []string) time.Time {
	want := time.Weekday(0)
	for i, name := range []string{"日sun", "月mon", "火tues", "水wednes", "木thurs", "金fri", "土satur"} {
		if said := m[2] + strings.ToLower(m[4]); strings.Contains(name, said) {
			want = time.Weekday(i)
		}
	}
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	at := monday.AddDate(0, 0, (int(want)+6)%7)
	switch week := m[1] + strings.ToLower(m[3]); {
	case week == "来週" || week == "next":
		return at.AddDate(0, 0, 7)
	case week == "再来週":
		return at.AddDate(0, 0, 14)
	case at.Before(now):
		return at.AddDate(0, 0, 7)
	}
	return at
}

// meet adds the steps that look for a room and book it, and returns the notice's details.
func (p *planner) meet() []object {
	t := p.reading.words.Meeting
	s := p.reading.slot
	when := object{"date": s.day.Format(time.DateOnly), "start": clock(s.start), "end": clock(s.end)}
	free := p.add(t.ListTitle, listRooms, when)
	booked := p.add(t.BookTitle, bookRoom, object{
		"date": when["date"], "start": when["start"], "end": when["end"], "title": p.reading.booked(),
		"room_id": ref(free + "rooms.0.id"),
	})
	if free == "" || booked == "" {
		return nil
	}
	at := fmt.Sprintf("%s %s–%s", s.day.Format(time.DateOnly), clock(s.start), clock(s.end))
	return []object{{"label": t.LabelTime, "value": at}, {"label": t.LabelRoom, "value": ref(free + "rooms.0.name")},
		{"label": t.LabelNumber, "value": ref(booked + "booking_id")}}
}

// booked is a booking's title: the one that the request quotes, or else what it is for.
func (r reading) booked() string {
	if len(r.quotes) > 0 {
		return legible.Clip(oneLine(r.quotes[0]), 100)
	}
	return r.words.Meeting.Untitled
}

// meetingPolicy returns the first lines of a policy about a meeting room.
func (r reading) meetingPolicy() []string {
	t, s := r.words.Meeting, r.slot
	lines := []string{fmt.Sprintf(t.Purpose, fmt.Sprintf(r.words.Quote, r.booked())),
		fmt.Sprintf(t.When, s.day.Format(time.DateOnly), clock(s.start), clock(s.end))}
	for _, a := range []struct {
		missing bool
		text    string
	}{{s.noDay, t.AssumedDay}, {s.noTime, t.AssumedTime}, {!s.noTime && s.noEnd, t.AssumedEnd}} {
		if a.missing {
			lines = append(lines, a.text)
		}
	}
	return lines
}

// slotForm matches the line of a policy that has the meeting's time.
var slotForm = &lazy.Regexp{Text: `(?m)^(?:日時|When): (\d{4}-\d\d-\d\d) (\d\d):(\d\d)–(\d\d):(\d\d)`}

// follow takes the meeting's time from an approved policy.
func (s *slot) follow(policy string, now time.Time) {
	m := slotForm.Get().FindStringSubmatch(policy)
	if m == nil {
		return
	}
	if day, err := time.ParseInLocation(time.DateOnly, m[1], now.Location()); err == nil {
		s.day, s.start, s.end = day, 60*number(m[2])+number(m[3]), 60*number(m[4])+number(m[5])
	}
}
