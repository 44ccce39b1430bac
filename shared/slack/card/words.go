package card

import (
	"embed"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// words are all texts of one language. {names} in braces are placeholders; every language has the same ones.
type words struct {
	_ [0]func() // not compared: the compiler would write 16 KB into each function to compare so many texts

	Locale   string // ja or en
	None     string // if there is nothing to show
	Untitled string
	System   string // stands for a person where nobody decided

	// Buttons.
	Approve, Reject, Cancel, Retry, RetryGeneration  string
	Redraft, AskAgain                                string
	ConfirmTitle, ConfirmText, ConfirmYes, ConfirmNo string

	// Content that its card can't show completely is approved in a dialog with pages.
	Review, NotWhole, RejectionEnds                                           string
	ReviewTitle, ReviewPage, ReviewBefore, ReviewNext                         string
	ReviewApprove, ReviewClose, ReviewLast, ReviewOn, ReviewReads, ReviewOver string

	Reads          string // what the steps read
	Appended       string // the line below a message
	Final          string // why it matters that Ringi can't undo it
	OtherArguments string // heading, below a list of items
	Again          string // above the rest of what a step would do
	PleaseApprove  string // notification of steps that wait
	PleaseReview   string // of a policy
	CheckOf        string // what a step's check is about

	// What a version of the steps does otherwise than the one before.
	Since, SinceNothing, SentBackFor   string
	Rewritten                          string // of a policy, whose changes have no names
	Edited, EditedText                 string // the request, before it
	ChangedTo, ChangedNew, ChangedGone string
	OnlyPlans                          string // of a policy: what approving it does
	Stamper                            string // stands for whoever will approve
	Remarks                            string // heading of the answers to earlier rejections

	// Contexts.
	TaskID, TaskVersion, AsAsked                            string
	ApprovedBy, AutoApproved, WillAuto                      string
	RejectedBy, NextVersion, NextGenerating                 string
	LastVersion, PausedUntil, PausedForSlack, PausedForRoom string
	Ended                                                   map[aggregate.Reason]string
	EndedBy, EndedCost, EndedFailed, EndedDone              string
	EndedOtherwise, EndedByRules, Hours, Days               string
	Progress, WaitsForCheck                                 string
	Completed, Failed, CompletedTimed, FailTimed            string
	StoppedBy, StoppedInFlight, StoppedUnknown              string
	Kept, Untouched, FailedStep                             string

	// Of a request whose message its author changed.
	Changed, ChangedLate, DeletedLate, Redrafted, IsRedrafted     string
	ChangedByAuthor, DeletedByAuthor                              string
	ChangedAnswered, ChangedReason                                string
	RedraftNow, RedraftSoon, RedraftNever, RedraftBlank           string
	RedraftDeclined, Repeated, IsRepeated                         string
	DeclinedText, NowForwards, NowFiles, SentAsIs                 string
	RemarkDropped, RemarkDeleted, RemarkReplaced, RemarkWithdrawn string

	// Endings of headers.
	IsApproved, IsRejected, IsRegenerating, IsRegenerated     string
	IsDenied, IsApprovedCancelled, IsApprovedDenied           string
	IsApprovedDone                                            string
	IsRegenerationFailed, IsCancelled, IsExpired, IsGenFailed string
	IsRegenerationHeld, IsHeld                                string // if nobody may approve the next version

	// What a request forwards and attaches.
	ThreadRead, ThreadFailed                                              string
	Forwards, ForwardCut, ForwardHidden                                   string
	FileWaits, FileRead, FilePart, FileUnread, FilesNotRead, EnclosedMore string

	// The task's card.
	Received, TaskHeader, TaskCancelled string
	RequestRefused, RefusedUntil        string
	Description, Priority, Type         string
	TaskNext                            string // what comes after the task
	Priorities                          map[task.Priority]string
	Types                               map[task.Type]string

	// The cards of gates.
	Prompt, Process, Step      gateWords
	ArgumentsCut               string
	ArgumentsMasked            string
	Details, SaysWords, Quoted string
	LeftOut                    string // heading of the defaults for omitted arguments
	MoreRows                   string
	EmptyCell                  string

	// Who decides and until when.
	DecideBy, WhoMakesReason, WhoMakesRequest string

	// Requests that are suggested to a person who opens the app's messages.
	Suggestions [3]Suggestion
	AskAgent    Suggestion // sent after the agent's id

	// The choice of what a message in the thread of a waiting gate is meant to be.
	ChoiceText, ChoiceAsks, ChoiceSaid, ChoiceEnds           string
	ChoiceReason, ChoiceRequest, ChoicePrompt, ChoiceProcess string
	ChoiceGateOver, ChoiceNoReason, ChoiceBecame             string

	// The dialog that asks before a task is cancelled.
	CancelTitle, CancelText, CancelAbout, CancelYes, CancelNo string

	// The execution's card.
	RunningHeader, CompletedHeader, FailedHeader, StoppedHeader string
	Running, CarriedOver, Waiting, InFlight, Unknown, AfterStop string // after a step's line
	Result                                                      string // link to a step's result
	RowsBelow, RowsBelowOver, RowsBelowUnread                   string // about older rows in a sheet that a step writes
	MoreSteps, GoesOn, StepNumber                               string
	Summary, Error, Held                                        string
	CheckUnknown, UnknownSettled, RetriesUsed, AttemptsUsed     string

	// The dialog that asks for a reason.
	ModalTitle, ModalSubmit, ModalClose, ModalText, ModalAnswer, ModalPlaceholder string
	ModalSubmitStep, ModalTextStep, ModalPlaceholderStep, ModalTextForm           string

	StepDoneBefore string
	Unreachable    string // seen by one person only; package refused has the notes on clicks
}

// gateWords are the texts of one kind of gate.
type gateWords struct {
	Header     string
	Generating string // on the card while the version is being made
	Failed     string // on the previous card if the generation could not begin
}

//go:embed texts
var embedded embed.FS

// wordsOf returns a language's texts, Japanese for an unknown language.
var wordsOf = language.Catalog[words]{Files: &embedded, Folder: "texts/cards"}

// askWords are the texts of commands, shortcuts and the Home tab, by which people ask without writing to Ringi.
type askWords struct {
	Title, Submit, Close, Text, TextPlaceholder string
	TextOfMessage, TextGoesOn, TextCut          string
	TextChanged, TextTyped, TextTypedHint       string
	At, AtPlaceholder, AtHint                   string
	Asked, Open, Original, ListNumber           string
	Numbered                                    map[NumberOf]string
	MatterTitle, MatterAmountHint               string
	MatterAsked, MatterLine, HomeMatter         string
	Matter, MatterFaults, Currencies            map[string]string // by field, and by code
	Notes                                       map[AskNote]string

	Locale                                                                       string
	TurnToEdit, TurnToRedraft                                                    string
	CopiesLeft, CopyFrom, CopyText, OutcomeText                                  string
	HomeWaiting, HomeNothing, HomeLong, HomeMore                                 string
	HomeWaitingMore, HomeWaitingSome, HomeNoneOf, HomeHiddenMore                 string // if not all items were read
	HomeMine, HomeNoneMine, HomeHow, HomeFrom, HomeNew, HomeStandIn, HomeConsole string
	ConversationFrom, ConversationLine, HomeConversations, WhatAction            string
	StateOpen, StateBroken                                                       string
	WaitsLine, WaitsUntil, WaitsAs, ListID                                       string
	WaitsSaid, WaitsFor, OpenCard, OpenResult                                    string
	WhatPrompt, WhatProcess, WhatStep                                            string
	States                                                                       map[task.Status]string // of requests
}

var askWordsOf = language.Catalog[askWords]{Files: &embedded, Folder: "texts/asks"}

type conversationWords struct {
	Action, Asks, AsksText, Header          string
	Running, Done, Failed, Unknown          string
	Effect                                  map[conversation.ActionType]string // what happens after an approval
	Above, Inside                           string                             // where people see it
	Rest                                    map[string]string                  // how many of these are not shown whole
	Again                                   string                             // above what goes on in another section
	Limit, About, Script, Argv              string
	Commands, Command                       string
	MadeBefore, MadeSeen, MadeUnseen        string // who changed a path before, and whether people saw the text
	MadeUnknown, MadeAnd, Seen, Unseen      string
	FetchAgain                              string
	Difference, Count, NoLineEnd            string
	Changes                                 map[files.ChangeKind]string
	Entries                                 map[files.Kind]string
	Modes                                   map[string]string // by the later mode
	Unshown                                 map[files.Unshown]string
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
	RejectText, RejectSubmit                string
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

var conversationWordsOf = language.Catalog[conversationWords]{Files: &embedded, Folder: "texts/conversations"}

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

// routeWords are the texts about where a gate under a rule stands.
type routeWords struct {
	Looking, Unknown, ShownTo                          string
	Again, AgainLooking, AgainDone                     string // asked once more about steps
	OtherRule                                          string // asked about a step by another rule
	Path, PathAgain, PathDone, PathNumbered, Number    string
	Amount, AmountUnknown, RequestNumber               string
	Done, Present, Progress, Later, Skipped            string // a stage
	SentBack, Denied, Folded                           string
	Needs, Given, StandIn, StandsIn, And, Others       string
	Now, NowAll, NowSome, NowOne, NowAny               string // whose turn it is; NowAny without a rule
	Yours, SoFar, Next                                 string // on copies: one's turn, and the other stages
	Rule, OneDenies, OneStops                          string
	NotCarried, NoneCarried, MadeFrom, Left, Successor string
	Rejection, Send, Reason, ReasonEmpty, EndsStamps   string // a rejection's form
	SendBack, NewVersion, NewForm, NewTurn             string // how it goes on, and what that means
	Deny, Over, NoTurn, NoVersion, SendBacks, TookBack string
	Then                                               string
	TakeBack, TakeBackTitle, TakeBackText, TakeBackYes string // of one's own stamp
	TakeBackNo, OpenRoute, RouteTitle, Stamped         string
	AsWhom, AsWhomText, AsWhomSend                     string // the form for a hand that stands in for several
	Owes                                               string // in lists
	Askers                                             string // whose words were shown beside the requester's
	Closed, OnlyButton                                 string // on copies
	// why a stage asks nobody, by circulation.Stage.LeftOut; another is shown as it is
	LeftOut map[string]string
	Filled  map[string]string // a stage's name, by circulation.Stage.Filled
}

var routeWordsOf = language.Catalog[routeWords]{Files: &embedded, Folder: "texts/routes"}
