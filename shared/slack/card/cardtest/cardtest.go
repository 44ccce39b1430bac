// Package cardtest checks what cards and dialogs look like: by the sandbox's rules, which
// are Slack's, and by ours, which are narrower.
package cardtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/blockkit"
	"ringi/shared/slack/slackapi/outgoing"
)

const (
	maxBlocks   = 16   // Slack was seen to refuse more than 20 in an attachment
	maxFallback = 4000 // in characters: recommended; Slack cuts what is over 40,000
)

var (
	inBoth     = []string{"header", "section", "divider", "context", "actions", "button", "mrkdwn", "plain_text"}
	inMessages = append([]string{"table", "raw_text"}, inBoth...)
	inViews    = append([]string{"modal", "input", "plain_text_input"}, inBoth...)
	colour     = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// Check returns what Slack would refuse in a message, and what breaks our own rules: a text, and
// exactly one attachment with a colour (none in a plain reply) that has nothing else but at most
// 16 blocks of the six types that cards are made of.
func Check(m outgoing.Message) error {
	found := problems{}
	if n := blockkit.Units(m.Text); n < 1 || n > maxFallback {
		found.add("/text", "must have 1 to %d characters, not %d", maxFallback, n)
	}
	var sent struct {
		Attachments []map[string]any `json:"attachments"`
	}
	found.decode(m, &sent)
	if m.Attachments != nil && len(m.Attachments) == 0 {
		return found.err()
	}
	if len(sent.Attachments) != 1 {
		found.add("/attachments", "must have exactly 1 item, not %d", len(sent.Attachments))
		return found.err()
	}
	a := sent.Attachments[0]
	if c, _ := a["color"].(string); !colour.MatchString(c) {
		found.add("/attachments/0/color", "must be a colour like #36a64f")
	}
	blocks, _ := a["blocks"].([]any)
	if len(a) != 2 || len(blocks) == 0 {
		found.add("/attachments/0", "must have color and blocks, and nothing else")
	}
	const at = "/attachments/0/blocks"
	found.all(blockkit.Blocks(blocks, at, maxBlocks))
	if n := blockkit.Characters(blocks); n > blockkit.MaxCharacters {
		found.add(at, "must have at most %d characters together, not %d", blockkit.MaxCharacters, n)
	}
	found.ours(at, blocks, inMessages)
	return found.err()
}

// CheckView is Check for a dialog.
func CheckView(v slack.ModalViewRequest) error {
	found := problems{}
	var sent map[string]any
	if n := found.decode(v, &sent); n > blockkit.MaxViewBytes {
		found.add("/view", "must have at most %d bytes, not %d", blockkit.MaxViewBytes, n)
	}
	found.all(blockkit.View(sent))
	found.ours("/view", sent, inViews)
	return found.err()
}

type problems []error

func (p *problems) add(pointer, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: "+format, append([]any{pointer}, args...)...))
}

func (p *problems) all(found []blockkit.Problem) {
	for _, f := range found {
		*p = append(*p, errors.New(f.String()))
	}
}

func (p problems) err() error { return errors.Join(p...) }

// decode reads v as it is sent, and returns its size in bytes. A byte that is no UTF-8 is sent as the escape of a
// replacement character, while one that somebody wrote is sent as it is.
func (p *problems) decode(v, sent any) (size int) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, sent)
	}
	if err != nil {
		p.add("", "must be JSON: %w", err)
	}
	if bytes.Contains(bytes.ReplaceAll(b, []byte(`\\`), nil), []byte(`\ufffd`)) {
		p.add("", "must be valid UTF-8")
	}
	return len(b)
}

// ours refuses what Slack allows but Ringi never sends: other types than kinds, an accessory beside a section, and
// buttons or inputs without an action_id.
func (p *problems) ours(at string, v any, kinds []string) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			p.ours(fmt.Sprintf("%s/%d", at, i), e, kinds)
		}
	case map[string]any:
		kind, typed := v["type"].(string)
		if typed && !slices.Contains(kinds, kind) {
			p.add(at+"/type", "must be one of %q, not %q", kinds, kind)
		}
		if v["accessory"] != nil {
			p.add(at+"/accessory", "must not be there")
		}
		if id, _ := v["action_id"].(string); id == "" && (kind == "button" || kind == "plain_text_input") {
			p.add(at+"/action_id", "is missing")
		}
		for k, e := range v {
			p.ours(at+"/"+k, e, kinds)
		}
	}
}
