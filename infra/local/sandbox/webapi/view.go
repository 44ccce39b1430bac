package webapi

import "fmt"

// View checks a modal or Home tab of a views.* call. Its pointers begin with /view.
func ViewProblems(view map[string]any) []Problem {
	c := &checker{}
	switch view["type"] {
	case "modal":
		c.object("/view", view, shape{fields: map[string]rule{
			"!title": plain(24), "submit": plain(24), "close": plain(24), "!blocks": viewBlocks,
			"private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
			"clear_on_close": boolean, "notify_on_close": boolean, "submit_disabled": boolean,
		}, also: needsSubmit})
	case "home":
		c.object("/view", view, shape{fields: map[string]rule{
			"!blocks": viewBlocks, "private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
		}})
	default:
		c.add("/view/type", "must be a valid enum value: modal, home")
	}
	return c.problems
}

func viewBlocks(c *checker, at string, v any) {
	blocks, ok := v.([]any)
	if !ok {
		c.add(at, "must be an array")
		return
	}
	if len(blocks) > MaxViewBlocks {
		c.add(at, "no more than %d items allowed", MaxViewBlocks)
		return
	}
	for i, b := range blocks {
		if m, _ := b.(map[string]any); m["type"] == "table" {
			c.add(fmt.Sprintf("%s/%d/type", at, i), "unsupported type: table")
		}
	}
	c.blocks(at, blocks)
}

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
