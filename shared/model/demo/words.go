package demo

import (
	"embed"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

//go:embed words/*.json
var files embed.FS

// words are the texts of one language.
type words struct {
	Locale string
	Month  string
	// around a quotation; between two of a list and before its last; between two quotations and two months
	Quote, And, AndLast, AndQuoted, To string

	AttendanceTitle, ValidateTitle, OvertimeTitle, SheetTitle, NoticeTitle, TellTitle step

	TitleEmpty, TitleOf, Describe string // of the task
	// forms shared by all lists, by name; {things}, {tab}, {from} and {handled} stand for words of the list's file
	List   map[string]string
	Topics map[string]map[string]string // the same of the topics that are no lists

	// {lists} is replaced by the known lists
	Can, CanAnd, CanOr string
	// shown when there is no plan
	NoTopic, NoWords, TooMuch, TooLong, TooMany, TooWide,
	TooManyTold, Nothing string
	// also shown when there is no plan
	NoCancel, NoRoom, NoSecond, NoQuote, NoValidate, LongMessage string
	NoChannel, NoText, NoMessage                                 string
	InForward, InFile, ForwardHidden, NoFile, NoFiles            string
	// first lines of a policy
	Refused, Kept, Understood, Feedback, Ahead, Marks string
	AssumedMonth, Fiscal, Requester, SayLine          string
	Period, PeriodSoFar, How, ReadAttendance          string
	// lines with a sheet, then without
	Calculate, Average, Count, CountAverage                                              string
	ValidateLine, SheetLine, NoSheetLine, OnlyCounts, NoticeLine, NoNoticeLine, ToldLine string
	HumanLine, Earlier, Reflected, NotReflected, StillNeeded                             string

	// titles of columns, by the rows' member; lists have their own
	Columns map[string]string

	About                                                                       string // of a plan
	LabelPeriod, LabelSoFar, LabelOver45, LabelOver80, LabelAverage, LabelSheet string
	SumMonth, SumMonths, SumSheets                                              string // one line for each month
	SumOvertime, SumAverage, SumSheet, SumNotice                                string
	SumValidated, SumTold, SumDone, SumOne, SumSeveral                          string
	// parts that a notice or a summary leaves out
	MoreMonths, MoreTables, SeeSheet, NoSpace string

	Meeting meetingWords
	Order   orderWords
	Agent   map[string]string
	Teams   struct {
		Reviews                []string
		Good, Mend             map[string]string // by metric
		ScoredBy, GoOn, Enough string
	}
}

type step struct{ Title, Description, Expected string }

// of returns the step for one of several tables.
func (s step) of(about string) step {
	s.Title += about
	return s
}

var spoken = language.Catalog[words]{Files: &files, Folder: "words"}

func (t words) month(m month) string {
	return strings.NewReplacer("{year}", strconv.Itoa(m.year()), "{month}", strconv.Itoa(int(m.name())), "{name}",
		m.name().String()).Replace(t.Month)
}

func has(text string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
}

// oneLine joins a text into one line, short enough for a title.
func oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 60 {
		r = append(r[:59], '…')
	}
	return string(r)
}
