package card

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// MessageTool sends a message, below which stands who asked for it and who stamped it.
const MessageTool = "send_slack_dm"

// effects draws what the steps would do, made from their tools and planned arguments: first each write with its number,
// below that the reads. No model writes any of it. Values are shown completely, without invisible characters.
func (d drawing) effects(steps []task.Step, most int) body {
	writes, reads := explain.PlanEntries(d.w.Locale, steps)
	var items []item
	for i, part := range []struct {
		heading string
		entries []explain.PlanEntry
		sign    string // before each item of an entry but the first
	}{{d.w.Writes, writes, "\n• "}, {d.w.Reads, reads, " · "}} {
		of := 0 // items of the entry before
		for n, e := range part.entries {
			own := d.items(e, part.sign)
			if n == 0 {
				own[0].text = part.heading + "\n" + own[0].text
				own[0].before = strings.Repeat("\n", min(i, len(items))) + "\n"
			} else if i == 0 && max(len(own), of) > 1 {
				own[0].before = "\n\n" // a write of several lines stands by itself
			}
			of = len(own)
			items = append(items, own...)
		}
	}
	return d.itemized(items, most)
}

// item is a text that no section splits. again stands above it if another section has the beginning of its entry.
type item struct {
	before, text, again string
	first               bool // of its entry
}

// items splits the line of an entry, and adds the line below a message.
func (d drawing) items(e explain.PlanEntry, sign string) []item {
	number := strings.Join(e.Orders, ", ") + "."
	again := fill(d.w.Again, "step", number)
	out := []item{{before: "\n", text: number + " ", again: again, first: true}}
	for _, p := range e.Line {
		if p.Kind == explain.Between {
			out = append(out, item{before: sign, again: again})
			continue
		}
		out[len(out)-1].text += d.piece(p)
	}
	if e.Tool == MessageTool {
		if slices.ContainsFunc(e.Line, func(p explain.Piece) bool { return formats.Get().MatchString(p.Text) }) {
			out = append(out, item{before: "\n", text: d.w.SentAsIs, again: again})
		}
		out = append(out, item{before: "\n", text: d.sent(), again: again})
	}
	return out
}

// sent is the line below a message.
func (d drawing) sent() string {
	return "_" + Below(d.w.Locale, d.w.mention(or(d.asker, d.a.Head.Requester))) + "_"
}

// Below is the line below a message that who asked for, with Stamper in the place of whoever will approve it.
func Below(locale, who string) string { return explain.Sent(locale, who, wordsOf.In(locale).Stamper) }

// itemized fills up to most sections with items. It splits only an item that is longer than a section.
func (d drawing) itemized(items []item, most int) body {
	var pages []string
	page := ""
	for _, it := range items {
		room := maxSection - 50 - max(150, units(it.again)) // for again, and for the line that says that it goes on
		for i, text := range codePages(it.text, room) {
			before := it.before
			if whole := page + before + text; page != "" && (i > 0 || units(whole) > room || height(whole) > maxLines) {
				pages, page = append(pages, page), ""
			}
			switch {
			case page == "" && i > 0:
				before = it.again + " "
			case page == "" && it.first:
				before = ""
			case page == "":
				before = it.again + before
			}
			page += before + text
		}
	}
	if page != "" {
		pages = append(pages, page)
	}
	return d.sections(pages, most)
}

// piece draws a part of a line. It shows a person's id next to the name.
func (d drawing) piece(p explain.Piece) string {
	switch p.Kind {
	case explain.Words, explain.Between:
		return p.Text
	case explain.Person:
		return fmt.Sprintf("%s (%s)", d.w.mention(p.Text), p.Text)
	}
	return asWritten(p.Text)
}
