package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// The colours of an attachment's bar.
const (
	yellow = "#f2c744" // generating
	blue   = "#2196f3" // a person must act
	green  = "#36a64f" // approved, completed
	red    = "#e01e5a" // rejected, failed
	navy   = "#1264a3" // running
	grey   = "#888888" // cancelled, expired
)

// The small texts and blocks below are made in some hundred places, where 20 KB of them would be inlined.

// mrkdwn is a text in which Slack doesn't make links or mentions of its own.
//
//go:noinline
func mrkdwn(text string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.MarkdownType, Text: text, Verbatim: true}
}

// label is plain text for dialogs, without the member emoji.
//
//go:noinline
func label(text string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: text}
}

func emojiLabel(text string) *slack.TextBlockObject {
	t := true
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: text, Emoji: &t}
}

func header(text string) slack.Block { return slack.NewHeaderBlock(emojiLabel(text)) }

// Slack folds a longer text behind "see more" unless its section sets expand: attachments after 700 characters or five
// line ends, as measured.
const (
	shortText  = 200 // characters
	shortLines = 4
)

// section shows a text completely, without a click on "see more".
func section(text string) slack.Block {
	return slack.NewSectionBlock(mrkdwn(text), nil, nil,
		slack.SectionBlockOptionExpand(units(text) > shortText || height(text) > shortLines))
}

//go:noinline
func divider() slack.Block { return slack.NewDividerBlock() }

//go:noinline
func contextLine(texts ...string) slack.Block {
	out := make([]slack.MixedElement, len(texts))
	for i, t := range texts {
		out[i] = mrkdwn(t)
	}
	return slack.NewContextBlock("", out...)
}

// contextOf is a contextLine of those texts that say something, or nothing without any.
func contextOf(texts []string) []slack.Block {
	if texts = saying(texts); len(texts) == 0 {
		return nil
	}
	return []slack.Block{contextLine(texts...)}
}

// sectionOf is a section of those lines that say something, or nothing without any.
func sectionOf(lines []string) []slack.Block {
	if lines = saying(lines); len(lines) == 0 {
		return nil
	}
	return []slack.Block{section(cut(strings.Join(lines, "\n"), maxSection))}
}

func saying(texts []string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

func button(text, action, value string, style slack.Style) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(action, ident(value), emojiLabel(text)).WithStyle(style)
}

func confirmed(b *slack.ButtonBlockElement, title, text, yes, no string) *slack.ButtonBlockElement {
	return b.WithConfirm(&slack.ConfirmationBlockObject{Title: label(title), Text: label(text), Confirm: label(yes),
		Deny: label(no)})
}

// characters counts a block's texts as Slack does for the limit of a message.
func characters(b slack.Block) int {
	n := 0
	switch b := b.(type) {
	case *slack.SectionBlock:
		if b.Text != nil {
			n += units(b.Text.Text)
		}
		for _, f := range b.Fields {
			n += units(f.Text)
		}
	case *slack.HeaderBlock:
		n = units(b.Text.Text)
	case *slack.ContextBlock:
		for _, e := range b.ContextElements.Elements {
			n += units(e.(*slack.TextBlockObject).Text)
		}
	}
	return n
}

// ident bounds an id for block_id, value and private_metadata.
func ident(id string) string { return cut(strings.ToValidUTF8(id, "?"), maxID) }

// The limits of a body in blocks and characters leave room for the header, a divider, three lines about the outcome,
// buttons, whose turn it is, and its path.
const (
	maxBodyBlocks = maxBlocks - 6 - 2
	maxBody       = maxCharacters - 2500 - 2*maxPath
	maxPath       = 700 // of a line
)

// body is all that a card asks people to decide about. cut says that the card does not show all of it: then its button
// opens a Review instead of approving.
type body struct {
	blocks []slack.Block
	cut    bool
}

//go:noinline
func (b body) with(more body) body {
	return body{append(b.blocks[:len(b.blocks):len(b.blocks)], more.blocks...), b.cut || more.cut}
}

func (b body) bounded() body {
	room, lines := maxBody, maxBodyLines
	for i, block := range b.blocks {
		room, lines = room-characters(block), lines-blockHeight(block)
		if room < 0 || lines < 0 || i == maxBodyBlocks {
			return body{b.blocks[:i:i], true}
		}
	}
	return b
}

func height(s string) int { return strings.Count(s, "\n") + 1 }

// blockHeight counts the lines of a section.
func blockHeight(b slack.Block) int {
	if b, is := b.(*slack.SectionBlock); is && b.Text != nil {
		return height(b.Text.Text)
	}
	return 0
}

func sectioned(parts ...string) []slack.Block {
	out := make([]slack.Block, len(parts))
	for i, p := range parts {
		out[i] = section(p)
	}
	return out
}

// prose draws a text that people approve, in up to most sections.
func (d drawing) prose(text string, most int) body {
	return d.sections(pages(prepared(text), maxSection), most)
}

func (d drawing) sections(parts []string, most int) body {
	if len(parts) == 0 {
		return body{blocks: sectioned(d.w.None)}
	}
	shown := parts[:min(most, len(parts))]
	b := body{sectioned(shown...), len(shown) < len(parts)}
	if b.cut {
		last := strings.TrimRight(parts[most-1], " \n")
		b.blocks[most-1] = section(cut(last+" "+ellipsis+"    ", maxSection))
	}
	return b
}

// maxPolicy is the greatest size of a policy in bytes. A card can't show more visible text, but runs of spaces, which
// cards collapse, could make a row much larger.
const maxPolicy = 32 << 10

// PromptFits reports whether a card can show all of a policy. A longer policy from a model is refused.
func PromptFits(content string) bool {
	return len(content) <= maxPolicy && fits(func(d drawing) body { return d.prose(content, maxPages) })
}

// Stampable reports whether people can approve a policy: a card can show its text and everybody whom it mentions.
func Stampable(content string) bool {
	return PromptFits(content) && len(task.Mentioned(content)) <= task.MaxMentioned
}

// StepsFit is PromptFits for steps and the remarks on earlier versions.
func StepsFit(steps []task.Step, remarks string) bool {
	return fits(func(d drawing) body {
		return d.processBody(&task.Process{Steps: steps, Remarks: remarks}, explain.SumUp(d.w.Locale, steps), maxPages)
	})
}

func fits(draw func(drawing) body) bool {
	for _, locale := range language.All {
		if draw(drawing{a: &task.Aggregate{}, w: wordsOf.In(locale)}).bounded().cut {
			return false
		}
	}
	return true
}

// blockID names a click's task or conversation and, of a gate under a rule, the stage that the person saw.
func blockID(id string, stage int) string {
	if id = ident(id); stage > 0 {
		id += "/" + strconv.Itoa(stage)
	}
	return id
}

// shownID is blockID with the hash of the content that the card shows: the value of a task's buttons has no room for
// it, since it is the gate's id, by the specification.
func shownID(id string, stage int, hash string) string {
	return ident(id) + "/" + strconv.Itoa(stage) + "/" + hash
}

// Subject reads a block_id that a button names: a task or conversation, a stage, which is 0 for a gate without a rule,
// and the hash of what was shown, if it is there. ok is false for a stage as no card writes it.
func Subject(block string) (id string, stage int, hash string, ok bool) {
	id, rest, there := strings.Cut(block, "/")
	if !there {
		return id, 0, "", true
	}
	n, hash, shown := strings.Cut(rest, "/")
	stage, err := strconv.Atoi(n)
	return id, stage, hash, err == nil && (stage > 0 || shown && stage == 0) && strconv.Itoa(stage) == n
}
