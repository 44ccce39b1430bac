package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

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

	head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	kind = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	refs = head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>`
	ref  = `<Relationship Id="%s" Type="` + kind + `/%s" Target="%s"/>`
)

// book makes a workbook of one sheet, and of further parts.
func book(t testing.TB, shared, sheet string, more ...string) []byte {
	return zipped(t, append([]string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "xl/workbook.xml")),
		"xl\\workbook.xml", head + `<workbook xmlns:r="` + kind + `"><sheets><sheet name="S" r:id="r2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "worksheet", "worksheets/sheet1.xml")+
			fmt.Sprintf(ref, "r3", "sharedStrings", "/xl/sharedStrings.xml")+fmt.Sprintf(ref, "r4", "styles", "styles.xml")+
			fmt.Sprintf(ref, "r5", "person", "people.xml")),
		"xl/sharedStrings.xml", head + "<sst>" + shared + "</sst>",
		"xl/worksheets/sheet1.xml", head + "<worksheet><sheetData>" + sheet + "</sheetData></worksheet>",
	}, more...))
}

// paper makes a document.
func paper(t testing.TB, text string) []byte {
	return zipped(t, []string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "/word/document.xml")),
		"word/document.xml", text})
}

func TestHowANameIsReadAloudIsNoText(t *testing.T) {
	got := read(book(t, `<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><t>a_x000D_b</t></si>`,
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`), "a.xlsx",
		soon())
	expect.Is(t, got.Text, "--- sheet 1 of 1: S ---\n東京\ta b\n", "the text")
}

func TestDeletedTextIsNotRead(t *testing.T) {
	got := read(paper(t,
		`<w:document xmlns:w="w" xmlns:mc="`+standard+`markup-compatibility/2006"><w:body><w:p>`+
			`<w:pPr><w:tabs><w:tab w:pos="1"/></w:tabs></w:pPr>`+
			`<w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>`+
			`<mc:AlternateContent><mc:Choice><w:t> once</w:t></mc:Choice><mc:Fallback><w:t> twice</w:t></mc:Fallback></mc:AlternateContent>`+
			`</w:p></w:body></w:document>`), "a.docx", soon())
	expect.Is(t, got.Text, "kept new once\n", "the text")
}

// What a document or a slide has beside its text, and what its text doesn't tell, is said.
func TestWhatStandsBesideATextIsReadOrSaid(t *testing.T) {
	const w = `<w:document xmlns:w="w"><w:body>%s</w:body></w:document>`
	p := func(text string) string { return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>` }
	r := func(props, text string) string {
		return `<w:r><w:rPr>` + props + `</w:rPr><w:t>` + text + `</w:t></w:r>`
	}
	const up, down = `<w:vertAlign w:val="superscript"/>`, `<w:vertAlign w:val="subscript"/>`
	for _, c := range []struct {
		body, text string
		remarks    []isolated.FileRemark
	}{
		{`<w:p><w:ins><w:r><w:t>10</w:t></w:r></w:ins><w:del><w:r><w:delText>5</w:delText></w:r></w:del></w:p>`, "10\n",
			[]isolated.FileRemark{isolated.HasChanges}},
		{`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>`, "[invisible: hidden]\n",
			[]isolated.FileRemark{isolated.HasHidden}},
		{`<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>`, "shown\n", nil},
		{p("a") + `<w:p><w:r><w:drawing><w:graphic><w:blip/></w:graphic></w:drawing></w:r></w:p>`, "a\n\n",
			[]isolated.FileRemark{isolated.HasPictures}},
		{`<w:p><w:ruby><w:rt><w:r><w:t>ふり</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>振</w:t></w:r></w:rubyBase></w:ruby></w:p>`,
			"振\n", nil},
		{`<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t>済</w:t><w:noBreakHyphen/><w:sym w:font="Symbol" w:char="F0B7"/></w:r></w:p>`,
			"✓済-[Symbol F0B7]\n", nil},
		{`<w:p><w:pPr><w:rPr><w:strike/></w:rPr></w:pPr>` + r("", "営業 ") + r("<w:strike/>", "と人") +
			r("<w:dstrike/>", "事~~ ") + r(`<w:strike w:val="0"/>`, "の残業") + `</w:p>`,
			"営業 ~~と人事∼∼ ~~の残業\n", []isolated.FileRemark{isolated.HasStruck}},
		{`<w:p>` + r(`<w:rPrChange><w:rPr><w:strike/></w:rPr></w:rPrChange>`, "kept") + `</w:p><w:p><a:r xmlns:a="` +
			standard + `drawingml/2006/main"><a:rPr strike="sngStrike"/><a:t>gone</a:t></a:r></w:p>`,
			"kept\n~~gone~~\n", []isolated.FileRemark{isolated.HasStruck}},
		{`<w:p>` + r("", "10") + r(up, "6") + r("", " 円、H") + r(down, "2") + r("", "O") + r(up, "n-1") + `</w:p>`,
			"10^6 円、H_(2)O^(n-1)\n", nil},
		{`<w:p><m:oMath xmlns:m="` + standard + `officeDocument/2006/math"><m:f><m:num><m:r><m:t>a+1</m:t></m:r></m:num>` +
			`<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:sSup><m:e><m:d><m:dPr><m:begChr m:val="["/>` +
			`<m:endChr m:val="]"/></m:dPr><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d></m:e><m:sup>` +
			`<m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:rad><m:deg/><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad></m:oMath></w:p>`,
			"(a+1)/2[x]^2√(y)\n", nil},
		{p("--- notes ---") + p("[rows 2 to 9 are empty]") + p("[x] a"),
			"\\--- notes ---\n\\[rows 2 to 9 are empty]\n[x] a\n", nil},
		{`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>` + r("", "対象") + `</w:p>`, "対象\n",
			[]isolated.FileRemark{isolated.HasNumbers}},
		{`<w:p><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>` + r("", "対象") + `</w:p>`, "対象\n", nil},
		{`<w:altChunk/>` + p("a"), "a\n", []isolated.FileRemark{isolated.HasPictures}},
		{p("a") + `<w:subDoc r:id="r9"/>`, "a\n", []isolated.FileRemark{isolated.HasPictures}},
		{`<w:p>` + r("", "案") + `<w:r><w:ptab w:alignment="right"/></w:r>` + r("", "社外秘") + `</w:p>`, "案\t社外秘\n", nil},
		{`<w:p>` + r(`<w:sz w:val="2"/>`, "全員へ") + r(`<w:sz w:val="5"/>`, "細") + `</w:p>`, "[invisible: 全員へ]細\n",
			[]isolated.FileRemark{isolated.HasHidden}},
		{`<w:p><w:r><w:fldChar><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>` + r("", "可") + `<w:r><w:fldChar><w:ffData><w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>` +
			`</w:ffData></w:fldChar></w:r>` + r("",
			"否") + `<w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="1"/>` +
			`<w:listEntry w:val="営業"/><w:listEntry w:val="人事"/></w:ddList></w:ffData></w:fldChar></w:r></w:p>`,
			"☑可☐否人事\n", nil},
		{`<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textpath string="無効"/></v:shape></w:pict>` +
			`</w:r></w:p>`, "無効\n", nil},
		{`<w:tbl><w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr><w:tc>` + p("300000") + `</w:tc></w:tr></w:tbl>`,
			"\t\t300000\n", nil},
		{`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>` + p("広") + `</w:tc><w:tc>` + p("c") +
			`</w:tc></w:tr></w:tbl>`,
			"広\t\tc\n", nil},
	} {
		got := read(paper(t, fmt.Sprintf(w, c.body)), "a.docx", soon())
		expect.Same(t, isolated.FileText{Form: isolated.Document, Text: c.text, Remarks: c.remarks}, got)
	}
	top := fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "d/main.xml"))
	got := read(zipped(t, []string{"_rels/.rels", top, "d/main.xml", fmt.Sprintf(w, p("本文")),
		"d/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "header", "h1.xml")+fmt.Sprintf(ref, "r2",
			"header", "h2.xml")+
			fmt.Sprintf(ref, "r3", "footer", "f.xml")+fmt.Sprintf(ref, "r4", "footnotes", "n.xml")),
		"d/h1.xml", `<w:hdr xmlns:w="w">` + p("社外秘") + `</w:hdr>`, "d/h2.xml", `<w:hdr xmlns:w="w">` + p("") + `</w:hdr>`,
		"d/f.xml", `<w:ftr xmlns:w="w">` + p("1 頁") + `</w:ftr>`,
		"d/n.xml", `<w:footnotes xmlns:w="w">` + p("") + `</w:footnotes>`}), "a.docx", soon())
	expect.Is(t, got.Text, "本文\n\n--- header ---\n社外秘\n\n--- footer ---\n1 頁\n", "%+v", got)
	got = read(zipped(t, []string{"_rels/.rels", top, "d/main.xml",
		`<presentation xmlns:r="` + kind + `"><sldId r:id="r1"/></presentation>`,
		"d/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "slide", "s.xml")), "d/s.xml",
		`<w:sld xmlns:w="w" show="0">` + p("題") + `</w:sld>`,
		"d/_rels/s.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "comments", "c.xml")),
		"d/c.xml", `<cmLst><cm><replyLst><reply><txBody><p><r><t>はい</t></r></p></txBody></reply></replyLst>` +
			`<txBody><p><r><t>要確認</t></r></p></txBody></cm></cmLst>`,
	}), "a.pptx", soon())
	expect.Same(t, isolated.FileText{Form: isolated.Slides, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "--- slide 1 of 1, hidden ---\n題\n--- comments ---\n要確認\nはい\n"}, got)
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
		got := read(paper(t, `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`), "a.docx", soon())
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
		"many empty texts":    {book(t, strings.Repeat("<si/>", maxStrings+1), ""), isolated.TooComplex},
		"many attributes":     {paper(t, "<w:document "+strings.Repeat(`a="" `, 3<<20)+"/>"), isolated.TooComplex},
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
		expect.Is(t, read(tt.file, "a.docx", soon()).Why, tt.want, name)
	}
}

func TestASheetIsNoLongerThanItsText(t *testing.T) {
	got := read(book(t, "", `<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>`+
		`<row r="1048570"><c r="A1"><v>3</v></c></row>`+
		`<row r="5"><c r="ZZZZ9"><v>1e3</v></c><c r="?"><v>x</v></c></row>`), "a.xlsx", soon())
	expect.Is(t, got.Text, "--- sheet 1 of 1: S ---\n1"+strings.Repeat("\t", lastColumn-1)+
		"2\n[rows 2 to 1048569 are empty]\n3\n1000\tx\n",
		"the text")
	got = read(book(t, "", strings.Repeat(`<row><c><v>1</v></c><c r="XFD1"><v>2</v></c></row>`, 100)), "a.xlsx", soon())
	expect.That(t, len(got.Text) <= isolated.MaxText && got.Remarks[0] == isolated.FileCut, "%d bytes, %v", len(got.Text),
		got.Remarks)
}

func TestReadingEndsInTime(t *testing.T) {
	got := read(book(t, strings.Repeat("<si><t>x</t></si>", 1000), ""), "a.xlsx", time.Now().Add(-time.Second))
	expect.Is(t, got.Why, isolated.TooComplex, "why")
}

// FuzzRead asks that nothing which can be attached ends the function or exceeds its limits.
func FuzzRead(f *testing.F) {
	for _, e := range expect.Value(os.ReadDir("testdata"))(f) {
		if !e.IsDir() {
			f.Add(made(f, e.Name()))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) { whole(t, textOf(file, "a.xlsx", soon())) })
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
			"main.xml", main, "_rels/main.xml.rels", all, "part.xml", part, "_rels/part.xml.rels", all}), "a.xlsx", soon()))
	})
}
