package witness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

type content struct {
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

type opinion struct {
	Name     string   `json:"name"`
	Problems []string `json:"problems"`
	Blocks   int      `json:"blocks"`
}

// opinions returns the errors of slack_sdk's models for each message or modal.
func opinions(t *testing.T, all []content) map[string]opinion {
	t.Helper()
	var in bytes.Buffer
	for _, c := range all {
		expect.NoError(t, json.NewEncoder(&in).Encode(c))
	}
	cmd := command(t, "blocks.py")(t)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out := expect.Value(cmd.Output())(t)
	said := map[string]opinion{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var o opinion
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		said[o.Name] = o
	}
	expect.Must(t, len(said) == len(all), "%d opinions on %d contents", len(said), len(all))
	return said
}

// At night every card and form that Ringi can show, as the card package's test of their looks writes them; by day a few
// that have each kind of block.
func TestSlackSDKAcceptsEveryCard(t *testing.T) {
	root := expect.Value(process.ModuleRoot())(t)
	folder := filepath.Join(root, "shared/slack/card/testdata/wire")
	if expect.Long() {
		folder = t.TempDir()
		write := exec.Command("go", "test", "-count=1", "-run=^TestEveryStateLooksAsItDid$", "./shared/slack/card")
		write.Dir, write.Env = root, append(os.Environ(), "RINGI_CARDS="+folder)
		out, err := write.CombinedOutput()
		expect.Must(t, err == nil, "%v:\n%s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	expect.Must(t, err == nil && len(paths) != 0, "%s has %d cards, %v", folder, len(paths), err)
	var all []content
	for _, path := range paths {
		all = append(all, content{filepath.Base(path), expect.Value(os.ReadFile(path))(t)})
	}
	blocks := 0
	for name, o := range opinions(t, all) {
		plain := strings.Contains(name, "task_") || strings.Contains(name, "talk_said") // a text alone
		expect.That(t, len(o.Problems) == 0 && (o.Blocks != 0 || plain),
			"%s, %d blocks:\n%s", name, o.Blocks, strings.Join(o.Problems, "\n"))
		blocks += o.Blocks
	}
	t.Logf("%d cards and forms of %d blocks", len(all), blocks)
}

// A witness that accepts everything proves nothing.
func TestSlackSDKRefusesWhatSlackRefuses(t *testing.T) {
	long := func(n int) string { return strings.Repeat("長", n) }
	text := func(kind, s string) map[string]any { return map[string]any{"type": kind, "text": s} }
	button := func(label, value, style string) map[string]any {
		b := map[string]any{"type": "button", "action_id": "a", "text": text("plain_text", label), "value": value}
		if style != "" {
			b["style"] = style
		}
		return b
	}
	actions := func(e ...any) map[string]any { return map[string]any{"type": "actions", "elements": e} }
	modal := func(title string) map[string]any {
		return map[string]any{"type": "modal", "title": text("plain_text", title), "blocks": []any{map[string]any{"type": "divider"}}}
	}
	tests := []struct {
		name  string
		block map[string]any
		want  string
	}{
		{"a header of 151", map[string]any{"type": "header", "text": text("plain_text", long(151))}, "150"},
		{"a section of 3001", map[string]any{"type": "section", "text": text("mrkdwn", long(3001))}, "3000"},
		{"a section of nothing", map[string]any{"type": "section"}, "text or fields"},
		{"a label of 76", actions(button(long(76), "v", "")), "75"},
		{"a value of 2001", actions(button("x", long(2001), "")), "2000"},
		{"a style that is none", actions(button("x", "v", "green")), "style"},
		{"a block that is none", map[string]any{"type": "poster"}, "no block has type"},
		{"a field that is none", map[string]any{"type": "divider", "color": "red"}, "/color is unknown"},
		{"a form with a long title", modal(long(25)), "24"},
	}
	var all []content
	for _, tt := range tests {
		m := map[string]any{"attachments": []any{map[string]any{"blocks": []any{tt.block}}}}
		if tt.block["type"] == "modal" {
			m = tt.block
		}
		b := expect.Value(json.Marshal(m))(t)
		all = append(all, content{tt.name, b})
	}
	said := opinions(t, all)
	for _, tt := range tests {
		expect.Has(t, strings.Join(said[tt.name].Problems, "\n"), tt.want, "%s", tt.name)
	}
}
