package card

import (
	"encoding/json"

	"github.com/slack-go/slack"

	"ringi/shared/domain/circulation"
)

// The ids of the form in which somebody who stands in for several says for whom they stamp, and of that field where it
// is part of another form.
const (
	AsWhomCallback = "as_whom_modal"
	AsWhomBlock    = "as_whom_block"
	AsWhomInput    = "as_whom_input"
)

// mostWhom is how many options Slack takes. Whoever stands in for more still stamps once at a stage.
const mostWhom = 10

// AsWhom asks for which of these people somebody stamps the gate of r. ReadAsWhom reads its private_metadata.
func AsWhom(r Review, of []circulation.Person, locale string) slack.ModalViewRequest {
	w := routeWordsOf.In(locale)
	about := Review{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: ident(r.Hash), Stage: r.Stage}
	return modal(AsWhomCallback, w.AsWhom, w.AsWhomSend, wordsOf.In(locale).ModalClose, metadata(about),
		section(w.AsWhomText), asWhom(of, locale))
}

// ReadAsWhom reads the private_metadata of AsWhom. Its ids are not to be trusted; see modal.
func ReadAsWhom(about string) (r Review, ok bool) {
	ok = json.Unmarshal([]byte(about), &r) == nil && r.Stage > 0
	return r, ok
}

// asWhom is the field that asks for which of these people somebody acts.
func asWhom(of []circulation.Person, locale string) slack.Block {
	w := wordsOf.In(locale)
	var options []*slack.OptionBlockObject
	for _, p := range of[:min(len(of), mostWhom)] {
		name := slack.NewTextBlockObject(slack.MarkdownType, w.mention(p.User), false, false)
		options = append(options, slack.NewOptionBlockObject(ident(p.User), name, nil))
	}
	return slack.NewInputBlock(AsWhomBlock, label(routeWordsOf.In(locale).AsWhomLabel), nil,
		slack.NewRadioButtonsBlockElement(AsWhomInput, options...))
}

// whom adds that field to a form's blocks if somebody stands in for several.
func whom(of []circulation.Person, locale string, blocks ...slack.Block) []slack.Block {
	if len(of) > 1 {
		return append([]slack.Block{asWhom(of, locale)}, blocks...)
	}
	return blocks
}
