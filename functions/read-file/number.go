package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// numberKind is how a cell shows its number.
type numberKind int

const (
	plainNumber numberKind = iota
	date
	clock
	dateAndClock
	elapsed // hours, minutes and seconds that go on beyond a day
)

// builtIn returns the kind of a format that every workbook has without defining it; 27 to 36 and 50 to 58 are those of
// East Asian editions.
func builtIn(id string) numberKind {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
		return plainNumber
	case n >= 14 && n <= 17, n >= 27 && n <= 31, n == 34, n == 35, n == 36, n >= 50 && n <= 58:
		return date
	case n >= 18 && n <= 21, n == 32, n == 33, n == 45, n == 47:
		return clock
	case n == 22:
		return dateAndClock
	case n == 46:
		return elapsed
	}
	return plainNumber
}

var (
	literally = regexp.MustCompile(`"[^"]*"|\\.|_.|\*.|(?i:general)|(?i:am/pm)|(?i:a/p)`)
	lasting   = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)
	bracketed = regexp.MustCompile(`\[[^\]]*\]`)
	exponent  = regexp.MustCompile(`(?i)e[+-]`)
)

// kindOf returns the kind of a format's code, by its first section.
func kindOf(code string) numberKind {
	code = literally.ReplaceAllString(code, "")
	code, _, _ = strings.Cut(code, ";")
	if lasting.MatchString(code) {
		return elapsed
	}
	code = strings.ToLower(exponent.ReplaceAllString(bracketed.ReplaceAllString(code, ""), ""))
	hours := strings.ContainsAny(code, "hs")
	days := strings.ContainsAny(code, "ydg") || strings.Contains(code, "aaa") || !hours && strings.Contains(code, "m")
	switch {
	case days && hours:
		return dateAndClock
	case days:
		return date
	case hours:
		return clock
	}
	return plainNumber
}

// lastDay is the number of the last day that Excel knows, 31 December 9999.
const lastDay = 2958465

// number returns a cell's number as people see it. What can't be read as one stays as it is.
func number(value string, kind numberKind, from04 bool) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return oneLine(value)
	}
	if kind == plainNumber || n < 0 || n >= lastDay+1 {
		return decimal(n, value)
	}
	seconds := int64(math.Round(n * 86400))
	switch kind {
	case elapsed:
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	case clock:
		if n < 1 {
			return fmt.Sprintf("%02d:%02d:%02d", seconds/3600%24, seconds/60%60, seconds%60)
		}
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from04:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60: // Excel takes 1900 for a leap year
		first = first.AddDate(0, 0, 1)
	case n < 61:
		return "1900-02-29"
	}
	at := first.AddDate(0, 0, int(seconds/86400)).Add(time.Duration(seconds%86400) * time.Second)
	if kind == date && seconds%86400 == 0 {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02 15:04:05")
}

// decimal returns a number with the 15 digits that Excel shows, without an exponent where that stays short.
func decimal(n float64, value string) string {
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e15) {
		return oneLine(value)
	}
	s, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		return oneLine(value)
	}
	return strconv.FormatFloat(s, 'f', -1, 64)
}
