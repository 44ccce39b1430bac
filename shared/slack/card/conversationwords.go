package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/language"
)

type conversationWords struct {
	Action, Asks, AsksText, Header          string
	Running, Done, Failed, Unknown          string
	IsApproved                              string
	Effect                                  map[conversation.ActionType]string // what happens after an approval
	EffectCut                               map[conversation.ActionType]string // the same where the card is cut
	Rest                                    map[string]string                  // how many of these are not shown whole
	Again                                   string                             // above what goes on in another section
	Type, Limit, About, Script, Argv, Files string
	Commands, Command                       string
	MadeBefore, MadeSeen, MadeUnseen        string // who changed a path before, and whether people saw the text
	MadeUnknown, MadeAnd, Seen, Unseen      string
	FetchAgain                              string
	Difference, Count, NoLineEnd            string
	Changes                                 map[conversation.ChangeKind]string
	Entries                                 map[conversation.EntryKind]string
	Modes                                   map[string]string // by the later mode
	Unshown                                 map[conversation.Unshown]string
	TooMuch                                 string // why nobody can approve it
	FilesChanged, FilesDeleted              string
	MoreFiles, NotTaken                     string
	Call, CallReads, CallWrites             string // of a tool
	CallUnseen, CallGoes, CallReturned      string
	CallData                                string
	CallVendors                             map[string]string // names of providers of models
	ConfirmCall, CheckCall                  string
	LateCallDone, LateCallAfter             string // a call that was cancelled was made before that, or after
	LateCallFailed                          string
	FilesPage, Send, SendTitle, SendText    string
	SendYes, SendNo, Sending, Sent, NotSent string
	Unsendable                              string
	Shortened, Output, Lines                string
	Dropped, Newest                         string // which lines of the output are not kept; which are
	Cancel                                  string
	ConfirmTitle, ConfirmText, ConfirmYes   string
	ConfirmNo                               string // must differ from the label of the button that asks
	ByRule, Since, Took, Ended, Exit        string
	CheckUnknown, Stopping, Expired         string
	PushRuns, PushSkips, PushTo, PushTitle  string // of a pull request
	PushBody, PushType, PushEffect          string
	PushReaders                             string
	PushUnknown, CheckPush, Looking         string
	Pulled, BranchThere                     string
	NotBegun, CancelledBy, CancelledClosed  string
	CancelledDeleted, SourceEdited          string
	LateDone, LateAfter, LateFailed         string
	System, Closed, ClosedBy, ClosedIdle    string
	Begin, Reopened, Gone                   string
	ReadDirect, ReadHere, Forgets, WillGo   string
	BeginEmpty, EmptyTitle, EmptyText       string
	EmptyYes, EmptyNo                       string
	Offer, OfferWho, OfferMake              string // of a request that the agent wants to make
	OfferMade, OfferMadeBy                  string
	OfferGone, OfferClosed, OfferLong       string
	RejectTitle, RejectText, RejectSubmit   string
	RejectPlaceholder                       string
	EndTitle, EndText, EndYes               string
	ProposeTitle, ProposeText               string
	ProposeSubmit, ProposeContent           string // hints of the fields, too
	ProposePath, ProposeSeconds             string
	ProposeNowhere                          string
	InFlight, TooLate                       string // shown to a person who clicks too late
	TooLateCancelled, TooLateExpired        string
	Reasons                                 map[aggregate.Reason]string
	Otherwise                               string // for a reason without a sentence of its own
}

var conversationWordsOf = language.Catalog[conversationWords]{Files: &files, Folder: "texts/conversations"}

// reason says why something was not done and what people can do next.
func (w *conversationWords) reason(r aggregate.Reason, detail string) string {
	text := or(w.Reasons[r], w.Otherwise)
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// ActionReason says on any surface why an action was not done.
func ActionReason(locale string, r aggregate.Reason, detail string) string {
	return conversationWordsOf.In(locale).reason(r, detail)
}
