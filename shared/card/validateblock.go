package card

import (
	"fmt"

	"github.com/slack-go/slack"
)

// block checks one block. Others than these are refused: cards don't use them.
func (v *validator) block(at string, b slack.Block, view bool) {
	switch b := b.(type) {
	case *slack.HeaderBlock:
		v.object(at+"/text", b.Text, limitHeader, slack.PlainTextType)
	case *slack.DividerBlock:
	case *slack.SectionBlock:
		v.section(at, b)
	case *slack.ContextBlock:
		v.items(at+"/elements", len(b.ContextElements.Elements), 1, limitContext)
		for i, e := range b.ContextElements.Elements {
			o, ok := e.(*slack.TextBlockObject)
			if !ok {
				v.add(fmt.Sprintf("%s/elements/%d", at, i), "must be a text object")
				continue
			}
			v.object(fmt.Sprintf("%s/elements/%d", at, i), o, limitText, slack.PlainTextType, slack.MarkdownType)
		}
	case *slack.ActionBlock:
		v.actions(at, b)
	case *slack.TableBlock:
		if view {
			v.add(at+"/type", "must not be table in a view")
		}
		v.table(at, b)
	case *slack.InputBlock:
		if !view {
			v.add(at+"/type", "must not be input in a message")
		}
		v.input(at, b)
	default:
		v.add(at+"/type", "must be header, section, divider, context, actions or table, not %T", b)
	}
}

func (v *validator) section(at string, b *slack.SectionBlock) {
	if b.Text == nil && len(b.Fields) == 0 {
		v.add(at, "must have text or fields")
	}
	if b.Text != nil {
		v.object(at+"/text", b.Text, limitText, slack.PlainTextType, slack.MarkdownType)
	}
	v.items(at+"/fields", len(b.Fields), 0, limitFields)
	for i, f := range b.Fields {
		v.object(fmt.Sprintf("%s/fields/%d", at, i), f, limitField, slack.PlainTextType, slack.MarkdownType)
	}
	if b.Accessory != nil {
		v.add(at+"/accessory", "must not be there: cards have none")
	}
}

func (v *validator) actions(at string, b *slack.ActionBlock) {
	if b.Elements == nil {
		v.add(at+"/elements", "is missing")
		return
	}
	v.items(at+"/elements", len(b.Elements.ElementSet), 1, limitActions)
	ids := map[string]bool{}
	for i, e := range b.Elements.ElementSet {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		button, ok := e.(*slack.ButtonBlockElement)
		if !ok {
			v.add(at+"/type", "must be button, not %T", e)
			continue
		}
		v.button(at, button)
		if ids[button.ActionID] {
			v.add(at+"/action_id", "must be unique, %q is there already", button.ActionID)
		}
		ids[button.ActionID] = true
	}
}

func (v *validator) button(at string, b *slack.ButtonBlockElement) {
	v.object(at+"/text", b.Text, limitButton, slack.PlainTextType)
	v.text(at+"/action_id", b.ActionID, 1, limitID)
	v.text(at+"/value", b.Value, 0, limitValue)
	v.text(at+"/url", b.URL, 0, limitURL)
	v.text(at+"/accessibility_label", b.AccessibilityLabel, 0, limitButton)
	switch b.Style {
	case "", slack.StylePrimary, slack.StyleDanger:
	default:
		v.add(at+"/style", "must be primary or danger, not %q", b.Style)
	}
	if c := b.Confirm; c != nil {
		v.object(at+"/confirm/title", c.Title, limitConfirmTitle, slack.PlainTextType)
		v.object(at+"/confirm/text", c.Text, limitConfirmText, slack.PlainTextType, slack.MarkdownType)
		v.object(at+"/confirm/confirm", c.Confirm, limitConfirm, slack.PlainTextType)
		v.object(at+"/confirm/deny", c.Deny, limitConfirm, slack.PlainTextType)
	}
}

// table checks a table block. Slack takes one in a message.
func (v *validator) table(at string, b *slack.TableBlock) {
	if v.tables++; v.tables > 1 {
		v.add(at, "must be the only table")
	}
	v.items(at+"/rows", len(b.Rows), 1, maxTableRows)
	v.items(at+"/column_settings", len(b.ColumnSettings), 0, maxTableColumns)
	before := v.characters
	for i, row := range b.Rows {
		at := fmt.Sprintf("%s/rows/%d", at, i)
		v.items(at, len(row), 1, maxTableColumns)
		for j, c := range row {
			text, ok := c.(*slack.TableRawTextCell)
			if !ok {
				v.add(fmt.Sprintf("%s/%d", at, j), "must be raw_text, not %T", c)
				continue
			}
			v.characters += units(text.Text)
			v.text(fmt.Sprintf("%s/%d/text", at, j), text.Text, 1, maxTableCharacters)
		}
	}
	if n := v.characters - before; n > maxTableCharacters {
		v.add(at, "must have at most %d characters in all cells, not %d", maxTableCharacters, n)
	}
}

// characters counts the texts of a block, as Slack does for the limit of a message.
func characters(b slack.Block) int {
	v := &validator{}
	v.block("", b, b.BlockType() != slack.MBTTable)
	return v.characters
}
