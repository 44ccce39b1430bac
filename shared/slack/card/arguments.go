package card

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// formats finds what Slack would format, or show as an emoji, in a message that a person types.
var formats = language.Regexp{Text: `\*[^*\n]+\*|\b_[^_\n]+_\b|~[^~\n]+~|:[a-z][a-z0-9_+-]*:`}

// unread draws arguments that are not a JSON object, or of which only a preview was stored, which is masked. People
// can't approve such arguments on the card.
func (d drawing) unread(b aggregate.Blob, most int) body {
	text, lost := string(b.JSON), false
	if text == "" {
		text, lost = legible.MaskJSON(b.Preview), true
	}
	pages, rest := fenced(visible(pretty(text)), maxSection, most)
	out := body{sectioned(pages...), rest || lost}
	if out.cut {
		cut := contextLine(fill(d.w.ArgumentsCut, "bytes", max(b.Bytes, len(text))))
		out.blocks = append([]slack.Block{cut}, out.blocks...)
	}
	return out
}

func decoded(text string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	ok = dec.Decode(&v) == nil && !dec.More()
	return v, ok
}

// Prose is a text of several lines by others, for any surface, without invisible characters and marks of Ringi's.
func Prose(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Foreign(s))) }

// Address returns the url in a completed step's result if cards may link to it, else "".
func Address(row *task.StepResult) string {
	url, _ := resultOf(row)["url"].(string)
	return explain.Linked(url)
}

const maxLinks = 5

// opens is the text of a link to a result: with its host, which a tool's server chose.
func (d drawing) opens(address string) string {
	text := askWordsOf.In(d.w.Locale).Open
	if to, err := url.Parse(address); err == nil && !explain.Local(address) {
		text += " (" + to.Host + ")"
	}
	return text
}

// links lists the url members of completed steps' results, each once. A card has no other links: an address within a
// text stays text.
func (d drawing) links(r attempt) []slack.Block {
	var out, all []string
	for _, s := range r.steps {
		if to := Address(r.rows[s.StepID]); to != "" && len(out) < maxLinks && !slices.Contains(all, to) {
			all, out = append(all, to), append(out, fill(d.w.Result, "step", s.Order, "open", linkAs(to, d.opens(to))))
		}
	}
	return contextOf(out)
}

// resultOf returns the members of a completed step's result, or nil if there is none or it is no object.
func resultOf(row *task.StepResult) map[string]any {
	if row == nil || row.Status != task.StepCompleted || row.Result == nil {
		return nil
	}
	v, _ := decoded(string(row.Result.JSON))
	members, _ := v.(map[string]any)
	return members
}

// below says for each sheet that was written how many older rows follow the new ones, which people could take for part
// of the result, or that counting failed. A result without a count gives no line.
func (d drawing) below(r attempt) []slack.Block {
	var out []string
	for _, s := range r.steps {
		members := resultOf(r.rows[s.StepID])
		count, known := members["rows_below"]
		if s.Tool != "write_rows_to_google_sheet" || !known {
			continue
		}
		n, counted := count.(json.Number)
		more, _ := members["more_below"].(bool)
		switch {
		case !counted:
			out = append(out, fill(d.w.RowsBelowUnread, "step", s.Order))
		case more:
			out = append(out, fill(d.w.RowsBelowOver, "step", s.Order, "n", inline(n.String(), maxTool)))
		case n != "0":
			out = append(out, fill(d.w.RowsBelow, "step", s.Order, "n", inline(n.String(), maxTool)))
		}
	}
	return sectioned(pages(strings.Join(out, "\n"), maxSection)...)
}

// inlineCode shows a text as code within a line, with invisible characters spelled out.
func inlineCode(s string) string { return coded(legible.OneLine(s)) }

// coded is inlineCode for a text whose invisible characters are spelled out. It replaces backticks, which would end it.
func coded(spelled string) string {
	return "`" + legible.Isolated(unticked(escape(spelled))) + "`"
}

// tickedApart spells out backticks that would end a block of code. Fewer than three don't.
func tickedApart(spelled string) string {
	return fenceForm.Get().ReplaceAllStringFunc(spelled, unticked)
}

var fenceForm = language.Regexp{Text: "`{3,}"}

func unticked(spelled string) string { return strings.ReplaceAll(spelled, "`", "⟨U+0060⟩") }

// asWritten shows a spelled text completely: as code if it has a character that would format or link, or a mark that
// cards use, else as it is.
func asWritten(spelled string) string {
	s := unformatted(spelled, len(spelled))
	if strings.ReplaceAll(s, joiner, "") != escape(spelled) || strings.Contains(spelled, "://") {
		return " " + coded(spelled) + " "
	}
	return bounded(s, units(s)+2)
}
