package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/language"
)

// conversationWords are the texts of conversations with agents.
type conversationWords struct {
	Action, Asks, AsksText, Header          string
	Running, Done, Failed, Unknown          string
	IsApproved                              string
	Effect                                  map[conversation.ActionType]string // what an approval brings about
	Type, Limit, About, Script, Argv, Files string
	Shortened, Output, Lines, Dropped       string
	Cancel                                  string
	ConfirmTitle, ConfirmText, ConfirmYes   string
	ConfirmNo                               string // not the word of the button that asks
	ByRule, Since, Took, Ended, Exit        string
	CheckUnknown, Stopping, Expired         string
	CancelledBy, CancelledClosed            string
	LateDone, LateFailed                    string
	System, Closed, ClosedBy, ClosedIdle    string
	Begin, Reopened                         string
	RejectTitle, RejectText, RejectSubmit   string
	RejectPlaceholder                       string
	EndTitle, EndText, EndYes               string
	InFlight, TooLate                       string // told to whoever clicks too late
	TooLateCancelled, TooLateExpired        string
	Reasons                                 map[aggregate.Reason]string
	Otherwise                               string // a reason that has no sentence
}

var conversationWordsOf = language.Read[conversationWords](files, "texts/conversations")

// reason says why something was not done, and what people can do now.
func (w *conversationWords) reason(r aggregate.Reason, detail string) string {
	text := or(w.Reasons[r], w.Otherwise)
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// ActionReason says why an action came to nothing, on any surface.
func ActionReason(locale string, r aggregate.Reason, detail string) string {
	return conversationWordsOf(locale).reason(r, detail)
}
