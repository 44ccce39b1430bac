package ringitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
)

const (
	maxBlocks   = 16   // Slack was seen to refuse more than 20 in an attachment
	maxFallback = 4000 // in characters: Slack's recommendation; Slack cuts at 40,000
)

var (
	inBoth  = []string{"header", "section", "divider", "context", "actions", "button", "mrkdwn", "plain_text"}
	inViews = append([]string{"modal", "input", "plain_text_input", "static_select", "radio_buttons", "checkboxes",
		"file_input"}, inBoth...)
	colour = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// CheckCard returns the reasons why Slack would refuse a message, and violations of Ringi's rules, which are stricter:
// a message has a text and one attachment (a plain reply has none) with a colour and at most 16 blocks, of the types
// that cards use.
func CheckCard(m slack.Msg) error {
	found := problems{}
	if n := webapi.Units(m.Text); n < 1 || n > maxFallback {
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
	found.all(webapi.Blocks(blocks, at, maxBlocks))
	if n := webapi.Characters(blocks); n > webapi.MaxCharacters {
		found.add(at, "must have at most %d characters together, not %d", webapi.MaxCharacters, n)
	}
	found.ours(at, blocks, inBoth)
	return found.err()
}

// CheckView is CheckCard for a dialog.
func CheckView(v slack.ModalViewRequest) error {
	found := problems{}
	var sent map[string]any
	if n := found.decode(v, &sent); n > webapi.MaxViewBytes {
		found.add("/view", "must have at most %d bytes, not %d", webapi.MaxViewBytes, n)
	}
	found.all(webapi.ViewProblems(sent))
	found.ours("/view", sent, inViews)
	return found.err()
}

type problems []error

func (p *problems) add(pointer, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: "+format, append([]any{pointer}, args...)...))
}

func (p *problems) all(found []webapi.Problem) {
	for _, f := range found {
		*p = append(*p, errors.New(f.String()))
	}
}

func (p problems) err() error { return errors.Join(p...) }

// decode decodes v in the form in which it is sent, and returns its size in bytes. An invalid byte of UTF-8 is sent as
// an escaped replacement character, while a replacement character in the text is sent unescaped.
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

// ours refuses blocks that Slack allows but Ringi never sends: types other than kinds, a section's accessory, and
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

// Lookalikes are tools with pairs of arguments of which one imitates the other.
var Lookalikes = [][3]string{
	{"rooms.book", `{"to":"a」 · cc: 「b"}`, `{"to":"a","cc":"b"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x」 · b: 「y"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x” · b: “y"}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":"b"}]}`,
		`{"recipient":"U012ABC","text":"x」 · a: 「b","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":5}]}`,
		`{"recipient":"U012ABC","text":"x","details":[],"a":5}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\ny","details":[]}`,
		`{"recipient":"U012ABC","text":"x ⏎ y","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\r\ny","details":[]}`,
		`{"recipient":"U012ABC","text":"x\ny","details":[]}`},
	{"send_slack_dm", `{"text":"「x」"}`, `{"text":"『x』"}`},
	{"rooms.book", `{"n":5,"b":[]}`, `{"n: 5 · b":[]}`},
	{"rooms.book", `{"restrict":[],"to":"x"}`, `{"restrict: [] · to":"x"}`},
	{"rooms.book", `{"a":{"$ref":"step-1.result.x"}}`, `{"a":{"$ref":"step-1.other.x"}}`},
	{"rooms.book", `{"a":{"$ref":"5"}}`, `{"a":5}`},
	{"write_rows_to_google_sheet", `{"columns":[5]}`, `{"columns":[{"key":"5","title":"5"}]}`},
	{"write_rows_to_google_sheet", `{"columns":[{"key":"a","title":"b = c"}]}`,
		`{"columns":[{"key":"c","title":"a = b"}]}`},
	{"write_rows_to_google_sheet", // a line's end keeps the rows out of a table, which has the titles
		`{"columns":[{"key":"a","title":"X"},{"key":"b","title":"Y"}],"rows":[{"a":"x\ny","b":2}]}`,
		`{"columns":[{"key":"b","title":"X"},{"key":"a","title":"Y"}],"rows":[{"a":"x\ny","b":2}]}`},
}
