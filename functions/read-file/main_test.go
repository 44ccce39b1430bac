package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func soon() time.Time { return time.Now().Add(readWithin) }

func made(t testing.TB, name string) []byte {
	t.Helper()
	return expect.Value(os.ReadFile(filepath.Join("testdata", name)))(t)
}

const csv = "部署,氏名,金額\r\n営業,髙橋①,1200\r\n㈱山田,ソ能表,-5\r\n"

// The files are made by other programs (testdata/make.py).
func TestFilesAreReadAsTheirProgramsShowThem(t *testing.T) {
	for name, want := range map[string]isolated.FileText{
		"sales.xlsx": {Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasFormulas, isolated.HasHidden},
			Text: `--- sheet 1 of 2: 売上 ---
部署	日付	金額	税込
営業	2026/04/01	¥1,200	=C2*1.1 [saved: ¥1,320]
開発	1900/02/28	¥0	=C3*1.1 [saved: ¥0]
	令和8年11月23日
	2026/11/23 18:30	18:00	36:00:00
TRUE		tab here and a line
rich text
[rows 8 to 19 are empty]
				far

--- sheet 2 of 2, hidden: hidden one ---
見えない
`},
		"unsaved-values.xlsx": {Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasFormulas},
			Text: "--- sheet 1 of 1: Sheet ---\na\tb\n1\t2.5\t=A2+B2\n2026-01-02 3:04:05\t23:59:59\n"},
		"macros.xlsm": {Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasMacros},
			Text: "--- sheet 1 of 1: Sheet1 ---\nbeside macros\n"},
		"minutes.docx": {Form: isolated.Document, Text: "議事録\n予算は 1,200 円です。\tタブの後\nFirst\none line\nand the next\n" +
			"氏名\t部署\n佐藤\t営業 一課\nafter the table\n"},
		"lists.docx": {Form: isolated.Document, Remarks: []isolated.FileRemark{isolated.HasStruck, isolated.HasHidden},
			Text: "対象は営業\n期間は10月\n上限は30時間\n点\n" + "営業~~と人事と総務~~の残業。[invisible: 役員も］含む]\n~~取消~~ではない\n" +
				"見える白い文字白抜き\n表の白\n"},
		"deck.pptx": {Form: isolated.Slides, Text: "--- slide 1 of 2 ---\n方針\none\ntwo\n--- notes ---\n話すこと\n\n" +
			"--- slide 2 of 2 ---\nTable\nA\tB\n1\t2\n"},
		"encrypted.xlsx": {Why: isolated.Encrypted},
		"old.xls":        {Why: isolated.OldOffice},
		"sjis.csv":       {Form: isolated.PlainText, Encoding: "Shift_JIS", Text: csv},
		"utf8.csv":       {Form: isolated.PlainText, Encoding: "UTF-8", Text: csv},
		"utf8-bom.csv":   {Form: isolated.PlainText, Encoding: "UTF-8", Text: csv},
	} {
		expect.Same(t, want, textOf(made(t, name), soon()))
	}
}

func TestWhatAFileIsFollowsFromItsBytes(t *testing.T) {
	for file, want := range map[string]isolated.Unreadable{
		"PK\x03\x04 is no archive": isolated.Broken, "%PDF-1.7 x": isolated.PDF,
		"\r\n%PDF-1.3\n%\x93\x8c\x8b\x9e\nstartxref\n1\n%%EOF": isolated.PDF,
		"PDFの先頭は次の行です。\n%PDF-1.7\n":                            "",
		"\x89PNG\r\n\x1a\n\x00\x00":                            isolated.OtherType,
		"caf\x8e cr\x8fme":                                     isolated.Encoding,
		"one\x01two":                                           isolated.OtherType, `{\rtf1\ansi abc}`: isolated.OtherType,
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("W\x00", 600): isolated.OtherType,
		string(zipped(t, []string{"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument",
			"xl/workbook.bin")), "xl/workbook.bin", "\x83\x01"})): isolated.OtherType,
		string(zipped(t, nil)):                             isolated.OtherType,
		string(zipped(t, []string{"readme.txt", "hello"})): isolated.OtherType,
	} {
		expect.Is(t, textOf([]byte(file), soon()).Why, want, "%.40q", file)
	}
	empty := textOf(nil, soon())
	expect.That(t, empty.Form == isolated.PlainText && empty.Text == "" && empty.Why == "", "%+v", empty)
}

// What a file's encoding is follows from its bytes, too, or is not known.
func TestATextIsDecodedOrNotKnown(t *testing.T) {
	for file, want := range map[string]isolated.FileText{
		"\x1b$B;aL>\x1b(B,\x1b$BIt=p\x1b(B\n": {Why: isolated.OtherType}, // ISO-2022-JP
		"Pr\xe9":                              {Why: isolated.Encoding},
		"氏名,部署\xe6\xb0":                       {Why: isolated.Encoding},
		"\xff\xfea\x00\n\x00":                 {Why: isolated.OtherType}, // UTF-16
	} {
		expect.Same(t, want, textOf([]byte(file), soon()))
	}
}

// Systems write tables in HTML, or XML, and call them .xls. What people don't see of them is said.
func TestWhatAPageHidesIsSaid(t *testing.T) {
	const page = `<html><head><style>%s</style></head><body><table><tr><td>営業</td></tr>%s</table></body></html>`
	row := func(tag, text string) string {
		return fmt.Sprintf(page, "", "<tr "+tag+"><td>&nbsp;</td><td><b>"+text+"</b></td></tr>")
	}
	const aloud = "rt {color:red; display:none;}" // Excel's own
	for file, hides := range map[string]bool{
		row("", "人事"): false, row("style='height:0; display: none'", ""): false, fmt.Sprintf(page, aloud, ""): false,
		row(`class="hidden-print"`, "人事"): false, row(`style="display: none"`, "人事"): true, row("hidden", "人事"): true,
		row("style='visibility:hidden'", "人事"): true, fmt.Sprintf(page, ".x{mso-hide:all}", ""): true,
		"display:none is what <b hidden>this</b> is about":           false,
		fmt.Sprintf(page, "td.x{} .rt {display:none}", ""):           true,
		"<html><xml><x:Visible>SheetHidden</x:Visible></xml></html>": true,
		`<?xml version="1.0"?><Workbook><Row ss:Hidden="1"><Data>人事`: true,
		`<?xml version="1.0"?><Workbook><Row ss:Hidden="0"><Data>人事`: false,
	} {
		got := textOf([]byte(file), soon())
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasHidden), hides, file)
	}
}

func TestALongTextEndsWithAWholeLine(t *testing.T) {
	long := strings.Repeat("長い行です\n", isolated.MaxText/10)
	got := textOf([]byte(long), soon())
	expect.That(t, len(got.Text) <= isolated.MaxText && strings.HasSuffix(got.Text, "です\n") &&
		got.Remarks[0] == isolated.FileCut,
		"%d bytes, %v", len(got.Text), got.Remarks)
	got = textOf([]byte(strings.Repeat("長", isolated.MaxText)), soon())
	expect.That(t, len(got.Text) <= isolated.MaxText && utf8.ValidString(got.Text), "%d bytes", len(got.Text))
}

func TestOnlyTheOrderedFileIsRead(t *testing.T) {
	file := made(t, "sjis.csv")
	var status int
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		w.WriteHeader(status)
		w.Write(file)
	}))
	defer s.Close()
	h := expect.Value(newHandler(t.Context(), awsNothing, environment{}))(t)
	sum := sha256.Sum256(file)
	o := isolated.FileOrder{Address: s.URL + "/?X-Amz-Signature=secret", SHA256: hex.EncodeToString(sum[:])}
	status = http.StatusOK
	expect.Is(t, expect.Value(h.Handle(t.Context(), o))(t).Text, csv, "the text")
	refused := func(o isolated.FileOrder, why string) {
		t.Helper()
		_, err := h.Handle(t.Context(), o)
		expect.That(t, err != nil && !strings.Contains(err.Error(), "secret"), "%s: %v", why, err)
	}
	other := o
	other.SHA256 = strings.Repeat("0", 64)
	refused(other, "another object")
	status = http.StatusForbidden
	refused(o, "its time is over")
	status = http.StatusOK
	moved := o
	moved.Address = s.URL + "/moved"
	refused(moved, "it leads elsewhere")
	file = make([]byte, isolated.MaxFile+1)
	refused(o, "it is too large")
	s.Close()
	refused(o, "nobody answers")
}
