package card

import (
	"encoding/json"

	"github.com/slack-go/slack"
)

// ValidateView is Validate for a dialog.
func ValidateView(view slack.ModalViewRequest) error {
	v := &validator{}
	if view.Type != slack.VTModal {
		v.add("/type", "must be modal, not %q", view.Type)
	}
	v.object("/title", view.Title, limitViewTitle, slack.PlainTextType)
	if view.Close != nil {
		v.object("/close", view.Close, limitViewTitle, slack.PlainTextType)
	}
	if view.Submit != nil {
		v.object("/submit", view.Submit, limitViewTitle, slack.PlainTextType)
	} else if hasInput(view.Blocks.BlockSet) {
		v.add("/submit", "is missing: a view with an input must have one")
	}
	v.text("/private_metadata", view.PrivateMetadata, 0, limitMetadata)
	v.text("/callback_id", view.CallbackID, 0, limitID)
	v.text("/external_id", view.ExternalID, 0, limitID)
	v.blocks("/blocks", view.Blocks.BlockSet, limitViewBlocks, true)
	if b, err := json.Marshal(view); err != nil {
		v.add("", "must be JSON: %v", err)
	} else if len(b) > limitViewBytes {
		v.add("", "must have at most %d bytes, not %d", limitViewBytes, len(b))
	}
	return v.err("view")
}

func hasInput(blocks []slack.Block) bool {
	for _, b := range blocks {
		if _, ok := b.(*slack.InputBlock); ok {
			return true
		}
	}
	return false
}

func (v *validator) input(at string, b *slack.InputBlock) {
	v.object(at+"/label", b.Label, limitInputLabel, slack.PlainTextType)
	if b.Hint != nil {
		v.object(at+"/hint", b.Hint, limitInputLabel, slack.PlainTextType)
	}
	e, ok := b.Element.(*slack.PlainTextInputBlockElement)
	if !ok {
		v.add(at+"/element/type", "must be plain_text_input, not %T", b.Element)
		return
	}
	v.text(at+"/element/action_id", e.ActionID, 1, limitID)
	if e.Placeholder != nil {
		v.object(at+"/element/placeholder", e.Placeholder, limitPlaceholder, slack.PlainTextType)
	}
	v.text(at+"/element/initial_value", e.InitialValue, 0, limitInput)
	if e.MaxLength < 0 || e.MaxLength > limitInput {
		v.add(at+"/element/max_length", "must be 1 to %d, not %d", limitInput, e.MaxLength)
	}
	if e.MinLength < 0 || e.MinLength > limitInput {
		v.add(at+"/element/min_length", "must be 0 to %d, not %d", limitInput, e.MinLength)
	}
}
