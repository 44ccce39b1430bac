package webapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

type checker struct{ problems []Problem }

func (c *checker) add(pointer, format string, args ...any) {
	c.problems = append(c.problems, Problem{Message: fmt.Sprintf(format, args...), Pointer: pointer})
}

// blocks checks each block by its type, and that block ids are unique.
func (c *checker) blocks(pointer string, blocks []any) {
	ids := map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("%s/%d", pointer, i)
		c.typed(at, b, blockShapes, "block")
		m, ok := b.(map[string]any)
		if !ok {
			continue
		}
		id, _ := m["block_id"].(string)
		if id == "" {
			continue
		}
		if ids[id] {
			c.add(at+"/block_id", "`block_id` `%s` already exists", id)
		}
		ids[id] = true
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

// buttons stand in an actions block; inputs in an input block. These and the blocks below are what the app sends.
var (
	buttons = []string{"button"}
	inputs  = []string{"plain_text_input", "static_select", "conversations_select", "radio_buttons", "checkboxes",
		"file_input"}
)

// blockShapes are the blocks by type.
var blockShapes = identified("block_id", map[string]shape{
	"header": {fields: fields{"!text": plain(150)}},
	"section": {fields: fields{"text": rich(3000), "fields": list(1, 10, rich(2000)), "accessory": element(buttons...),
		"expand": boolean}, also: needsText},
	"divider": {},
	"context": {fields: fields{"!elements": list(1, 10, rich(3000))}},
	"actions": {fields: fields{"!elements": list(1, 25, element(buttons...))}, also: uniqueActions},
	"input": {fields: fields{"!label": plain(2000), "!element": element(inputs...), "hint": plain(2000),
		"optional": boolean, "dispatch_action": boolean}},
	"markdown":  {fields: fields{"!text": str(1, 12000)}},
	"rich_text": {fields: fields{"!elements": list(0, 1000, anyOf("rich text object", richParts))}},
})

var (
	question = obj(fields{"!title": plain(100), "!text": rich(300), "!confirm": plain(30), "!deny": plain(30),
		"style": enum("primary", "danger")})
	option  = obj(fields{"!text": rich(75), "!value": str(1, 75), "description": rich(75), "url": str(1, 3000)})
	options = list(1, 10, obj(fields{"!text": rich(75), "!value": str(1, 150), "description": rich(75)}))
	// https://docs.slack.dev/reference/block-kit/composition-objects/conversation-filter-object
	places = obj(fields{"include": list(1, 4, enum("im", "mpim", "private", "public")),
		"exclude_external_shared_channels": boolean, "exclude_bot_users": boolean})
)

// elementShapes are the interactive elements by type.
var elementShapes = identified("action_id", map[string]shape{
	"button": {fields: fields{"!text": plain(75), "value": str(0, 2000), "url": str(0, 3000),
		"style": enum("primary", "danger"), "confirm": question, "accessibility_label": str(0, 75)}},
	"static_select": {fields: fields{"!options": list(1, 100, option), "initial_option": option, "placeholder": plain(150),
		"confirm": question, "focus_on_load": boolean}},
	"conversations_select": {fields: fields{"initial_conversation": str(1, 255),
		"default_to_current_conversation": boolean,
		"response_url_enabled":            boolean, "filter": places, "placeholder": plain(150), "confirm": question,
		"focus_on_load": boolean}},
	"radio_buttons": {fields: fields{"!options": options, "initial_option": option, "confirm": question,
		"focus_on_load": boolean}},
	"checkboxes": {fields: fields{"!options": options, "initial_options": list(1, 10, option), "confirm": question,
		"focus_on_load": boolean}},
	"plain_text_input": {fields: fields{"initial_value": str(0, 3000), "multiline": boolean, "min_length": number(0, 3000),
		"max_length": number(1, 3000), "placeholder": plain(150), "focus_on_load": boolean,
		"dispatch_action_config": obj(fields{"trigger_actions_on": list(1, 2, str(1, 40))})}},
	"file_input": {fields: fields{"filetypes": list(1, 100, str(1, 40)), "max_files": number(1, 10)}},
})

// identified gives each of the shapes an id.
func identified(name string, all map[string]shape) map[string]shape {
	for kind, s := range all {
		if s.fields == nil {
			s.fields = fields{}
		}
		s.fields[name] = str(0, 255)
		all[kind] = s
	}
	return all
}

// richParts are what the app's rich_text blocks have, by Slack's reference of the block and its elements.
var (
	leaves = list(0, 1000, anyOf("rich text element", map[string]shape{
		"text":    {fields: fields{"!text": str(1, MaxCharacters), "style": richStyle}},
		"link":    {fields: fields{"!url": str(1, 3000), "text": str(0, MaxCharacters), "style": richStyle}},
		"user":    {fields: fields{"!user_id": str(1, 255), "style": richStyle}},
		"channel": {fields: fields{"!channel_id": str(1, 255), "style": richStyle}},
	}))
	richStyle   = obj(fields{"bold": boolean, "italic": boolean, "strike": boolean, "code": boolean})
	richSection = map[string]shape{"rich_text_section": {fields: fields{"!elements": leaves}}}
	richParts   = map[string]shape{
		"rich_text_section": richSection["rich_text_section"],
		"rich_text_list": {fields: fields{"!style": enum("bullet", "ordered"), "indent": number(0, 8),
			"offset": number(0, 1000), "border": number(0, 1),
			"!elements": list(0, 1000, anyOf("rich text object", richSection))}},
	}
)

// element is an interactive element of one of the kinds.
func element(kinds ...string) rule {
	return func(c *checker, at string, v any) {
		allowed := map[string]shape{}
		for _, k := range kinds {
			allowed[k] = elementShapes[k]
		}
		c.typed(at, v, allowed, "element")
	}
}

// anyOf is an object of one of these shapes.
func anyOf(noun string, shapes map[string]shape) rule {
	return func(c *checker, at string, v any) { c.typed(at, v, shapes, noun) }
}

func needsText(c *checker, at string, m map[string]any) {
	if m["text"] == nil && m["fields"] == nil {
		c.add(at, "missing required field: text")
	}
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

// ViewProblems checks a modal or Home tab of a views.* call. Its pointers begin with /view.
func ViewProblems(view map[string]any) []Problem {
	c := &checker{}
	switch view["type"] {
	case "modal":
		c.object("/view", view, shape{fields: fields{"!title": plain(24), "submit": plain(24), "close": plain(24),
			"!blocks": viewBlocks, "private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
			"clear_on_close": boolean, "notify_on_close": boolean, "submit_disabled": boolean,
		}, also: needsSubmit})
	case "home":
		c.object("/view", view, shape{fields: fields{
			"!blocks": viewBlocks, "private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
		}})
	default:
		c.add("/view/type", "must be a valid enum value: modal, home")
	}
	return c.problems
}

var viewBlocks = is("be an array", func(c *checker, at string, blocks []any) {
	if len(blocks) > MaxViewBlocks {
		c.add(at, "no more than %d items allowed", MaxViewBlocks)
		return
	}
	c.blocks(at, blocks)
})

// needsSubmit checks Slack's rule that a modal with an input needs a submit button.
func needsSubmit(c *checker, at string, m map[string]any) {
	blocks, _ := m["blocks"].([]any)
	for _, b := range blocks {
		if bm, ok := b.(map[string]any); ok && bm["type"] == "input" && m["submit"] == nil {
			c.add(at, "missing required field: submit")
			return
		}
	}
}

// rule checks one value. at is the value's JSON pointer.
type rule func(c *checker, at string, v any)

// fields are an object's, each with its rule. A name that starts with "!" is required. "type" is always allowed.
type fields map[string]rule

type shape struct {
	fields fields
	also   func(c *checker, at string, m map[string]any)
}

func (c *checker) object(at string, m map[string]any, s shape) {
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		key, required := strings.CutPrefix(name, "!")
		v, present := m[key]
		if !present || v == nil {
			if required {
				c.add(at, "missing required field: %s", key)
			}
			continue
		}
		s.fields[name](c, at+"/"+key, v)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		_, optional := s.fields[key]
		_, required := s.fields["!"+key]
		if !optional && !required && key != "type" {
			c.add(at, "invalid additional property: %s", key)
		}
	}
	if s.also != nil {
		s.also(c, at, m)
	}
}

// is checks a value that must be of type T, in which more may be wrong.
func is[T any](be string, more func(c *checker, at string, v T)) rule {
	return func(c *checker, at string, v any) {
		x, ok := v.(T)
		if !ok {
			c.add(at, "must %s", be)
			return
		}
		more(c, at, x)
	}
}

// str is a string whose length, as Units counts it, is between least and most.
func str(least, most int) rule {
	return is("provide a string", func(c *checker, at, s string) {
		n := Units(s)
		if n < least {
			c.add(at, "must be more than %d characters", least-1)
		}
		if n > most {
			c.add(at, "must be less than %d characters", most+1)
		}
	})
}

// text is a text object of one of the kinds, with at most most characters.
func text(most int, kinds ...string) rule {
	return is("provide an object", func(c *checker, at string, m map[string]any) {
		kind, _ := m["type"].(string)
		if !slices.Contains(kinds, kind) {
			c.add(at+"/type", "must be a valid enum value: %s", strings.Join(kinds, ", "))
			return
		}
		own := map[string]string{"plain_text": "emoji", "mrkdwn": "verbatim"}[kind]
		c.object(at, m, shape{fields: fields{"!text": str(1, most), own: boolean}})
	})
}

func plain(most int) rule { return text(most, "plain_text") }
func rich(most int) rule  { return text(most, "plain_text", "mrkdwn") }

var boolean = is("be a boolean", func(*checker, string, bool) {})

func number(least, most int) rule {
	return is("be an integer", func(c *checker, at string, f float64) {
		switch {
		case f != float64(int(f)):
			c.add(at, "must be an integer")
		case int(f) < least:
			c.add(at, "must be greater than or equal to %d", least)
		case int(f) > most:
			c.add(at, "must be less than or equal to %d", most)
		}
	})
}

func enum(values ...string) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			c.add(at, "must be a valid enum value: %s", strings.Join(values, ", "))
		}
	}
}

// list is an array of least to most items, each of which must satisfy item.
func list(least, most int, item rule) rule {
	return is("be an array", func(c *checker, at string, items []any) {
		if len(items) < least {
			c.add(at, "no fewer than %d items allowed", least)
		}
		if len(items) > most {
			c.add(at, "no more than %d items allowed", most)
			return
		}
		for i, e := range items {
			item(c, fmt.Sprintf("%s/%d", at, i), e)
		}
	})
}

// obj is an object with these fields.
func obj(f fields) rule {
	return is("provide an object", func(c *checker, at string, m map[string]any) { c.object(at, m, shape{fields: f}) })
}
