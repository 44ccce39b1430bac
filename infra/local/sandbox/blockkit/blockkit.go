// Package blockkit checks Block Kit as Slack's Web API does: the same limits,
// and messages with JSON pointers in the same words.
//
// What the product draws is checked by it in tests, so it shares nothing with the
// product. Sources of the limits: Slack's Block Kit
// reference, the doc comments of @slack/types, and answers recorded from Slack.
package blockkit

import (
	"fmt"
	"unicode/utf16"
)

const (
	// MaxMessageBlocks is the most blocks a message holds.
	MaxMessageBlocks = 50
	// MaxAttachmentBlocks is the most blocks one attachment was seen to take.
	MaxAttachmentBlocks = 20
	// MaxViewBlocks is the most blocks a modal or Home tab holds.
	MaxViewBlocks = 100
	// MaxViewBytes is the largest view, as JSON.
	MaxViewBytes = 250_000
	// MaxCharacters is where a message's blocks together become
	// msg_blocks_too_long; Slack does not document it, measured near 13,200.
	MaxCharacters = 13000
)

// Problem is one finding and where it is.
type Problem struct {
	Message string
	Pointer string
}

// String is the finding in Slack's form.
func (p Problem) String() string {
	return p.Message + " [json-pointer:" + p.Pointer + "]"
}

// Blocks checks the blocks of a message; pointer is where they stand in the
// request, for example "/blocks" or "/attachments/0/blocks".
func Blocks(blocks []any, pointer string, most int) []Problem {
	c := &checker{}
	if len(blocks) > most {
		c.add(pointer, "no more than %d items allowed", most)
		return c.problems
	}
	c.blocks(pointer, blocks)
	return c.problems
}

// Units is how many characters a text has, counted in UTF-16. Slack doesn't publish what
// it counts: this is the most that can be meant.
func Units(s string) int { return len(utf16.Encode([]rune(s))) }

// Characters counts every text of the blocks, as msg_blocks_too_long does.
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

// blocks checks each block by its type and that no two share a block_id.
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

// typed looks up an object's shape by its type and checks it.
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
