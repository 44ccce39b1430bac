package webapi

import "fmt"

var inActions = []string{
	"button", "overflow", "static_select", "multi_static_select", "users_select", "multi_users_select",
	"channels_select", "conversations_select", "datepicker", "timepicker", "radio_buttons", "checkboxes",
}

var inInput = []string{
	"plain_text_input", "number_input", "email_text_input", "url_text_input", "static_select", "multi_static_select",
	"users_select", "multi_users_select", "channels_select", "conversations_select", "datepicker", "timepicker",
	"radio_buttons", "checkboxes",
}

// blockShapes returns the block types that the sandbox can draw.
func blockShapes() map[string]shape {
	with := func(fields map[string]rule) shape {
		fields["block_id"] = str(0, 255)
		return shape{fields: fields}
	}
	section := with(map[string]rule{
		"text":      rich(3000),
		"fields":    list(1, 10, rich(2000)),
		"accessory": element(append([]string{"image"}, inActions...)...),
		"expand":    boolean,
	})
	section.also = func(c *checker, at string, m map[string]any) {
		if m["text"] == nil && m["fields"] == nil {
			c.add(at, "missing required field: text")
		}
	}
	actions := with(map[string]rule{"!elements": list(1, 25, element(inActions...))})
	actions.also = uniqueActions
	return map[string]shape{
		"header":  with(map[string]rule{"!text": plain(150)}),
		"section": section,
		"divider": with(map[string]rule{}),
		"context": with(map[string]rule{"!elements": list(1, 10, contextElement)}),
		"actions": actions,
		"input": with(map[string]rule{
			"!label": plain(2000), "!element": element(inInput...), "hint": plain(2000),
			"optional": boolean, "dispatch_action": boolean,
		}),
		"image": with(map[string]rule{
			"image_url": str(1, 3000), "slack_file": obj(shape{fields: map[string]rule{"id": str(1, 255), "url": str(1, 3000)}}),
			"!alt_text": str(1, 2000), "title": plain(2000),
		}),
		"markdown":        with(map[string]rule{"!text": str(1, 12000)}),
		"context_actions": with(map[string]rule{"!elements": list(1, 5, element("feedback_buttons", "icon_button"))}),
		"table":           tableShape(with),
		"rich_text":       with(map[string]rule{"!elements": richText()}),
	}
}

// maxTableCharacters is the maximum for all cells of a message's table together.
const maxTableCharacters = 10000

// tableShape is a table of up to 100 rows with up to 20 cells each.
func tableShape(with func(map[string]rule) shape) shape {
	setting := obj(shape{fields: map[string]rule{"align": enum("left", "center", "right"), "is_wrapped": boolean}})
	s := with(map[string]rule{"!rows": list(1, 100, list(1, 20, tableCell)), "column_settings": list(0, 20, setting)})
	s.also = func(c *checker, at string, m map[string]any) {
		if Characters(m["rows"]) > maxTableCharacters {
			c.add(at+"/rows", "must be less than %d characters in all cells", maxTableCharacters+1)
		}
		if c.tables++; c.tables > 1 {
			c.add(at, "only one table allowed")
		}
	}
	return s
}

func tableCell(c *checker, at string, v any) {
	c.typed(at, v, map[string]shape{
		"raw_text":  {fields: map[string]rule{"!text": str(1, maxTableCharacters)}},
		"rich_text": {fields: map[string]rule{"!elements": richText()}},
	}, "table cell")
}

func contextElement(c *checker, at string, v any) {
	if m, ok := v.(map[string]any); ok && m["type"] != "image" {
		rich(3000)(c, at, v)
		return
	}
	element("image")(c, at, v)
}

func uniqueActions(c *checker, at string, m map[string]any) {
	elements, _ := m["elements"].([]any)
	seen := map[string]bool{}
	for i, e := range elements {
		em, _ := e.(map[string]any)
		id, _ := em["action_id"].(string)
		if id != "" && seen[id] {
			c.add(fmt.Sprintf("%s/elements/%d/action_id", at, i), "`action_id` `%s` already exists", id)
		}
		seen[id] = true
	}
}
