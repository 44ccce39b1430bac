package demo

import (
	"embed"
	"strconv"
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

//go:embed words/*.json
var files embed.FS

// words are the texts of one language. No other text of a policy may equal a line by which reading.follow reads it.
type words struct {
	Locale string
	Month  string
	// around a quotation; between two of a list and before its last; between two quotations and two months
	Quote, And, AndLast, AndQuoted, To string

	AttendanceTitle, ValidateTitle, OvertimeTitle, SheetTitle, NoticeTitle, TellTitle step

	TitleAttendance, TitleOvertime, TitleMessage, TitleEmpty, TitleOf string // of the task
	Describe                                                          string // request
	// forms shared by all lists, by name; {things}, {tab}, {from} and {handled} stand for words of the list's file
	List map[string]string

	// {lists} is replaced by the known lists
	Can, CanAnd, CanOr string
	// shown when there is no plan
	NoAction, NoEvery, NoDenied, NoNarrow, NoPay, NoTopic, NoPerson, NoWords, TooMuch, TooLong, TooMany, TooWide,
	TooManyTold, Nothing string
	// also shown when there is no plan
	NoCancel, NoRoom, NoSecond, NoLater, NoWhen, NoQuote, NoValidate, LongMessage string
	NoChannel, NoCondition, NoText, NoMessage                                     string
	// first lines of a policy
	Aside, Refused, Kept, Understood, Feedback, WholeMonths, Ahead, Marks string
	AssumedMonth, Fiscal, Requester, SayLine, PrivacyMessage              string
	PurposeAttendance, PurposeOvertime, PurposeMessage                    string
	// purposes of a policy without a sheet
	CountAttendance, CountOvertime           string
	Period, PeriodSoFar, How, ReadAttendance string
	// lines with a sheet, then without
	Calculate, Average, Count, CountAverage                                              string
	ValidateLine, SheetLine, NoSheetLine, OnlyCounts, NoticeLine, NoNoticeLine, ToldLine string
	HumanLine, Privacy, OfAttendance, Earlier, Reflected, NotReflected, StillNeeded      string

	TabAttendance, TabOvertime string
	// titles of columns, by the rows' member; lists have their own
	Columns map[string]string

	DoneAttendance, DoneOvertime                                                string
	About                                                                       string // of a plan
	LabelPeriod, LabelSoFar, LabelOver45, LabelOver80, LabelAverage, LabelSheet string
	SumMonth, SumMonths, SumSheets                                              string // one line for each month
	SumOvertime, SumBoth, SumOver, SumAverage, SumSheet, SumNotice              string
	SumValidated, SumTold, SumDone, SumOne, SumSeveral, Separator               string
	// parts that a notice or a summary leaves out
	MoreMonths, MoreTables, SeeSheet, NoSpace string

	Meeting meetingWords
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

var (
	hiraganaForm = &lazy.Regexp{Text: `\p{Hiragana}`}
	kanjiForm    = &lazy.Regexp{Text: `[\p{Han}\p{Katakana}ー々]+`}
	politeForm   = &lazy.Regexp{Text: `([\p{Han}\p{Katakana}ー々])(?:さん|さま|くん)`}         // to a name
	placeForm    = &lazy.Regexp{Text: `[\p{Han}\p{Katakana}ー々]+(?:部|課|室)|\d+\s*[年月日]`} // names of departments, and dates
	latinForm    = &lazy.Regexp{Text: `\p{Latin}+`}
	angleForm    = &lazy.Regexp{Text: `<[^>]*>`}
	// glueForm matches a word that occurs only in English sentences.
	glueForm = &lazy.Regexp{Text: `(?i)\b(?:a|an|the|of|for|in|on|to|from|and|at|by|with|please|is|are|me|my|our|your|this|last|next|who|what|how)\b`}
)

// English reports whether a text is English and should be answered in English. Names and quotations in Japanese don't
// count. If the text is in neither language, the locale decides.
func English(text, locale string) bool {
	text = politeForm.Get().ReplaceAllString(angleForm.Get().ReplaceAllString(Plain(text), " "), "$1")
	if rest, _, closed := quotations(text); closed &&
		(latinForm.Get().MatchString(rest) || kanjiForm.Get().MatchString(rest) || hiraganaForm.Get().MatchString(rest)) {
		text = rest
	}
	latin, kanji := len(latinForm.Get().FindAllString(text, -1)), len(kanjiForm.Get().FindAllString(text, -1))
	names := 0
	if latin > 0 {
		names = len(placeForm.Get().FindAllString(text, -1))
		kanji = len(kanjiForm.Get().FindAllString(placeForm.Get().ReplaceAllString(text, " "), -1))
	}
	switch {
	case hiraganaForm.Get().MatchString(text):
		return false
	case kanji > 0:
		return latin >= 2*kanji && glueForm.Get().MatchString(text)
	case names > 0:
		return latin > 1 || glueForm.Get().MatchString(text)
	}
	return latin > 0 || locale == "en"
}
