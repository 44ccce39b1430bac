package card

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"ringi/shared/lazy"

	"github.com/slack-go/slack"
)

// Slack's limits, in characters or items. Sources: the Block Kit reference and
// the doc comments of @slack/types. Ours are marked.
const (
	limitBlocks       = 16    // ours: Slack was seen to refuse more than 20 in an attachment
	limitViewBlocks   = 100   //
	limitCharacters   = 13000 // of all blocks together; undocumented, measured near 13,200
	limitFallback     = 4000  // recommended; cut over 40,000
	limitHeader       = 150   //
	limitText         = 3000  // of a section and of a context's element
	limitFields       = 10    //
	limitField        = 2000  //
	limitContext      = 10    //
	limitActions      = 25    //
	limitButton       = 75    // and its accessibility label
	limitValue        = 2000  //
	limitURL          = 3000  //
	limitID           = 255   // action_id, block_id, callback_id, external_id
	limitConfirmTitle = 100   //
	limitConfirmText  = 300   //
	limitConfirm      = 30    // either button of a dialog
	limitViewTitle    = 24    // and a view's buttons
	limitMetadata     = 3000  //
	limitInputLabel   = 2000  // and hint
	limitPlaceholder  = 150   //
	limitInput        = 3000  // max_length
	limitViewBytes    = 250_000
)

var colourForm = lazy.Regexp(`^#[0-9a-f]{6}$`)

// Validate returns what Slack would refuse in a message, and what breaks our own
// rules: exactly one attachment with a colour (none in a plain reply), and at most 16 blocks of the six
// types that cards are made of. Each problem names a JSON pointer and the limit.
// Characters are counted in UTF-16 units, the most that Slack may count.
func Validate(m Message) error {
	v := &validator{}
	v.text("/text", m.Text, 1, limitFallback)
	if m.Attachments != nil && len(m.Attachments) == 0 {
		return v.err("card")
	}
	if len(m.Attachments) != 1 {
		v.add("/attachments", "must have exactly 1 item, not %d", len(m.Attachments))
		return v.err("card")
	}
	a := m.Attachments[0]
	if !colourForm().MatchString(a.Color) {
		v.add("/attachments/0/color", "must be a colour like #36a64f")
	}
	v.only(a)
	v.blocks("/attachments/0/blocks", a.Blocks.BlockSet, limitBlocks, false)
	if v.characters > limitCharacters {
		v.add("/attachments/0/blocks", "must have at most %d characters together, not %d", limitCharacters, v.characters)
	}
	return v.err("card")
}

// only refuses the older parts of an attachment: Slack shows them beside the blocks.
func (v *validator) only(a slack.Attachment) {
	if a.Text != "" || a.Title != "" || a.Pretext != "" || a.Fallback != "" || a.Footer != "" || len(a.Fields) > 0 || len(a.Actions) > 0 {
		v.add("/attachments/0", "must have nothing but color and blocks")
	}
}

type validator struct {
	problems   []error
	characters int
	tables     int
}

func (v *validator) add(pointer, format string, args ...any) {
	v.problems = append(v.problems, fmt.Errorf("%s: %s", pointer, fmt.Sprintf(format, args...)))
}

func (v *validator) err(what string) error {
	if len(v.problems) == 0 {
		return nil
	}
	return fmt.Errorf("invalid %s: %w", what, errors.Join(v.problems...))
}

func (v *validator) text(pointer, s string, least, most int) {
	if n := units(s); n < least || n > most {
		v.add(pointer, "must have %d to %d characters, not %d", least, most, n)
	}
	if !utf8.ValidString(s) {
		v.add(pointer, "must be valid UTF-8")
	}
}

func (v *validator) items(pointer string, n, least, most int) {
	if n < least || n > most {
		v.add(pointer, "must have %d to %d items, not %d", least, most, n)
	}
}

// object checks a text object that must be there.
func (v *validator) object(pointer string, o *slack.TextBlockObject, most int, kinds ...string) {
	if o == nil {
		v.add(pointer, "is missing")
		return
	}
	known := false
	for _, k := range kinds {
		known = known || o.Type == k
	}
	if !known {
		v.add(pointer+"/type", "must be one of %q, not %q", kinds, o.Type)
	}
	if o.Type == slack.MarkdownType && o.Emoji != nil {
		v.add(pointer+"/emoji", "is for plain_text only")
	}
	v.characters += units(o.Text)
	v.text(pointer+"/text", o.Text, 1, most)
}

// blocks checks each block, and that no two share a block_id.
func (v *validator) blocks(pointer string, blocks []slack.Block, most int, view bool) {
	v.items(pointer, len(blocks), 1, most)
	ids := map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("%s/%d", pointer, i)
		v.block(at, b, view)
		if b == nil || b.ID() == "" {
			continue
		}
		v.text(at+"/block_id", b.ID(), 1, limitID)
		if ids[b.ID()] {
			v.add(at+"/block_id", "must be unique, %q is there already", b.ID())
		}
		ids[b.ID()] = true
	}
}
