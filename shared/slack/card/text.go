package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// Limits of Slack's, in blocks and fields or in characters as Slack may count them: UTF-16
// units, after escaping. Sources: the Block Kit reference, and the comments of @slack/types.
const (
	maxBlocks     = 16    // of a card: Slack was seen to refuse more than 20 in an attachment
	maxCharacters = 13000 // of all blocks together; undocumented, measured near 13,200
	maxFields     = 10    // of a section
	maxField      = 2000
)

// Limits of the parts of a text, counted likewise. A section and a line of a context take 3,000.
const (
	maxSection = 3000
	maxHeader  = 150
	maxReason  = 1500 // a rejection's reason: 1,000 characters, some of them escaped
	maxDetail  = 300
	maxTool    = 64  // of a tool's or a type's name; a tool that people stamp is shown whole
	maxID      = 200 // Ringi's ids have 26; twice this, escaped as JSON, fits private_metadata
)

// maxLines is how many lines a section has, and maxBodyLines how many a card asks people about: people don't look
// further down. 60 steps and their heading fit one.
const (
	maxLines     = 80
	maxBodyLines = 3 * maxLines
)

const (
	ellipsis   = "..."
	joiner     = "\u2060" // invisible and without width: it keeps Slack from reading what it stands in
	isolate    = "\u2068"
	endIsolate = "\u2069"
	zwj        = '\u200d'
)

// inline prepares a person's or a model's words to stand within a line of Ringi's.
// They can't end the line, format, link, mention, or turn the reading direction
// of what follows. The result has at most limit characters, and may be empty.
func inline(s string, limit int) string { return bounded(unformatted(s, limit), limit) }

// unformatted is inline before it is cut, for texts that are cut to several limits; most is the largest.
func unformatted(s string, most int) string {
	return neutral(escape(oneLine(clean(beginning(s, most)))))
}

// bounded cuts what unformatted made, and isolates its reading direction where it could spread.
func bounded(s string, limit int) string {
	if !strings.ContainsFunc(s, legible.RightToLeft) {
		return cut(s, limit)
	}
	return isolate + cut(s, limit-2) + endIsolate
}

// plain is inline for plain_text objects, where nothing formats.
func plain(s string, limit int) string {
	return cut(breakMentions(escape(oneLine(clean(beginning(s, limit))))), limit)
}

// paragraph prepares text of several lines, to stand alone in a section. Its
// Markdown stays as it is written, and so does a mention of a person, beside whose name
// stands the id; links with a false label and words that call everybody don't work.
func paragraph(s string, limit int) string { return cut(prepared(beginning(s, limit)), limit) }

// prepared is paragraph before it is cut. Nothing is shown struck out, since models would read it as plain text.
func prepared(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(legible.Paragraphs(clean(s))), "~", "～")
	return people(breakMentions(escape(s)))
}

// code prepares a name for `code`. The result has no backtick and is one line.
func code(s string, limit int) string {
	return strings.ReplaceAll(plain(s, limit), "`", "'")
}

// or returns s, or instead when there is nothing to see in s.
func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// beginning bounds the work on a text of which at most limit characters will be
// shown; what stands behind twice as many of them is not looked for.
func beginning(s string, limit int) string {
	return legible.FirstBytes(s, (2*limit+64)*utf8.UTFMax)
}

// clean drops characters that can't be seen or that reorder their surroundings, and replaces letters that are drawn
// empty by spaces. A text with nothing visible becomes empty.
func clean(s string) string {
	s = legible.Visible(s)
	if !legible.Text(s) {
		return ""
	}
	return strings.Map(unmarked, s)
}

// oneLine joins lines and runs of spaces; the ideographic space stays.
func oneLine(s string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) && r != '\u3000' }
	return legible.Paragraphs(strings.Join(strings.FieldsFunc(s, blank), " "))
}

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return entities.Replace(s) }

var fullWidth = strings.NewReplacer("*", "＊", "`", "｀", "~", "～", "://", ":"+joiner+"//")

// neutral replaces the marks that Slack reads as formatting by their full-width
// forms: there is no way to escape them. An underscore formats only at a word's edge.
func neutral(s string) string {
	s = breakMentions(fullWidth.Replace(s))
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '_' && !(word(before) && word(after)) {
			b.WriteRune('＿')
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func word(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Line prepares others' words for a line of a message that is no card, such as a direct message of a step, by the rule
// of cards: they can't end the line, format, link, mention, look like a mark of Ringi's, or turn the reading direction.
// It has at most limit characters as Slack may count them, and may be empty.
func Line(s string, limit int) string { return inline(s, limit) }

// Units is how many characters a text has as Slack may count them.
func Units(s string) int { return units(s) }
