package card

import (
	"strconv"
	"strings"
)

// blockID is the block_id by which a click names its task or conversation and, of a gate under a rule, the stage that
// the person saw.
func blockID(id string, stage int) string {
	if id = ident(id); stage > 0 {
		id += "/" + strconv.Itoa(stage)
	}
	return id
}

// Subject reads a block_id that a button names: a task or conversation, and a stage, which is 0 for a gate without a
// rule. ok is false if the stage is written in a way that no card writes it.
func Subject(block string) (id string, stage int, ok bool) {
	id, n, there := strings.Cut(block, "/")
	if !there {
		return id, 0, true
	}
	stage, err := strconv.Atoi(n)
	return id, stage, err == nil && stage > 0 && strconv.Itoa(stage) == n
}
