package webapi

import (
	"fmt"
	"unicode/utf16"
)

const (
	// MaxMessageBlocks is the maximum number of blocks in a message.
	MaxMessageBlocks = 50
	// MaxAttachmentBlocks is the largest number of blocks that Slack was seen to accept in one attachment.
	MaxAttachmentBlocks = 20
	// MaxViewBlocks is the maximum number of blocks in a modal or Home tab.
	MaxViewBlocks = 100
	// MaxViewBytes is the maximum size of a view as JSON.
	MaxViewBytes = 250_000
	// MaxCharacters limits all texts of a message's blocks together. Above it Slack answers msg_blocks_too_long. Slack
	// does not document the limit, which was measured near 13,200.
	MaxCharacters = 13000
)

// Problem is an error and its position.
type Problem struct {
	Message string
	Pointer string
}

// String formats the problem as Slack does.
func (p Problem) String() string {
	return p.Message + " [json-pointer:" + p.Pointer + "]"
}

// Blocks checks the blocks of a message. pointer is their position in the request, such as "/blocks" or
// "/attachments/0/blocks".
func Blocks(blocks []any, pointer string, most int) []Problem {
	c := &checker{}
	if len(blocks) > most {
		c.add(pointer, "no more than %d items allowed", most)
		return c.problems
	}
	c.blocks(pointer, blocks)
	return c.problems
}

// Units counts the UTF-16 code units of a text. Slack does not document how it counts; this is the strictest likely
// way.
func Units(s string) int { return len(utf16.Encode([]rune(s))) }

// Characters counts all texts of the blocks, as Slack does for msg_blocks_too_long.
func Characters(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += Characters(e)
		}
	case map[string]any:
		for k, e := range v {
			if s, ok := e.(string); ok && k == "text" {
				n += Units(s)
				continue
			}
			n += Characters(e)
		}
	}
	return n
}

type checker struct {
	problems []Problem
	ids      map[string]bool
}

func (c *checker) add(pointer, format string, args ...any) {
	c.problems = append(c.problems, Problem{Message: fmt.Sprintf(format, args...), Pointer: pointer})
}

// blocks checks each block by its type, and that block ids are unique.
func (c *checker) blocks(pointer string, blocks []any) {
	c.ids = map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("%s/%d", pointer, i)
		c.typed(at, b, blockShapes(), "block")
		m, ok := b.(map[string]any)
		if !ok {
			continue
		}
		id, _ := m["block_id"].(string)
		if id == "" {
			continue
		}
		if c.ids[id] {
			c.add(at+"/block_id", "`block_id` `%s` already exists", id)
		}
		c.ids[id] = true
	}
}

// typed checks an object against the shape of its type.
func (c *checker) typed(at string, v any, shapes map[string]shape, noun string) {
	m, ok := v.(map[string]any)
	if !ok {
		c.add(at, "must be a valid %s", noun)
		return
	}
	kind, ok := m["type"].(string)
	if !ok {
		c.add(at, "missing required field: type")
		return
	}
	s, ok := shapes[kind]
	if !ok {
		c.add(at+"/type", "unsupported type: %s", kind)
		return
	}
	c.object(at, m, s)
}

var inActions = []string{
	"button", "overflow", "static_select", "multi_static_select", "users_select", "multi_users_select",
	"channels_select", "conversations_select", "datepicker", "timepicker", "radio_buttons", "checkboxes",
}

var inInput = []string{
	"plain_text_input", "number_input", "email_text_input", "url_text_input", "static_select", "multi_static_select",
	"users_select", "multi_users_select", "channels_select", "conversations_select", "datepicker", "timepicker",
	"radio_buttons", "checkboxes", "file_input",
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
		"rich_text":       with(map[string]rule{"!elements": richText()}),
	}
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

// elementShapes returns the interactive elements that the sandbox can draw.
func elementShapes() map[string]shape {
	with := func(fields map[string]rule) shape {
		fields["action_id"] = str(0, 255)
		return shape{fields: fields}
	}
	control := func(fields map[string]rule) shape {
		fields["confirm"] = obj(confirmShape())
		fields["focus_on_load"] = boolean
		return with(fields)
	}
	picker := func(fields map[string]rule) shape {
		fields["placeholder"] = plain(150)
		return control(fields)
	}
	field := func(fields map[string]rule) shape {
		fields["placeholder"] = plain(150)
		fields["focus_on_load"] = boolean
		fields["dispatch_action_config"] = obj(shape{fields: map[string]rule{"trigger_actions_on": list(1, 2, str(1, 40))}})
		return with(fields)
	}
	option := obj(optionShape(75, 75))
	feedback := obj(shape{fields: map[string]rule{"!text": plain(75), "!value": str(1, 2000),
		"accessibility_label": str(1, 75)}})
	shapes := map[string]shape{
		"button": with(map[string]rule{
			"!text": plain(75), "value": str(0, 2000), "url": str(0, 3000), "style": enum("primary", "danger"),
			"confirm": obj(confirmShape()), "accessibility_label": str(0, 75),
		}),
		"image":    {fields: map[string]rule{"image_url": str(1, 3000), "!alt_text": str(1, 2000)}},
		"overflow": with(map[string]rule{"!options": list(1, 5, option), "confirm": obj(confirmShape())}),
		"static_select": selectShape(picker(map[string]rule{
			"options": list(1, 100, option), "option_groups": list(1, 100, groupRule(option)), "initial_option": option,
		})),
		"multi_static_select": selectShape(picker(map[string]rule{
			"options": list(1, 100, option), "option_groups": list(1, 100, groupRule(option)),
			"initial_options": list(1, 100, option), "max_selected_items": number(1, 100),
		})),
		"users_select": picker(map[string]rule{"initial_user": str(1, 255)}),
		"multi_users_select": picker(map[string]rule{"initial_users": list(1, 100, str(1, 255)),
			"max_selected_items": number(1, 100)}),
		"channels_select": picker(map[string]rule{"initial_channel": str(1, 255), "response_url_enabled": boolean}),
		"conversations_select": picker(map[string]rule{"initial_conversation": str(1, 255),
			"default_to_current_conversation": boolean, "response_url_enabled": boolean, "filter": obj(conversationsShape())}),
		"datepicker": picker(map[string]rule{"initial_date": str(10, 10)}),
		"timepicker": picker(map[string]rule{"initial_time": str(5, 5), "timezone": str(1, 64)}),
		"radio_buttons": control(map[string]rule{"!options": list(1, 10, obj(optionShape(75, 150))),
			"initial_option": option}),
		"checkboxes": control(map[string]rule{"!options": list(1, 10, obj(optionShape(75, 150))),
			"initial_options": list(1, 10, option)}),
		"plain_text_input": field(map[string]rule{
			"initial_value": str(0, 3000), "multiline": boolean, "min_length": number(0, 3000), "max_length": number(1, 3000),
		}),
		"number_input": field(map[string]rule{
			"!is_decimal_allowed": boolean, "initial_value": str(1, 255), "min_value": str(1, 255), "max_value": str(1, 255),
		}),
		"file_input":       with(map[string]rule{"filetypes": list(1, 100, str(1, 40)), "max_files": number(1, 10)}),
		"email_text_input": field(map[string]rule{"initial_value": str(0, 3000)}),
		"url_text_input":   field(map[string]rule{"initial_value": str(0, 3000)}),
		"feedback_buttons": with(map[string]rule{"!positive_button": feedback, "!negative_button": feedback}),
		"icon_button": with(map[string]rule{
			"!icon": enum("trash"), "!text": plain(75), "value": str(0, 2000), "confirm": obj(confirmShape()),
			"accessibility_label": str(0, 75), "visible_to_user_ids": list(1, 100, str(1, 255)),
		}),
	}
	return shapes
}

func confirmShape() shape {
	return shape{fields: map[string]rule{
		"!title": plain(100), "!text": rich(300), "!confirm": plain(30), "!deny": plain(30), "style": enum("primary",
			"danger"),
	}}
}

func optionShape(label, value int) shape {
	return shape{fields: map[string]rule{"!text": rich(label), "!value": str(1, value), "description": rich(75),
		"url": str(1, 3000)}}
}

func groupRule(option rule) rule {
	return obj(shape{fields: map[string]rule{"!label": plain(75), "!options": list(1, 100, option)}})
}

// selectShape requires that a select has either options or option groups.
func selectShape(s shape) shape {
	s.also = func(c *checker, at string, m map[string]any) {
		if (m["options"] == nil) == (m["option_groups"] == nil) {
			c.add(at, "must provide exactly one of: options, option_groups")
		}
	}
	return s
}

// conversationsShape is the filter that restricts the conversations in a menu (docs.slack.dev,
// reference/block-kit/composition-objects/conversation-filter-object).
func conversationsShape() shape {
	return shape{fields: map[string]rule{
		"include": list(1, 4, enum("im", "mpim", "private",
			"public")), "exclude_external_shared_channels": boolean, "exclude_bot_users": boolean,
	}}
}

// richText is a rich_text block's or cell's elements, by Slack's reference of the block and of its elements.
func richText() rule {
	return list(0, 1000, func(c *checker, at string, v any) {
		c.typed(at, v, richParts(true), "rich text object")
	})
}

func richParts(lists bool) map[string]shape {
	leaves := list(0, 1000, func(c *checker, at string, v any) { c.typed(at, v, richLeaves(), "rich text element") })
	line := shape{fields: map[string]rule{"!elements": leaves}}
	bordered := shape{fields: map[string]rule{"!elements": leaves, "border": number(0, 1), "language": str(0, 255)}}
	parts := map[string]shape{"rich_text_section": line}
	if lists {
		parts["rich_text_preformatted"], parts["rich_text_quote"] = bordered, bordered
		item := func(c *checker, at string, v any) { c.typed(at, v, richParts(false), "rich text object") }
		parts["rich_text_list"] = shape{fields: map[string]rule{
			"!style": enum("bullet", "ordered"), "!elements": list(0, 1000, item), "indent": number(0, 8),
			"offset": number(0, 1000), "border": number(0, 1),
		}}
	}
	return parts
}

func richLeaves() map[string]shape {
	styles := map[string]rule{}
	for _, s := range []string{"bold", "italic", "strike", "code", "underline", "highlight", "client_highlight",
		"unlink"} {
		styles[s] = boolean
	}
	styled := func(fields map[string]rule) shape {
		fields["style"] = obj(shape{fields: styles})
		return shape{fields: fields}
	}
	return map[string]shape{
		"text":      styled(map[string]rule{"!text": str(1, MaxCharacters)}),
		"link":      styled(map[string]rule{"!url": str(1, 3000), "text": str(0, MaxCharacters), "unsafe": boolean}),
		"user":      styled(map[string]rule{"!user_id": str(1, 255)}),
		"usergroup": styled(map[string]rule{"!usergroup_id": str(1, 255)}),
		"channel":   styled(map[string]rule{"!channel_id": str(1, 255)}),
		"broadcast": styled(map[string]rule{"!range": enum("here", "channel", "everyone")}),
		"emoji":     styled(map[string]rule{"!name": str(1, 255), "unicode": str(1, 255)}),
		"color":     styled(map[string]rule{"!value": str(1, 255)}),
		"date": styled(map[string]rule{"!timestamp": number(0, 1<<40), "!format": str(1, 255), "url": str(1, 3000),
			"fallback": str(1, 255)}),
	}
}
