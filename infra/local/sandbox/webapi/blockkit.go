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

// Units counts the UTF-16 code units of a text. Slack does not document how it counts; this is the strictest likely way.
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
	tables   int
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
