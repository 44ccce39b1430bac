package ringitest_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/runtime/expect"
)

func x(n int) string { return strings.Repeat("x", n) }

func plain(s string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: s}
}

func section(text string) slack.Block {
	return slack.NewSectionBlock(&slack.TextBlockObject{Type: slack.MarkdownType, Text: text}, nil, nil)
}

func many(n int, b slack.Block) []slack.Block {
	out := make([]slack.Block, n)
	for i := range out {
		out[i] = b
	}
	return out
}

func message(blocks ...slack.Block) slack.Msg {
	return slack.Msg{Text: "x",
		Attachments: []slack.Attachment{{Color: "#36a64f", Blocks: slack.Blocks{BlockSet: blocks}}}}
}

// with returns a message that edit has changed.
func with(edit func(m *slack.Msg, a *slack.Attachment)) slack.Msg {
	m := message(slack.NewDividerBlock())
	edit(&m, &m.Attachments[0])
	return m
}

func press(action string) slack.Block {
	return slack.NewActionBlock("", slack.NewButtonBlockElement(action, "", plain("x")))
}

func view(v slack.ModalViewRequest, blocks ...slack.Block) slack.ModalViewRequest {
	v.Blocks.BlockSet = blocks
	if v.Title == nil {
		v.Type, v.Title = slack.VTModal, plain("x")
	}
	return v
}

// refused checks that err names the text; an empty text means that there is no error.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if got := ""; err != nil {
		got = err.Error()
		expect.That(t, want != "" && strings.Contains(got, want), "%q, want %q", got, want)
	} else if want != "" {
		t.Errorf("accepted, want %q", want)
	}
}

func TestWhatAMessageMustNotBe(t *testing.T) {
	image := slack.NewImageBlockElement("https://x.example/a.png", "x")
	for name, tc := range map[string]struct {
		m    slack.Msg
		want string
	}{
		"a text of 4000":  {with(func(m *slack.Msg, _ *slack.Attachment) { m.Text = x(4000) }), ""},
		"a text of 4001":  {with(func(m *slack.Msg, _ *slack.Attachment) { m.Text = x(4001) }), "/text: "},
		"no text":         {with(func(m *slack.Msg, _ *slack.Attachment) { m.Text = "" }), "/text: "},
		"a plain reply":   {slack.Msg{Text: "x", Attachments: []slack.Attachment{}}, ""},
		"no attachment":   {slack.Msg{Text: "x"}, "/attachments: "},
		"two attachments": {slack.Msg{Text: "x", Attachments: make([]slack.Attachment, 2)}, "/attachments: "},
		"no colour":       {with(func(_ *slack.Msg, a *slack.Attachment) { a.Color = "" }), "/attachments/0/color: "},
		"a text beside the blocks": {with(func(_ *slack.Msg, a *slack.Attachment) { a.Text = "x" }),
			"/attachments/0: "},
		"a footer beside the blocks": {with(func(_ *slack.Msg, a *slack.Attachment) { a.Footer = "x" }),
			"/attachments/0: "},
		"no blocks":               {message(), "/attachments/0: "},
		"no block":                {message(nil), "/blocks/0"},
		"16 blocks":               {message(many(16, slack.NewDividerBlock())...), ""},
		"17 blocks":               {message(many(17, slack.NewDividerBlock())...), "no more than 16 items"},
		"13000 characters":        {message(append(many(4, section(x(2600))), section(x(2600)))...), ""},
		"13001 characters":        {message(append(many(4, section(x(2600))), section(x(2601)))...), "13001"},
		"what Slack refuses":      {message(section(x(3001))), "/blocks/0/text/text"},
		"invalid UTF-8":           {message(section("\xff")), "UTF-8"},
		"a replacement character": {message(section(`\ufffd` + "\ufffd")), ""},
		"a block that cards have not": {message(slack.NewImageBlock("https://x.example/a.png", "x", "", nil)),
			"/blocks/0/type"},
		"an input": {message(slack.NewInputBlock("", plain("x"), nil,
			&slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: "a"})), "/blocks/0/type"},
		"an accessory": {message(slack.NewSectionBlock(plain("x"), nil,
			slack.NewAccessory(slack.NewButtonBlockElement("a", "", plain("x"))))), "/blocks/0/accessory"},
		"an image in a context": {message(slack.NewContextBlock("", image)), "/blocks/0/elements/0/type"},
		"a menu": {message(slack.NewActionBlock("", slack.NewOverflowBlockElement("a",
			slack.NewOptionBlockObject("v", plain("x"), nil)))), "/blocks/0/elements/0/type"},
		"a button without a name":      {message(press("")), "/blocks/0/elements/0/action_id"},
		"a button that can be pressed": {message(press("a")), ""},
	} {
		t.Run(name, func(t *testing.T) { refused(t, ringitest.CheckCard(tc.m), tc.want) })
	}
}

func TestWhatADialogMustNotBe(t *testing.T) {
	input := slack.NewInputBlock("", plain("x"), nil,
		&slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: "a"})
	nameless := slack.NewInputBlock("", plain("x"), nil, &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput})
	number := slack.NewInputBlock("", plain("x"), nil, slack.NewNumberInputBlockElement(plain("x"), "a", true))
	submit := slack.ModalViewRequest{Type: slack.VTModal, Title: plain("x"), Submit: plain("x")}
	for name, tc := range map[string]struct {
		v    slack.ModalViewRequest
		want string
	}{
		"a form":                  {view(submit, input), ""},
		"an input without submit": {view(slack.ModalViewRequest{}, input), "submit"},
		"a field without a name":  {view(submit, nameless), "/view/blocks/0/element/action_id"},
		"a number":                {view(submit, number), "/view/blocks/0/element/type"},
		"not a modal": {view(slack.ModalViewRequest{Type: slack.VTHomeTab, Title: plain("x")}, section("x")),
			"/view/type"},
		"invalid UTF-8":       {view(submit, section("\xff")), "UTF-8"},
		"90 sections of text": {view(submit, many(90, section(x(3000)))...), "250000 bytes"},
		"a table":             {view(submit, slack.NewTableBlock("")), "/view/blocks/0/type"},
		"more than Slack's limits": {view(slack.ModalViewRequest{Type: slack.VTModal, Title: plain(x(25))}, section("x")),
			"/view/title/text"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, ringitest.CheckView(tc.v), tc.want) })
	}
}
