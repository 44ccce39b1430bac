package card

import (
	"fmt"

	"github.com/slack-go/slack"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
)

// ProposalCallback names the dialog in which a person proposes an action themself. Each field's block and input have
// the name of its conversation.OwnField.
const ProposalCallback = "propose_action_modal"

// ProposalForm is that dialog's private_metadata.
type ProposalForm struct {
	Session string   `json:"session"`
	Authors []string `json:"authors,omitempty"` // whose words or files fill the content in
}

// ProposalModal asks for an action in the conversation with this id. text fills the content in; authors are whose words
// it has.
func ProposalModal(session, text string, authors []string, locale string) slack.ModalViewRequest {
	w := conversationWordsOf.In(locale)
	var options []*slack.OptionBlockObject
	for _, t := range agent.OwnTypes {
		options = append(options, slack.NewOptionBlockObject(string(t), label(agent.Called(locale)[t]), nil))
	}
	choose := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, string(conversation.OwnType), options...)
	choose.InitialOption = options[len(options)-1]
	text, _ = cutTyped(text)
	field := func(f conversation.OwnField, most int, initial string) *slack.InputBlock {
		return slack.NewInputBlock(string(f), label(f.Called(locale)), nil, &slack.PlainTextInputBlockElement{
			Type: slack.METPlainTextInput, ActionID: string(f), MaxLength: most, InitialValue: initial,
			Multiline: f == conversation.OwnContent,
		})
	}
	content := field(conversation.OwnContent, MaxTyped, text)
	content.Hint = label(w.ProposeContent)
	path := field(conversation.OwnPath, 250, "")
	path.Optional, path.Hint = true, label(w.ProposePath)
	seconds := field(conversation.OwnSeconds, 4, fmt.Sprint(conversation.UsualSeconds))
	seconds.Optional, seconds.Hint = true, label(w.ProposeSeconds)
	return modal(ProposalCallback, w.ProposeTitle, w.ProposeSubmit, wordsOf.In(locale).ModalClose,
		metadata(ProposalForm{ident(session), authors}), section(w.ProposeText),
		slack.NewInputBlock(string(conversation.OwnType), label(conversation.OwnType.Called(locale)), nil, choose),
		content, path, seconds, field(conversation.OwnSummary, conversation.MaxSummary, ""))
}

// ProposeNote says to a person why there is no dialog to propose an action: the message is in no conversation.
func ProposeNote(locale string) string { return conversationWordsOf.In(locale).ProposeNowhere }
