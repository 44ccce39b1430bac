package card

import (
	"embed"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
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
	ConfirmTitle, ConfirmText, ConfirmYes, ConfirmNo string
	RetryTitle, RetryText, RetryYes                  string // where a step may run twice
	Arrived, ArrivedTitle, ArrivedText, ArrivedYes   string // where it is seen to have run
	Confirmed, Found                                 string // after such a step's line, who saw it
	End, EndTitle, EndText, EndYes                   string // where nobody will know

	// Content that its card can't show completely is approved in a dialog with pages.
	Review, NotWhole, RejectionEnds, ReviewTitle, ReviewApprove string
	ReviewClose, ReviewEnd, ReviewLong, ReviewReads, ReviewOver string

	Reads         string // what the steps read
	Final         string // why it matters that Ringi can't undo it
	Again         string // above the rest of what a step would do
	TellsThread   string
	TellsAsker    string
	TellsDM       string
	PleaseApprove string // notification of steps that wait
	PleaseReject  string // of steps that nobody can read
	NobodyLeft    string // of steps that wait for whoever has left
	PleaseReview  string // of a policy
	CheckOf       string // what a step's check is about

	// What a version of the steps does otherwise than the one before.
	Since, SinceNothing, SentBackFor   string
	ChangedTo, ChangedNew, ChangedGone string
	OnlyPlans                          string // of a policy: what approving it does
	Remarks                            string // heading of the answers to earlier rejections

	// Contexts.
	TaskID, TaskVersion, AsAsked, ApprovedBy, AutoApproved, WillAuto       string
	RejectedBy, NextVersion, NextGenerating, LastVersion                   string
	PausedUntil, PausedForSlack, PausedForRoom                             string
	Ended                                                                  map[aggregate.Reason]string
	EndedBy, EndedCost, EndedFailed, EndedOtherwise                        string
	EndedByRules, OfCheck, Hours, Days, Progress, WaitsForCheck, Completed string
	Failed, CompletedTimed, FailTimed, StoppedBy, StoppedInFlight, Tried   string
	StoppedUnknown, Kept, FailedStep                                       string

	SentAsIs string
	Signed   string // the line that a message ends with

	// Notes to one person about what they wrote.
	NoRequest, RejectsSo, NotRead, Elsewhere, EditNote string

	// Endings of headers.
	IsApproved, IsRejected, IsRegenerating, IsRegenerated, IsDenied          string
	IsApprovedCancelled, IsApprovedRefused, IsApprovedDenied, IsApprovedDone string
	IsRegenerationFailed, IsCancelled, IsUnrouted, IsExpired, IsGenFailed    string
	// If nobody may approve the next version.
	IsRegenerationHeld, IsHeld string

	// What a request forwards and attaches.
	ThreadRead, ThreadFailed, Forwards, ForwardRead, ForwardCut, ForwardHidden string
	FileWaits, FileRead, FilePart, FileUnread, FilesNotRead                    string
	FileAttached, FileNotAttached                                              string
	EnclosedMore                                                               string

	// The task's card.
	Received, TaskHeader, TaskCancelled, RequestRefused string
	RefusedUntil, Description, Priority, Type           string
	Priorities                                          map[task.Priority]string
	CheckedAgain                                        map[string]string // why a step is asked about once more
	Types                                               map[task.Type]string

	// The cards of gates.
	Prompt, Process, Step                            gateWords
	FormHeader, FormDecided                          string // of the message of a form
	ArgumentsCut, ArgumentsMasked, SaysWords, Quoted string
	EmptyCell, Request                               string

	// Who decides and until when.
	DecideBy string

	// Requests that are suggested to a person who opens the app's messages.
	Suggestions [3]Suggestion
	AskAgent    Suggestion // sent after the agent's id

	// The dialog that asks before a task is cancelled.
	CancelAbout, CancelNo string

	// The execution's card.
	RunningHeader, CompletedHeader, FailedHeader, StoppedHeader string
	Running, CarriedOver, Waiting, InFlight, Unknown, AfterStop string // after a step's line
	RowsBelow, RowsBelowOver, RowsBelowUnread                   string // about older rows in a sheet that a step writes
	MoreSteps, GoesOn, StepNumber, Summary, Error, Held         string
	CheckUnknown, UnknownSettled, RetriesUsed, AttemptsUsed     string

	// The dialog that asks for a reason.
	ModalTitle, ModalClose string

	// The dialog with what else people may do.
	MoreTitle, MoreForm, MoreSubmit, MoreWhy, MoreWhat string

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

// askWords are the texts of shortcuts and the Home tab, by which people ask without writing to Ringi.
type askWords struct {
	Locale string

	// The dialog for a request, and notes.
	Title, Submit, Close, Text, TextPlaceholder, At, AtPlaceholder, AtHint, Asked string
	Notes                                                                         map[AskNote]string

	// The form for a decision.
	MatterTitle, MatterAmountHint, MatterAsked, MatterLine        string
	MatterFilesHint, MatterFilesFault, MatterKept, MatterKeptHint string
	// by field, and by code
	Matter, MatterFaults map[string]string

	// Copies, the Home tab and lists; HomeWaitingSome, if not all items were read.
	CopyFrom, CopyText, OutcomeText, Open                               string
	HomeWaiting, HomeNothing, HomeMore, HomeMine, HomeNoneMine, HomeHow string
	HomeWaitingSome                                                     string
	HomeFrom, HomeNew, HomeStandIn, HomeConsole, ConversationFrom       string
	WhatAction, WhatPrompt, WhatProcess, WhatStep                       string
	OpenResult                                                          string
	WaitsUntil, WaitsAs, WaitsSaid, WaitsFor                            string
	States                                                              map[task.Status]string

	// What somebody is reminded of.
	Reminded, RemindedAs, RemindedItem, RemindedMore, RemindedDaily string
	RemindedShared, RemindedSharedDaily                             string
}

var askWordsOf = language.Catalog[askWords]{Files: &embedded, Folder: "texts/asks"}

type conversationWords struct {
	// The card of an action: its headings, and what it would do.
	doingHeads
	Action string

	Effect                                map[conversation.ActionType]string // what happens after an approval
	Above, Inside, Approved, ApprovedLast string                             // where people see it, and when it happens
	Rest                                  map[string]string                  // how many of these are not shown whole
	Again                                 string                             // above what goes on in another section

	Limit, About, Script, Argv, Shortened, Cancel      string
	ConfirmTitle, ConfirmText, ConfirmCall, ConfirmYes string
	ConfirmNo                                          string // unlike the button that asks

	// The files that it changes.
	Difference, FilesChanged, FilesDeleted, MoreFiles, NotTaken, FilesPage string

	// A call of a tool.
	Call, CallReturned string

	// How an action ended; the texts with Late, of one that was cancelled before that.
	Output, Lines                                                             string
	Dropped, Newest                                                           string // lines not kept; alone kept
	ByRule, Since, Took, Ended, Ran, Stopping, CallGoesOn, Expired, NotBegun  string
	CancelledBy, CancelledClosed, CancelledDeleted                            string
	CheckCall, CheckUnknown, LateCallDone, LateCallAfter                      string
	LateCallFailed, LateDone, LateAfter, LateFailed                           string
	PushTitle, PushBody, Pulled, PushUnknown, CheckPush, Looking, BranchThere string

	// Conversations.
	System, Closed, ClosedBy, ClosedIdle, Begin, Reopened, Gone                string
	Reads, ReadsFiles                                                          string
	Forgets, WillGo                                                            string
	EndTitle, EndText, EndYes                                                  string
	Offer, OfferWho, OfferMake, OfferMade, OfferMadeBy, OfferGone, OfferClosed string // a request by the agent
	OfferLong, ProposeTitle, ProposeText, ProposeSubmit, ProposeNowhere        string
}

var conversationWordsOf = language.Catalog[conversationWords]{Files: &embedded, Folder: "texts/conversations"}
