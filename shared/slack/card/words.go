package card

import (
	"embed"

	"ringi/shared/words/language"
)

// words are all texts of one language. {names} in braces are places for values; both languages have the same ones.
type words struct {
	Locale   string // ja or en
	None     string // where there is nothing to show
	Untitled string
	System   string // who decided, when nobody did

	// Buttons.
	Approve, Reject, Cancel, Retry, RetryGeneration  string
	ConfirmTitle, ConfirmText, ConfirmYes, ConfirmNo string

	// What can't be shown whole on its card is approved in a dialog that pages through it.
	Review, NotWhole                                                          string
	ReviewTitle, ReviewPage, ReviewBefore, ReviewNext                         string
	ReviewApprove, ReviewClose, ReviewLast, ReviewOn, ReviewReads, ReviewOver string

	Effects string // above what each step would do
	Remarks string // above what became of the reasons for which earlier steps were rejected

	// Contexts.
	TaskID, TaskVersion, AsAsked                            string
	ApprovedBy, AutoApproved, WillAuto                      string
	RejectedBy, NextVersion, NextGenerating                 string
	LastVersion, PausedUntil, PausedForSlack, PausedForRoom string
	EndedBy, EndedExpired, EndedMax, EndedStep              string
	EndedCost                                               string
	EndedFailed, EndedDone, EndedOtherwise                  string
	Progress, WaitsForCheck                                 string
	Completed, Failed, CompletedTimed, FailTimed            string
	StoppedBy, StoppedInFlight, StoppedUnknown              string

	// Endings of headers.
	IsApproved, IsRejected, IsRegenerating, IsRegenerated     string
	IsApprovedCancelled                                       string
	IsRegenerationFailed, IsCancelled, IsExpired, IsGenFailed string
	IsRegenerationHeld, IsHeld                                string // where nobody may approve what comes next

	// The task's card.
	Received, TaskHeader, TaskCancelled                       string
	RequestRefused, RefusedUntil                              string
	Description, Priority, Type                               string
	PriorityLow, PriorityMedium, PriorityHigh, PriorityUrgent string

	// The cards of what waits for a decision.
	Prompt, Process, Step gateWords
	ArgumentsCut          string
	ArgumentsMasked       string
	LeftOut               string // above defaults of what a call leaves out
	MoreRows              string
	NotWritten, EmptyCell string
	ArgumentNames         map[string]string // of Ringi's own tools

	// Who decides and until when.
	DecideBy, WhoMakesReason, WhoMakesRequest string

	// What is suggested to whoever opens the app's messages.
	Suggestions [3]Suggestion
	AskAgent    Suggestion // its message follows the agent's id

	// What a message in a thread is meant to be whose gate waits.
	ChoiceText, ChoiceAsks, ChoiceSaid, ChoiceEnds           string
	ChoiceReason, ChoiceRequest, ChoicePrompt, ChoiceProcess string
	ChoiceGateOver, ChoiceNoReason, ChoiceBecame             string

	// The dialog that asks before a task is cancelled.
	CancelTitle, CancelText, CancelAbout, CancelYes, CancelNo string

	// The execution's card.
	RunningHeader, CompletedHeader, FailedHeader, StoppedHeader string
	Running, CarriedOver, Waiting, InFlight, Unknown, AfterStop string // after a step's line
	Result                                                      string // of a step, where it can be opened
	SheetStays, RowsBelow, RowsBelowOver, RowsBelowUnread       string // of what stands around a table that is written
	MoreSteps, StepNumber                                       string
	Summary, Error, Held                                        string
	CheckUnknown, UnknownSettled, RetriesUsed, AttemptsUsed     string

	// The dialog that asks for a reason.
	ModalTitle, ModalSubmit, ModalClose, ModalText, ModalPlaceholder string
	ModalSubmitStep, ModalTextStep, ModalPlaceholderStep             string

	StepDoneBefore string
	Unreachable    string // a note that only one person sees; package refused says what became of clicks
}

// gateWords are the texts of one kind of what waits for a decision.
type gateWords struct {
	Header     string
	Generating string // in the card while it is being made
	Drafting   string // fallback text meanwhile
	Failed     string // on the card before it, when it could not even begin
	Review     string // fallback text while it waits
}

//go:embed texts
var files embed.FS

// wordsOf returns a language's texts; Japanese where there is no such language.
var wordsOf = language.Read[words](files, "texts/cards")
