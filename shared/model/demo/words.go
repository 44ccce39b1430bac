package demo

import (
	"embed"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

//go:embed words/*.json
var files embed.FS

// words is one language. Lines that follow looks for appear nowhere else in a policy.
type words struct {
	Locale         string
	Month          string
	Quote, And, To string // of what people said; between two of a list; from one month to another

	AttendanceTitle, ValidateTitle, OvertimeTitle, SheetTitle, NoticeTitle, TellTitle step

	TitleAttendance, TitleOvertime, TitleMessage, TitleEmpty, TitleOf string // of the task
	Describe                                                          string // request
	// about any list, by name; {things}, {tab}, {from} and {handled} are the words of its file
	List map[string]string

	// "{lists}" in can are those that are known
	Can, CanAnd, CanOr string
	// instead of a plan
	NoAction, NoEvery, NoDenied, NoNarrow, NoPay, NoTopic, NoPerson, TooMuch, TooLong, TooMany, TooWide, TooManyTold,
	Nothing string
	// likewise
	NoCancel, NoRoom, NoSecond, NoLater, NoWhen, NoQuote, NoValidate, LongMessage string
	// first lines of a policy
	Unread, Refused, WholeMonths, Ahead, Marks               string
	AssumedMonth, Fiscal, Requester, SayLine, PrivacyMessage string
	PurposeAttendance, PurposeOvertime, PurposeMessage       string
	// purposes without a sheet
	CountAttendance, CountOvertime           string
	Period, PeriodSoFar, How, ReadAttendance string
	// with a sheet, and without
	Calculate, Average, Count, CountAverage                                              string
	ValidateLine, SheetLine, NoSheetLine, OnlyCounts, NoticeLine, NoNoticeLine, ToldLine string
	HumanLine, Privacy, OfAttendance, Earlier, Reflected, NotReflected, StillNeeded      string

	TabAttendance, TabOvertime string
	// titles by the rows' members: one name means different things in the lists of the catalog
	Columns map[string]string

	DoneAttendance, DoneOvertime                                                string
	About                                                                       string // of a plan
	LabelPeriod, LabelSoFar, LabelOver45, LabelOver80, LabelAverage, LabelSheet string
	SumOvertime, SumOver, SumAverage, SumSheet, SumNotice                       string
	SumValidated, SumTold, SumDone, SumOne, SumSeveral, Separator               string
	// of what a notice or a summary leaves out
	MoreMonths, MoreTables, SeeSheet, NoSpace string

	Meeting meetingWords
}

// step is how a step is called, described and what is expected of it.
type step struct{ Title, Description, Expected string }

// of is the step for one of several tables.
func (s step) of(about string) step {
	s.Title += about
	return s
}

// spoken are the words of a language.
var spoken = language.Read[words](files, "words")

func (t words) month(m month) string {
	return strings.NewReplacer("{year}", strconv.Itoa(m.year()), "{month}", strconv.Itoa(int(m.name())), "{name}",
		m.name().String()).Replace(t.Month)
}
