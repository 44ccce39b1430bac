package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// Of the blocks of a card, a body may be this many, in this many characters: the others
// are the header, a divider, what became of it in up to three lines, and buttons.
const (
	maxBodyBlocks = maxBlocks - 6
	maxBody       = maxCharacters - 2500
)

// body is what a card asks people to decide about. cut says that the card does not show all of it: then its button does
// not approve but opens a Review, which shows all. Everything that people decide about must be added to the body.
type body struct {
	blocks []slack.Block
	cut    bool
}

func (b body) with(more body) body {
	return body{append(b.blocks[:len(b.blocks):len(b.blocks)], more.blocks...), b.cut || more.cut}
}

// add is with in place, for a body that is made row by row and whose blocks nobody else has.
func (b *body) add(more body) {
	b.blocks, b.cut = append(b.blocks, more.blocks...), b.cut || more.cut
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

// blockHeight is how many lines a block has, if it is a section or a table; a cell has one.
func blockHeight(b slack.Block) int {
	switch b := b.(type) {
	case *slack.SectionBlock:
		if b.Text != nil {
			return height(b.Text.Text)
		}
	case *slack.TableBlock:
		return len(b.Rows)
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

// prose is a text that people stamp, over at most most sections.
func (d drawing) prose(text string, most int) body {
	return d.sections(pages(prepared(text), maxSection), most)
}

// lined shows lines over at most most sections; the last section counts the lines that did not fit.
func (d drawing) lined(lines []string, most int) body {
	pages, left := d.paged(lines, most)
	return body{sectioned(pages...), left > 0}
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

// maxPolicy is how many bytes a policy may have. A card can't show more visible text, but it folds blanks, so a row
// could have far more bytes.
const maxPolicy = 32 << 10

// PromptFits reports whether a card can show all of a policy; a longer one is not accepted from the model.
func PromptFits(content string) bool {
	return len(content) <= maxPolicy && fits(func(d drawing) body { return d.prose(content, maxPages) })
}

// Stampable reports whether people can approve a policy: a card can show all of it, and everybody whom it mentions.
func Stampable(content string) bool {
	return PromptFits(content) && len(task.Mentioned(content)) <= task.MaxMentioned
}

// StepsFit is PromptFits for steps and the remarks above them.
func StepsFit(steps []task.Step, remarks string) bool {
	return fits(func(d drawing) body { return d.processBody(steps, remarks, maxPages) })
}

func fits(draw func(drawing) body) bool {
	for _, locale := range language.All {
		if draw(drawing{a: &task.Aggregate{}, w: wordsOf(locale)}).bounded().cut {
			return false
		}
	}
	return true
}
