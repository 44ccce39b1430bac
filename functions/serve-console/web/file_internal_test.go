package web

import (
	"encoding/csv"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
)

func TestACellIsNoFormula(t *testing.T) {
	for _, s := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "　＝1",
		"＝1", "＋1", "－1",
		"＠x", "\ufeff=1", "\x00=1", "|calc", "%0A", "\tx"} {
		got := literal(s)
		expect.That(t, strings.HasPrefix(got, "'"), "%q stands as %q", s, got)
	}
	for _, s := range []string{"", "U1", "2026-04-18", "却下=理由", "a@b", "'=1"} {
		expect.Is(t, literal(s), s)
	}
	cells := []string{"=1+1", "-1+2", "--1", "-5", "-1.5", "田中", "a\"b,c\nd", ""}
	text, marked := strings.CutPrefix(string(CSV([][]string{cells, cells})), "\ufeff")
	expect.That(t, marked, "Excel takes the file for another encoding")
	rows := expect.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	want := []string{"'=1+1", "'-1+2", "'--1", "-5", "-1.5", "田中", "a\"b,c\nd", ""} // a signed number is none
	expect.Same(t, rows, [][]string{want, want})
}

// LibreOffice also splits cells at semicolons and tabs, Excel at semicolons in locales with decimal commas: text after
// these signs must not begin another cell.
func TestNoSignWithinACellBeginsAnother(t *testing.T) {
	for _, s := range []string{"a;=cmd|'/C calc'!A1", "a\t=1+1", "a|=1", `a";=1`} {
		file := string(CSV([][]string{{s, ""}}))
		expect.Is(t, file, "\ufeff\""+strings.ReplaceAll(s, `"`, `""`)+`",""`+"\r\n", "%q stands", s)
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, byteOrderMark)))
		r.Comma = ';'
		row, err := r.Read()
		expect.That(t, err != nil || len(row) <= 1, "%q is %d cells to a program that splits at semicolons", s, len(row))
	}
}

func FuzzACellIsNoFormula(f *testing.F) {
	f.Add("=1")
	f.Fuzz(func(t *testing.T, s string) {
		got := literal(s)
		first := strings.TrimLeftFunc(got, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		expect.That(t, first == "" || !strings.ContainsRune("=+-@", []rune(first)[0]), "%q stands as %q", s, got)
	})
}
