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
		"minutes.docx": {Form: isolated.Document, Text: "議事録\n予算は 1,200 円です。\tタブの後\n• First\none line\nand the next\n" +
			"氏名\t部署\n佐藤\t営業 一課\nafter the table\n"},
		"lists.docx": {Form: isolated.Document, Remarks: []isolated.FileRemark{isolated.HasHidden, isolated.HasStruck,
			isolated.HasColors},
			Text: "1. 対象は営業\n2. 期間は10月\n3. 上限は30時間\n• 点\n" +
				"営業~~と人事と総務~~の残業。[invisible: 役員も］含む]\n~~取消~~ではない\n" +
				"見える[invisible: 白い文字]白抜き\n表の白\n"},
		"deck.pptx": {Form: isolated.Slides, Text: "--- slide 1 of 2 ---\n方針\none\ntwo\n--- notes ---\n話すこと\n\n" +
			"--- slide 2 of 2 ---\nTable\nA\tB\n1\t2\n"},
		"encrypted.xlsx": {Why: isolated.Encrypted},
		"old.xls":        {Why: isolated.OldOffice},
		"sjis.csv":       {Form: isolated.PlainText, Encoding: "Shift_JIS", Text: csv},
		"utf8.csv":       {Form: isolated.PlainText, Encoding: "UTF-8", Text: csv},
		"utf8-bom.csv":   {Form: isolated.PlainText, Encoding: "UTF-8", Text: csv},
		"utf16.csv":      {Form: isolated.PlainText, Encoding: "UTF-16LE", Text: csv},
		"euc.csv":        {Form: isolated.PlainText, Encoding: "EUC-JP", Text: "部署,氏名\r\n営業,佐藤\r\n開発,鈴木\r\n"},
	} {
		expect.Same(t, want, read(made(t, name), name, soon()))
	}
}

// People refer to "item 3": the numbers of a document's lists are those that Word writes.
func TestListsAreNumberedAsWordDoes(t *testing.T) {
	level := func(i int, form, text, more string) string {
		return fmt.Sprintf(`<lvl ilvl="%d"><start val="1"/><numFmt val="%s"/>%s<lvlText val="%s"/></lvl>`, i, form, more,
			text)
	}
	num := func(id, abstract int, more string) string {
		return fmt.Sprintf(`<num numId="%d"><abstractNumId val="%d"/>%s</num>`, id, abstract, more)
	}
	numbering := `<numbering><abstractNum abstractNumId="0">` + level(0, "japaneseCounting", "第%1条",
		`<pStyle val="Article"/>`) +
		level(1, "decimal", "%1.%2", "<isLgl/>") + level(2, "lowerRoman", "(%3)", "") + `</abstractNum>` +
		`<abstractNum abstractNumId="1">` + level(0, "decimalEnclosedCircle", "%1", "") + `</abstractNum>` +
		`<abstractNum abstractNumId="2">` + level(0, "hebrew1", "%1", "") + `</abstractNum>` +
		`<abstractNum abstractNumId="3"><numStyleLink val="Elsewhere"/></abstractNum>` +
		num(1, 0, "") + num(2, 1, "") + num(3, 1, `<lvlOverride ilvl="0"><startOverride val="1"/></lvlOverride>`) + num(4,
		2, "") +
		num(5, 3, "") + num(6, 1, `<lvlOverride ilvl="0">`+level(0, "decimal", "%1)", "")+`</lvlOverride>`) + `</numbering>`
	line := func(num, level, text string) string {
		return `<p><pPr><numPr><ilvl val="` + level + `"/><numId val="` + num + `"/></numPr></pPr><r><t>` + text +
			`</t></r></p>`
	}
	article := `<p><pPr><pStyle val="Article"/></pPr><r><t>目的</t></r></p>`
	for body, want := range map[string]string{
		article + line("1", "1", "a") + line("1", "1", "b") + line("1", "2", "c") + article + line("1", "1",
			"d"): "第一条 目的\n" +
			"1.1 a\n1.2 b\n(i) c\n第二条 目的\n2.1 d\n",
		line("2", "0", "a") + line("2", "0", "b") + line("3", "0", "c") + line("2", "0", "d"): "① a\n② b\n① c\n② d\n",
		line("4", "0", "a"): "!a\n", line("5", "0", "a"): "!a\n", line("6", "0", "a"): "!a\n", line("9", "0", "a"): "!a\n",
		line("0", "0", "a"): "a\n",
	} {
		part := func(id, kind, name string) string { return fmt.Sprintf(ref, id, kind, name) }
		got := read(zipped(t, []string{"_rels/.rels", fmt.Sprintf(refs, part("r1", "officeDocument", "d/main.xml")),
			"d/main.xml", `<document><body>` + body + `</body></document>`,
			"d/_rels/main.xml.rels", fmt.Sprintf(refs, part("r1", "numbering", "n.xml")+part("r2", "styles", "s.xml")),
			"d/n.xml", numbering,
			"d/s.xml", `<styles><style type="paragraph" styleId="Article"><pPr><numPr><numId val="1"/></numPr></pPr>` +
				`</style></styles>`}),
			"a.docx", soon())
		text, unknown := strings.CutPrefix(want, "!")
		expect.Is(t, got.Text, text)
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasNumbers), unknown, want)
	}
}

// What a file is follows from its bytes.
func TestANameDoesNotDecideWhatAFileIs(t *testing.T) {
	got := read(made(t, "minutes.docx"), "minutes.xlsx", soon())
	expect.That(t, got.Form == isolated.Document && len(got.Remarks) == 1 && got.Remarks[0] == isolated.HasEnding &&
		strings.HasPrefix(got.Text, "議事録"), "%+v", got)
	for name, tt := range map[string]struct {
		file string
		want isolated.Unreadable
	}{
		"a.xlsx": {"PK\x03\x04 is no archive", isolated.Broken}, "b.docx": {"%PDF-1.7 x", isolated.PDF},
		"l.pdf": {"\r\n%PDF-1.3\n%\x93\x8c\x8b\x9e\nstartxref\n1\n%%EOF", isolated.PDF},
		"m.txt": {"PDFの先頭は次の行です。\n%PDF-1.7\n", ""},
		"c.csv": {"\x89PNG\r\n\x1a\n\x00\x00", isolated.OtherType}, "d.txt": {"caf\x8e cr\x8fme", isolated.Encoding},
		"e.txt": {"one\x01two", isolated.OtherType}, "h.rtf": {`{\rtf1\ansi abc}`, isolated.OtherType},
		"i.eml": {"Subject: =?utf-8?b?5a++?=\r\n folded\r\nContent-Transfer-Encoding: base64\r\n\r\n5a++",
			isolated.OtherType},
		"j.msg": {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("W\x00", 600), isolated.OtherType},
		"k.xlsb": {string(zipped(t, []string{"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument",
			"xl/workbook.bin")), "xl/workbook.bin", "\x83\x01"})), isolated.OtherType},
		"f.docx": {string(zipped(t, nil)), isolated.OtherType},
		"g.zip":  {string(zipped(t, []string{"readme.txt", "hello"})), isolated.OtherType},
	} {
		expect.Is(t, read([]byte(tt.file), name, soon()).Why, tt.want, name)
	}
	empty := read(nil, "empty.csv", soon())
	expect.That(t, empty.Form == isolated.PlainText && empty.Text == "" && empty.Why == "", "%+v", empty)
}

// What a file's encoding is follows from its bytes, too, or is not known.
func TestATextIsDecodedOrNotKnown(t *testing.T) {
	for file, want := range map[string]isolated.FileText{
		"\x1b$B;aL>\x1b(B,\x1b$BIt=p\x1b(B\n": {Form: isolated.PlainText, Encoding: "ISO-2022-JP", Text: "氏名,部署\n"},
		"Pr\xe9nom,Nom\n":                     {Form: isolated.PlainText, Encoding: "Windows-1252", Text: "Prénom,Nom\n"},
		"氏名,部署\xe6\xb0": {Form: isolated.PlainText, Encoding: "UTF-8", Text: "氏名,部署",
			Remarks: []isolated.FileRemark{isolated.Torn}},
		"+bA9UDQ,+kOh/cg-\nA+-B":      {Why: isolated.Encoding}, // UTF-7: 氏名,部署
		"~{<:Ky2;S{~}\n":              {Why: isolated.Encoding}, // HZ
		"C++ +81-3-1234-5678 a+foo-b": {Form: isolated.PlainText, Encoding: "UTF-8", Text: "C++ +81-3-1234-5678 a+foo-b"},
		"~{a b~} ~{":                  {Form: isolated.PlainText, Encoding: "UTF-8", Text: "~{a b~} ~{"},
		"\xc0\xcc\xb8\xa7":            {Why: isolated.Encoding}, // 이름, or something else in another language
	} {
		expect.Same(t, want, read([]byte(file), "a.csv", soon()))
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
		"<html><xml><x:Visible>SheetHidden</x:Visible></xml></html>": true,
		`<?xml version="1.0"?><Workbook><Row ss:Hidden="1"><Data>人事`: true,
		`<?xml version="1.0"?><Workbook><Row ss:Hidden="0"><Data>人事`: false,
	} {
		got := read([]byte(file), "a.txt", soon())
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasHidden), hides, file)
	}
}

func TestALongTextEndsWithAWholeLine(t *testing.T) {
	long := strings.Repeat("長い行です\n", isolated.MaxText/10)
	got := read([]byte(long), "a.txt", soon())
	expect.That(t, len(got.Text) <= isolated.MaxText && strings.HasSuffix(got.Text, "です\n") &&
		got.Remarks[0] == isolated.FileCut,
		"%d bytes, %v", len(got.Text), got.Remarks)
	got = read([]byte(strings.Repeat("長", isolated.MaxText)), "a.txt", soon())
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
	o := isolated.FileOrder{Address: s.URL + "/?X-Amz-Signature=secret", SHA256: hex.EncodeToString(sum[:]), Name: "a.csv"}
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
