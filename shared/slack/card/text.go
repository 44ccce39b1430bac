package card

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// Slack's limits, in blocks or units (UTF-16 after escaping), by the Block Kit reference and @slack/types.
const (
	maxBlocks     = 16    // of a card: Slack refused more than 20 in an attachment
	maxCharacters = 13000 // of all blocks together; undocumented, measured near 13,200
)

// Limits of the parts of a text, in units. Slack allows 3,000 for a section or a line of a context.
const (
	maxSection = 3000
	maxHeader  = 150
	maxReason  = 1500 // a rejection's reason: 1,000 characters, some of them escaped
	maxDetail  = 300
	maxTool    = 64  // of a tool's or type's name; where people approve a tool, its name is complete
	maxID      = 180 // Ringi's ids have 26; with a stage and a hash it fits a block_id of 255
)

// maxLines limits the lines of a section, maxBodyLines those of everything that a card asks people about, since people
// don't look further down. 60 steps and their heading fit one section.
const (
	maxLines     = 80
	maxBodyLines = 3 * maxLines
)

const (
	ellipsis = "..."
	joiner   = "\u2060" // an invisible word joiner, which keeps Slack from interpreting the text
	zwj      = '\u200d'
)

// inline prepares others' words for a line of Ringi's, which they can't end, format, or turn around; they can't link or
// mention. The result has at most limit characters, and may be empty.
func inline(s string, limit int) string { return bounded(unformatted(s, limit), limit) }

// unformatted is inline without the cut, for texts that are cut to several limits. most is the largest of them.
func unformatted(s string, most int) string {
	return neutral(escape(language.ForeignLine(beginning(s, most))))
}

// bounded cuts a text that unformatted returned, and isolates its reading direction if that could spread.
func bounded(s string, limit int) string {
	if strings.ContainsFunc(s, language.RightToLeft) {
		limit -= 2
	}
	return language.Isolated(cut(s, limit))
}

func plain(s string, limit int) string {
	return cut(language.Quiet(escape(language.ForeignLine(beginning(s, limit)))), limit)
}

// paragraph prepares a text of several lines for a section of its own. Its Markdown and mentions of people stay, but no
// links with a label or words that notify everybody.
func paragraph(s string, limit int) string { return cut(prepared(beginning(s, limit)), limit) }

// prepared is paragraph without the cut. It removes strikethrough, since models would read the text as if it were not
// struck out.
func prepared(s string) string {
	s = strings.ReplaceAll(Prose(s), "~", "～")
	return people(language.Quiet(escape(s)))
}

// code prepares a name for inline code: one line without backticks.
func code(s string, limit int) string {
	return strings.ReplaceAll(plain(s, limit), "`", "'")
}

func or(s, instead string) string { return cmp.Or(s, instead) }

// beginning bounds the work on a text of which limit characters will be shown to somewhat more than twice that.
func beginning(s string, limit int) string { return language.FirstBytes(s, (2*limit+64)*utf8.UTFMax) }

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return entities.Replace(s) }

var fullWidth = strings.NewReplacer("*", "＊", "`", "｀", "~", "～", "://", ":"+joiner+"//")

// neutral replaces Slack's formatting characters by their full-width forms, since Slack has no escape for them. An
// underscore formats only at a word's edge, and if no other stands beside it.
func neutral(s string) string {
	s = language.Quiet(fullWidth.Replace(s))
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '_' && before != '_' && after != '_' && !(word(before) && word(after)) {
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

var idForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,64}$`}

// mention writes a person's id so that Slack shows the name. An empty id stands for the system.
func (w *words) mention(user string) string {
	switch {
	case user == "":
		return w.System
	case idForm.Get().MatchString(user):
		return "<@" + user + ">"
	}
	return or(inline(user, maxTool), w.System)
}

var writtenMention = language.Regexp{Text: `&lt;(?:@[UW]|#[CG])[A-Z0-9]{2,40}&gt;`}

// people restores references to people and channels in an escaped text, and adds the people's ids: Ringi's own lines
// have none, so that no text looks like one. Mentions beyond task.MaxMentioned, and all other markup, stay escaped.
func people(escaped string) string { return peopled(escaped, map[string]bool{}) }

// peopled is people for one of several texts, of which others have called these people.
func peopled(escaped string, called map[string]bool) string {
	return writtenMention.Get().ReplaceAllStringFunc(escaped, func(written string) string {
		id := written[len("&lt;@") : len(written)-len("&gt;")]
		if strings.Contains(written, "#") {
			return "<#" + id + ">"
		}
		if !called[id] && len(called) == task.MaxMentioned {
			return written
		}
		called[id] = true
		return "<@" + id + "> (" + id + ")"
	})
}

func when(t time.Time) string {
	if t.Unix() <= 0 || t.Year() > 9999 {
		return "—"
	}
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), t.UTC().Format("2006-01-02 15:04 UTC"))
}

func whenSet(t *time.Time) string {
	if t == nil {
		return "—"
	}
	return when(*t)
}

//go:noinline
func fill(text string, pairs ...any) string { return language.Fill(text, pairs...) }

// maxMarkdown is how many characters all markdown blocks of a message may have together
// (https://docs.slack.dev/reference/block-kit/blocks/markdown-block), and maxSaid how many of them the notification
// has.
const maxMarkdown, maxSaid = 12_000, 3600

// said writes an agent's Markdown for Slack's markdown block. Nothing in it mentions anybody, hides where a link leads,
// looks like a mark of Ringi's, or has characters that nobody sees. Code stays code, and ends where it ended; links
// are broken in it, too, for cells of a table are told apart before code is.
func said(text string) string {
	var out strings.Builder
	for _, p := range language.MarkdownPieces(text) {
		switch p.Kind {
		case language.Block:
			if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
				out.WriteByte('\n')
			}
			out.WriteString(language.Fenced(marked.Replace(language.Code(p.Text)), p.Language) + "\n")
		case language.Span:
			out.WriteString(language.Ticked(unlinked.Replace(marked.Replace(strings.ReplaceAll(language.Code(p.Text),
				"\n", " ")))))
		default:
			prose := language.MarkdownProse(p.Text)
			if prose == "" || strings.HasSuffix(prose, `\`) { // it would join or escape the ticks around it
				prose += joiner
			}
			out.WriteString(unlinked.Replace(marked.Replace(prose)))
		}
	}
	return cut(strings.TrimRight(out.String(), " \n"), maxMarkdown)
}

// marked escapes what Slack would read as a mention, a link or a tag.
var marked = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// unlinked breaks Markdown's links and pictures, whose words would hide the address. An address alone stays a link.
var unlinked = strings.NewReplacer("](", "]"+joiner+"(", "][", "]"+joiner+"[", "]:", "]"+joiner+":")

// linked is a link of ours in a markdown block.
func linked(words, address string) string {
	return "[" + strings.NewReplacer("[", "［", "]", "］").Replace(words) + "](" + address + ")"
}

// shownCode escapes code for a fence. Slack's own formatting knows no longer fence, so three backticks in a row are
// kept apart.
func shownCode(code string) string {
	return fenceForm.Get().ReplaceAllStringFunc(escape(language.Code(code)), func(ticks string) string {
		return strings.Join(strings.Split(ticks, ""), joiner)
	})
}
