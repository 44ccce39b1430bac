package slackdm

import (
	"fmt"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

const (
	// maxText is the length limit of a message, in characters as Slack counts them. Slack splits longer messages, and
	// truncates those of 40,000 or more.
	maxText = 4000
	// maxValue is the length limit of a detail, in characters.
	maxValue = 500
	// tail is the length reserved for the line about omitted text and for its link.
	tail = 400
)

// text returns the message in Slack's markup. It follows the rules of cards, except that web addresses become links:
// those in the text, and a detail whose value is an address. cut is how many characters are omitted because of Slack's
// limits.
func (m Message) text() (text string, cut int) {
	var lines []string
	left := maxText - tail
	add := func(before, value string, form func(string) string) {
		most := len(value)
		if before != "" {
			most = maxValue
		}
		shown := beginning(value, most, left-card.Units(before)-1, form)
		cut += utf8.RuneCountInString(value) - utf8.RuneCountInString(shown)
		switch {
		case left <= card.Units(before) || shown == "" && value != "":
			left = 0
			return
		case shown != value:
			shown += "…"
		}
		line := before + form(shown)
		lines, left = append(lines, line), left-card.Units(line)-1
	}
	for line := range strings.SplitSeq(m.Text, "\n") {
		add("", line, addressed)
	}
	for _, d := range m.Details {
		value := "-"
		if d.Value != nil {
			value = fmt.Sprint(d.Value)
		}
		add("• "+card.Line(d.Label, maxValue)+": ", value, linked)
	}
	return strings.Join(lines, "\n"), cut
}

// beginning returns the longest beginning of a value that fits, which may be all of it. The beginning has at most most
// characters, and takes up at most room in its form with an ellipsis.
func beginning(value string, most, room int, form func(string) string) string {
	fits := func(s string) bool { return card.Units(form(s)) <= room }
	if len(value) <= utf8.UTFMax*maxText && utf8.RuneCountInString(value) <= most && fits(value) {
		return value
	}
	all := []rune(value[:min(len(value), utf8.UTFMax*maxText)])
	n := sort.Search(min(most, len(all)), func(n int) bool { return !fits(string(all[:n+1]) + "…") })
	return string(all[:n])
}

func plain(s string) string { return card.Line(s, maxText) }

// address finds web addresses in a line. They need not be followed by a space.
var address = regexp.MustCompile("https?://[^\\x00-\\x20<>|\"`\\x7f-\\x{10FFFF}]+")

// addressed turns the web addresses in a line into links, unchanged. A truncated address is no link.
func addressed(line string) string {
	var b strings.Builder
	done := 0
	for _, at := range address.FindAllStringIndex(line, -1) {
		found := strings.TrimRight(line[at[0]:at[1]], ".,;:!?'")
		if !strings.Contains(found, "(") {
			found = strings.TrimRight(found, ".,;:!?')")
		}
		if link := linked(found); strings.HasPrefix(link, "<") && !strings.HasPrefix(line[at[1]:], "…") {
			b.WriteString(spaced(line[done:at[0]]) + link)
			done = at[0] + len(found)
		}
	}
	return strings.Trim(b.String()+spaced(line[done:]), " ")
}

// spaced applies plain to a part of a line. It keeps a space at either end, because other parts of the line follow.
func spaced(s string) string {
	shown := plain(s)
	if shown == "" && s != "" {
		return " "
	}
	if strings.TrimLeft(s, " \t") != s {
		shown = " " + shown
	}
	if strings.TrimRight(s, " \t") != s {
		shown += " "
	}
	return shown
}

// linked returns a value in the form of a line. A value that is a web address becomes a link that shows its target.
func linked(value string) string {
	u, err := url.Parse(value)
	odd := func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || strings.ContainsRune("<>|\"`", r) }
	if err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") &&
		!strings.ContainsFunc(value, odd) {
		return "<" + strings.ReplaceAll(value, "&", "&amp;") + ">"
	}
	return plain(value)
}

// rest says how many characters of the message were omitted, and links to the full text; link may be empty.
func rest(locale string, cut int, link string) string {
	said := fmt.Sprintf(language.InEach("…(以下 %d 文字を省略しました)", "… (%d more characters were left out)").In(locale), cut)
	if link == "" {
		return said
	}
	return said + "\n" + language.InEach("依頼のスレッド: ", "The request's thread: ").In(locale) + link
}
