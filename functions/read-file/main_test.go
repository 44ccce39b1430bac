package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		w.WriteHeader(status)
		w.Write(file)
	}))
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

var awsNothing aws.Config

// zipped makes an archive of names and contents.
func zipped(t testing.TB, parts []string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i+1 < len(parts); i += 2 {
		w := expect.Value(z.Create(parts[i]))(t)
		expect.Value(io.WriteString(w, parts[i+1]))(t)
	}
	expect.NoError(t, z.Close())
	return out.Bytes()
}

const (
	standard = `http://schemas.openxmlformats.org/` // its name spaces begin so

	mainSpace = standard + `spreadsheetml/2006/main`
	head      = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	kind      = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	refs      = head + `<Relationships ` +
		`xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	ref = `<Relationship Id="%s" Type="` + kind + `/%s" Target="%s"/>`
)

// book makes a workbook of one sheet, and of further parts.
func book(t testing.TB, shared, sheet string, more ...string) []byte {
	return zipped(t, append([]string{
		"[Content_Types].xml", head + `<Types xmlns="` + standard + `package/2006/content-types"/>`,
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "xl/workbook.xml")),
		"xl/workbook.xml", head + `<workbook xmlns="` + mainSpace + `" xmlns:r="` + kind +
			`"><sheets><sheet name="S" r:id="r2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "worksheet", "worksheets/sheet1.xml")+
			fmt.Sprintf(ref, "r3", "sharedStrings", "/xl/sharedStrings.xml")+fmt.Sprintf(ref, "r4", "styles", "styles.xml")+
			fmt.Sprintf(ref, "r5", "person", "people.xml")),
		"xl/sharedStrings.xml", head + `<sst xmlns="` + mainSpace + `">` + shared + "</sst>",
		"xl/worksheets/sheet1.xml", head + `<worksheet xmlns="` + mainSpace + `"><sheetData>` + sheet +
			"</sheetData></worksheet>",
	}, more...))
}

// paper makes a document.
func paper(t testing.TB, text string) []byte {
	return zipped(t, []string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "/word/document.xml")),
		"word/document.xml", text})
}

func TestDeletedTextIsNotRead(t *testing.T) {
	got := textOf(paper(t,
		`<w:document xmlns:w="w" xmlns:mc="`+standard+`markup-compatibility/2006"><w:body><w:p>`+
			`<w:pPr><w:tabs><w:tab w:pos="1"/></w:tabs></w:pPr>`+
			`<w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>`+
			`<w:ins><w:r><w:t>new</w:t></w:r></w:ins>`+
			`<mc:AlternateContent><mc:Choice><w:t> once</w:t></mc:Choice>`+
			`<mc:Fallback><w:t> twice</w:t></mc:Fallback></mc:AlternateContent>`+
			`</w:p></w:body></w:document>`), soon())
	expect.Is(t, got.Text, "kept new once\n", "the text")
}

// What stands beside a document's text is read, and what its text doesn't tell is said.
func TestWhatStandsBesideATextIsReadOrSaid(t *testing.T) {
	const w = `<w:document xmlns:w="w"><w:body>%s</w:body></w:document>`
	p := func(text string) string { return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>` }
	r := func(props, text string) string {
		return `<w:r><w:rPr>` + props + `</w:rPr><w:t>` + text + `</w:t></w:r>`
	}
	for _, c := range []struct {
		body, text string
		remarks    []isolated.FileRemark
	}{
		{`<w:p><w:ins w:author="A"><w:r><w:t>10</w:t></w:r></w:ins>` +
			`<w:del w:author="A"><w:r><w:delText>5</w:delText></w:r></w:del></w:p>`, "10\n",
			[]isolated.FileRemark{isolated.HasChanges}},
		{`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hid]den</w:t></w:r></w:p>`, "[invisible: hid］den]\n",
			[]isolated.FileRemark{isolated.HasHidden}},
		{`<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>`, "shown\n", nil},
		{`<w:p><w:ruby><w:rt><w:r><w:t>ふり</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>振</w:t></w:r></w:rubyBase></w:ruby></w:p>`,
			"振\n", nil},
		{`<w:p>` + r("", "営業 ") + r("<w:strike/>", "と人") + r("<w:dstrike/>", "事~~ ") + r(`<w:strike w:val="0"/>`, "の残業") +
			`</w:p>`, "営業 ~~と人事∼∼ ~~の残業\n", []isolated.FileRemark{isolated.HasStruck}},
		{`<w:p><a:r xmlns:a="` + standard + `drawingml/2006/main"><a:rPr strike="sngStrike"/><a:t>gone</a:t></a:r></w:p>`,
			"~~gone~~\n", []isolated.FileRemark{isolated.HasStruck}},
		{p("--- notes ---") + p("[rows 2 to 9 are empty]") + p("[x] a"),
			"\\--- notes ---\n\\[rows 2 to 9 are empty]\n[x] a\n", nil},
	} {
		got := textOf(paper(t, fmt.Sprintf(w, c.body)), soon())
		expect.Same(t, isolated.FileText{Form: isolated.Document, Text: c.text, Remarks: c.remarks}, got)
	}
	got := textOf(zipped(t, []string{"word/document.xml", fmt.Sprintf(w, p("本文")),
		"word/header1.xml", `<w:hdr xmlns:w="w">` + p("社外秘") + `</w:hdr>`, "word/header2.xml", `<w:hdr xmlns:w="w">` + p("") +
			`</w:hdr>`,
		"word/footnotes.xml", `<w:footnotes xmlns:w="w">` + p("脚注") + `</w:footnotes>`,
		"word/comments.xml", `<w:comments xmlns:w="w"><w:comment w:author="佐藤">` + p("要確認") + `</w:comment></w:comments>`,
		"word/media/image1.png", "x"}), soon())
	expect.Is(t, got.Text, "本文\n\n--- header ---\n社外秘\n\n--- footnotes ---\n脚注\n\n--- comments ---\n佐藤: 要確認\n", "%+v", got)
	expect.Same(t, []isolated.FileRemark{isolated.HasPictures}, got.Remarks)
	got = textOf(zipped(t, []string{"ppt/presentation.xml",
		`<presentation xmlns:r="` + kind + `"><sldId r:id="r1"/></presentation>`,
		"ppt/_rels/presentation.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "slide", "s.xml")), "ppt/s.xml",
		`<w:sld xmlns:w="w" show="0">` + p("題") + `</w:sld>`,
		"ppt/_rels/s.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "comments", "c.xml")),
		"ppt/c.xml", `<cmLst><cm><text>要確認</text></cm></cmLst>`,
	}), soon())
	expect.Same(t, isolated.FileText{Form: isolated.Slides, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "--- slide 1 of 1, hidden ---\n題\n--- comments ---\n要確認\n"}, got)
}

// Hidden rows and columns are read, and said; a formula stands in place of its value.
func TestWhatASheetHidesIsSaid(t *testing.T) {
	got := textOf(book(t, "", `<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1*2</f><v>2</v></c></row>`+
		`<row r="2" hidden="1"><c r="A2" t="inlineStr"><is><t>--- x</t></is></c></row>`+
		`<col min="2" max="3" hidden="true"/><x:f xmlns:x="x">no cell's</x:f>`), soon())
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasFormulas,
		isolated.HasHidden}, Text: "--- sheet 1 of 1: S ---\n1\t=A1*2 [saved: 2]\n\\--- x\n" +
		"[hidden: row 2, columns 2 to 3]\n"}, got)
}

// A file of 10 MiB is read, and one whose parts are too large is refused before anything is unpacked.
func TestALargeWorkbookIsReadAndABombIsNot(t *testing.T) {
	large := bytes.Repeat([]byte{0}, 9<<20)
	for i := range large { // which no archive makes smaller
		large[i] = byte(i*i>>7 ^ i*7919>>3)
	}
	got := textOf(book(t, "", `<row r="1"><c r="A1"><v>1</v></c></row>`, "xl/media/a.png", string(large)), soon())
	expect.That(t, got.Form == isolated.Sheets && strings.HasSuffix(got.Text, "\n1\n"), "%+v", got)
	for about, more := range map[string][]string{
		"styles": {"xl/styles.xml", strings.Repeat(" ", maxStyles+1)}, "another part": {"xl/theme/theme1.xml",
			strings.Repeat(" ", maxPart+1)},
		"texts": nil, "all": {"xl/media/a.png", strings.Repeat(" ", maxUnpacked)},
	} {
		shared := map[string]string{"texts": strings.Repeat("<si/>", maxTexts+1)}[about]
		expect.Is(t, textOf(book(t, shared, "", more...), soon()).Why, isolated.TooComplex, about)
	}
}

func TestAFileOnWhichAReaderPanicsIsBroken(t *testing.T) {
	got := unlessPanics(func() isolated.FileText { return isolated.FileText{Text: strings.Repeat("a", -len(t.Name()))} })
	expect.Same(t, isolated.FileText{Why: isolated.Broken}, got)
}

// Word ends a cell with a paragraph, and a cell may hold tables beside its text, those further ones.
func TestTablesWithinCellsAreRead(t *testing.T) {
	p := func(text string) string { return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>` }
	table := func(cells ...string) string {
		return `<w:tbl><w:tr><w:tc>` + strings.Join(cells, `</w:tc><w:tc>`) + `</w:tc></w:tr></w:tbl>`
	}
	for want, body := range map[string]string{
		"見積 品名 100円\tそば\n":    table(p("見積")+table(p("品名"), p("100円"))+"<w:p/>", p("そば")),
		"a b c d e\n":         table(p("a") + table(p("b")+table(p("c")+table(p("d")+"<w:p/>"))) + p("e")),
		"a b c\n":             table(p("a") + table(p("b")) + table(p("c")) + "<w:p/>"),
		"before\nin\nafter\n": p("before") + table(p("in")) + p("after"),
	} {
		got := textOf(paper(t, `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`), soon())
		expect.Is(t, got.Text, want, "%+v", got)
	}
}

// Nothing that a file holds makes the function use more than it has, or reach anything.
func TestWhatAttacksIsRefused(t *testing.T) {
	deep := strings.Repeat("<w:p>", 100_000)
	for name, tt := range map[string]struct {
		file []byte
		want isolated.Unreadable
	}{
		"a bomb": {book(t, "<si><t>"+strings.Repeat("a", 100<<20)+"</t></si>", ""), isolated.TooComplex},
		"a bomb of many texts": {book(t, strings.Repeat("<si><t>"+strings.Repeat("a", 1<<10)+"</t></si>", 70<<10), ""),
			isolated.TooComplex},
		"elements in another": {paper(t, `<w:document xmlns:w="w">`+deep), isolated.TooComplex},
		"entities": {paper(t,
			`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document xmlns:w="w"><w:t>&b;</w:t></w:document>`),
			isolated.Broken},
		"a file of this machine": {paper(t,
			`<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><document><p><t>&a;</t></p></document>`),
			isolated.Broken},
		"an unknown entity":    {paper(t, `<document><p><t>&a;</t></p></document>`), isolated.Broken},
		"no element":           {paper(t, head), isolated.Broken},
		"an empty part":        {paper(t, ""), isolated.Broken},
		"text that is cut off": {paper(t, `<document><p><t>a`), isolated.Broken},
		"a part twice": {zipped(t, []string{"_rels/.rels", "", "word/document.xml", "<document/>", "WORD/document.xml",
			"<document/>"}),
			isolated.Broken},
		"many parts": {zipped(t, func() (all []string) {
			for i := range maxParts + 1 {
				all = append(all, fmt.Sprint(i), "")
			}
			return all
		}()), isolated.TooComplex},
		"a part outside": {zipped(t, []string{"_rels/.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "../../etc/passwd"))}),
			isolated.OtherType},
	} {
		expect.Is(t, textOf(tt.file, soon()).Why, tt.want, name)
	}
}

func TestASheetIsNoLongerThanItsText(t *testing.T) {
	got := textOf(book(t, "", `<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>`+
		`<row r="1048570"><c r="A1"><v>3</v></c></row>`), soon())
	expect.Is(t, strings.Replace(got.Text, strings.Repeat("\t", 16383), "…", 1),
		"--- sheet 1 of 1: S ---\n1…2\n[rows 2 to 1048569 are empty]\n3\n")
	got = textOf(book(t, "", strings.Repeat(`<row><c><v>1</v></c><c r="XFD1"><v>2</v></c></row>`, 100)), soon())
	expect.Must(t, len(got.Remarks) == 1, "%s %v", got.Why, got.Remarks)
	expect.That(t, len(got.Text) <= isolated.MaxText && got.Remarks[0] == isolated.FileCut, "%d bytes, %v", len(got.Text),
		got.Remarks)
}

func TestReadingEndsInTime(t *testing.T) {
	got := textOf(book(t, strings.Repeat("<si><t>x</t></si>", 1000), ""), time.Now().Add(-time.Second))
	expect.Is(t, got.Why, isolated.TooComplex, "why")
}

// FuzzRead asks that nothing which can be attached ends the function or exceeds its limits.
func FuzzRead(f *testing.F) {
	for _, e := range expect.Value(os.ReadDir("testdata"))(f) {
		if !e.IsDir() {
			f.Add(made(f, e.Name()))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) { whole(t, textOf(file, soon())) })
}

// whole fails the test for an answer that is none.
func whole(t *testing.T, got isolated.FileText) {
	t.Helper()
	if (got.Form == "") == (got.Why == "") || len(got.Text) > isolated.MaxText || !utf8.ValidString(got.Text) ||
		got.Form != isolated.PlainText && strings.ContainsFunc(got.Text,
			func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
		t.Errorf("%.500q", fmt.Sprintf("%+v", got))
	}
}

// FuzzParts does so for the parts within an archive: a main part, and one that stands in all relations to it.
func FuzzParts(f *testing.F) {
	for _, name := range []string{"sales.xlsx", "unsaved-values.xlsx", "minutes.docx", "deck.pptx"} {
		file := made(f, name)
		z := expect.Value(zip.NewReader(bytes.NewReader(file), int64(len(file))))(f)
		for _, part := range z.File {
			if strings.HasSuffix(part.Name, ".xml") && part.UncompressedSize64 < 20<<10 {
				text := expect.Value(io.ReadAll(expect.Value(part.Open())(f)))(f)
				f.Add(`<document><p><r><t>a</t></r></p></document>`, string(text))
				f.Add(`<workbook xmlns:r="`+kind+`"><sheet name="S" r:id="r0"/></workbook>`, string(text))
				f.Add(`<presentation xmlns:r="`+kind+`"><sldId r:id="r0"/></presentation>`, string(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, main, part string) {
		var relations strings.Builder
		for i, of := range []string{"worksheet", "sharedStrings", "styles", "comments", "drawing", "header", "footnotes",
			"notesSlide"} {
			fmt.Fprintf(&relations, ref, fmt.Sprintf("r%d", i), of, "part.xml")
		}
		all := fmt.Sprintf(refs, relations.String())
		whole(t, textOf(zipped(t, []string{"_rels/.rels", fmt.Sprintf(refs,
			fmt.Sprintf(ref, "r1", "officeDocument", "main.xml")),
			"main.xml", main, "_rels/main.xml.rels", all, "part.xml", part, "_rels/part.xml.rels", all}), soon()))
	})
}
