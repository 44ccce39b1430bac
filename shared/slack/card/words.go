package card

import (
	"embed"

	"ringi/shared/words/language"
)

// words are all texts of one language. {names} in braces are placeholders; every language has the same ones.
type words struct {
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

	Writes, Reads string // headings of what the steps would do
	Again         string // above the rest of what a step would do
	Stamper       string // stands for whoever will approve
	Remarks       string // heading of the answers to earlier rejections

	// Contexts.
	TaskID, TaskVersion, AsAsked                            string
	ApprovedBy, AutoApproved, WillAuto                      string
	RejectedBy, DeniedBy, NextVersion, NextGenerating       string
	LastVersion, PausedUntil, PausedForSlack, PausedForRoom string
	EndedBy, EndedExpired, EndedMax, EndedStep              string
	EndedDeleted, EndedDenied, EndedCost, AskedAgain        string
	EndedFailed, EndedDone, EndedOtherwise, EndedByRules    string
	Progress, WaitsForCheck                                 string
	Completed, Failed, CompletedTimed, FailTimed            string
	StoppedBy, StoppedInFlight, StoppedUnknown              string

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
	IsRegenerationFailed, IsCancelled, IsExpired, IsGenFailed string
	IsRegenerationHeld, IsHeld                                string // if nobody may approve the next version

	// What a request forwards and attaches.
	ThreadRead, ThreadFailed                                              string
	Forwards, ForwardCut, ForwardHidden                                   string
	FileWaits, FileRead, FilePart, FileUnread, FilesNotRead, EnclosedMore string

	// The task's card.
	Received, TaskHeader, TaskCancelled                       string
	RequestRefused, RefusedUntil                              string
	Description, Priority, Type                               string
	PriorityLow, PriorityMedium, PriorityHigh, PriorityUrgent string

	// The cards of gates.
	Prompt, Process, Step gateWords
	ArgumentsCut          string
	ArgumentsMasked       string
	LeftOut               string // heading of the defaults for omitted arguments
	MoreRows              string
	NotWritten, EmptyCell string
	NotGiven              string
	ArgumentNames         map[string]string // of the arguments of Ringi's own tools

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
	SheetStays, RowsBelow, RowsBelowOver, RowsBelowUnread       string // about older rows in a sheet that a step writes
	MoreSteps, GoesOn, StepNumber                               string
	Summary, Error, Held                                        string
	CheckUnknown, UnknownSettled, RetriesUsed, AttemptsUsed     string

	// The dialog that asks for a reason.
	ModalTitle, ModalSubmit, ModalClose, ModalText, ModalPlaceholder string
	ModalSubmitStep, ModalTextStep, ModalPlaceholderStep             string

	StepDoneBefore string
	Unreachable    string // seen by one person only; package refused has the notes on clicks
}

// gateWords are the texts of one kind of gate.
type gateWords struct {
	Header     string
	Generating string // on the card while the version is being made
	Drafting   string // notification text meanwhile
	Failed     string // on the previous card if the generation could not begin
	Review     string // notification text while the gate waits
}

//go:embed texts
var files embed.FS

// wordsOf returns a language's texts, Japanese for an unknown language.
var wordsOf = language.Catalog[words]{Files: &files, Folder: "texts/cards"}
