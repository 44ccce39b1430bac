package card_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/runtime/expect"
)

// What tests ask of each card and dialog refuses what is over Slack's limits, or against Ringi's rules, which are
// stricter. An empty want means that it is allowed.
func TestWhatCardsAndDialogsMustNotBe(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	label := &slack.TextBlockObject{Type: slack.PlainTextType, Text: "x"}
	says := func(text string) slack.Block {
		return slack.NewSectionBlock(&slack.TextBlockObject{Type: slack.MarkdownType, Text: text}, nil, nil)
	}
	typed := func(name string) slack.Block {
		return slack.NewInputBlock("", label, nil,
			&slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: name})
	}
	press := func(name string) *slack.ButtonBlockElement { return slack.NewButtonBlockElement(name, "", label) }
	times := func(n int, b slack.Block) []slack.Block { return slices.Repeat([]slack.Block{b}, n) }
	acts := func(e slack.BlockElement) []slack.Block { return []slack.Block{slack.NewActionBlock("", e)} }
	divider, image := slack.NewDividerBlock(), slack.NewImageBlockElement("https://x.example/a.png", "x")
	for name, tc := range map[string]struct {
		blocks []slack.Block
		want   string
	}{
		"nothing":                     {nil, "/attachments/0: "},
		"no block":                    {times(1, nil), "/blocks/0"},
		"16 blocks":                   {times(16, divider), ""},
		"17 blocks":                   {times(17, divider), "no more than 16 items"},
		"13000 characters":            {times(5, says(x(2600))), ""},
		"13001 characters":            {append(times(4, says(x(2600))), says(x(2601))), "13001"},
		"what Slack refuses":          {times(1, says(x(3001))), "/blocks/0/text/text"},
		"invalid UTF-8":               {times(1, says("\xff")), "UTF-8"},
		"a replacement character":     {times(1, says(`\ufffd`+"\ufffd")), ""},
		"a block that cards have not": {times(1, typed("a")), "/blocks/0/type"},
		"an accessory": {times(1, slack.NewSectionBlock(label, nil, slack.NewAccessory(press("a")))),
			"/blocks/0/accessory"},
		"an image in a context": {times(1, slack.NewContextBlock("", image)), "/blocks/0/elements/0/type"},
		"a menu": {acts(slack.NewOverflowBlockElement("a", slack.NewOptionBlockObject("v", label, nil))),
			"/blocks/0/elements/0/type"},
		"a button without a name":      {acts(press("")), "/blocks/0/elements/0/action_id"},
		"a button that can be pressed": {acts(press("a")), ""},
	} {
		refusedFor(t, "card with "+name, ringitest.CheckCard(slack.Msg{Text: "x", Attachments: []slack.Attachment{
			{Color: "#36a64f", Blocks: slack.Blocks{BlockSet: tc.blocks}}}}), tc.want)
	}
	for name, tc := range map[string]struct {
		edit func(m *slack.Msg, a *slack.Attachment)
		want string
	}{
		"a text of 4000": {func(m *slack.Msg, _ *slack.Attachment) { m.Text = x(4000) }, ""},
		"a text of 4001": {func(m *slack.Msg, _ *slack.Attachment) { m.Text = x(4001) }, "/text: "},
		"no text":        {func(m *slack.Msg, _ *slack.Attachment) { m.Text = "" }, "/text: "},
		"a plain reply":  {func(m *slack.Msg, _ *slack.Attachment) { m.Attachments = m.Attachments[:0] }, ""},
		"no attachment":  {func(m *slack.Msg, _ *slack.Attachment) { m.Attachments = nil }, "/attachments: "},
		"two attachments": {func(m *slack.Msg, a *slack.Attachment) { m.Attachments = []slack.Attachment{*a, *a} },
			"/attachments: "},
		"no colour": {func(_ *slack.Msg, a *slack.Attachment) { a.Color = "" }, "/attachments/0/color: "},
		"a footer":  {func(_ *slack.Msg, a *slack.Attachment) { a.Footer = "x" }, "/attachments/0: "},
	} {
		m := slack.Msg{Text: "x", Attachments: []slack.Attachment{
			{Color: "#36a64f", Blocks: slack.Blocks{BlockSet: times(1, divider)}}}}
		tc.edit(&m, &m.Attachments[0])
		refusedFor(t, "message with "+name, ringitest.CheckCard(m), tc.want)
	}
	for name, tc := range map[string]struct {
		blocks []slack.Block
		want   string
	}{
		"a field":                {times(1, typed("a")), ""},
		"a field without a name": {times(1, typed("")), "/view/blocks/0/element/action_id"},
		"a number": {times(1, slack.NewInputBlock("", label, nil, slack.NewNumberInputBlockElement(label, "a", true))),
			"/view/blocks/0/element/type"},
		"invalid UTF-8":       {times(1, says("\xff")), "UTF-8"},
		"90 sections of text": {times(90, says(x(3000))), "250000 bytes"},
		"a table":             {times(1, slack.NewTableBlock("")), "/view/blocks/0/type"},
		"what Slack refuses":  {times(1, says(x(3001))), "/view/blocks/0/text/text"},
	} {
		refusedFor(t, "dialog with "+name, ringitest.CheckView(slack.ModalViewRequest{Type: slack.VTModal, Title: label,
			Submit: label, Blocks: slack.Blocks{BlockSet: tc.blocks}}), tc.want)
	}
}

func refusedFor(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" {
		expect.That(t, err == nil, "a %s is refused: %v", what, err)
		return
	}
	expect.That(t, err != nil && strings.Contains(err.Error(), want), "a %s: %v, want %q", what, err, want)
}
