package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/filetext"
)

// word reads a document with this body and these parts beside it, each a kind of relation and a part.
func word(t *testing.T, body string, beside ...string) filetext.Text {
	t.Helper()
	var related strings.Builder
	parts := []string{"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "d/main.xml")),
		"d/main.xml", `<document xmlns:r="` + kind + `"><body>` + body + `</body></document>`}
	for i := 0; i+1 < len(beside); i += 2 {
		name := fmt.Sprintf("part%d.xml", i/2)
		fmt.Fprintf(&related, ref, fmt.Sprintf("r%d", i/2), beside[i], name)
		parts = append(parts, "d/"+name, beside[i+1])
	}
	return read(zipped(t, append(parts, "d/_rels/main.xml.rels", fmt.Sprintf(refs, related.String()))), "a.docx", soon())
}

func run(text string) string { return `<r><t>` + text + `</t></r>` }

// fieldOf is a field of a document. Without a result it has only a code.
func fieldOf(code string, result ...string) string {
	char := func(kind string) string { return `<r><fldChar fldCharType="` + kind + `"/></r>` }
	s := char("begin") + `<r><instrText>` + code + `</instrText></r>`
	for _, r := range result {
		s += char("separate") + run(r)
	}
	return s + char("end")
}

// Circled characters and the readings of older documents are equations, which stand in their code alone.
func TestAFieldWithoutAResultIsReadOrSaid(t *testing.T) {
	formulas, numbers := []filetext.Remark{filetext.Formulas}, []filetext.Remark{filetext.Numbers}
	for code, want := range map[string]filetext.Text{
		` eq \o\ac(○,有) `: {Text: "○有"},
		`EQ \* jc2 \* "Font:ＭＳ 明朝" \* hps10 \o\ad(\s\up 9(さとう),佐藤)`: {Text: "佐藤"},
		` eq \o(\s\up 7(株式),\s\do 3(会社)) `:                          {Text: "株式会社"},
		`eq V\d\ba8()\s\up9(re)\d\ba1()isionary`:                    {Text: "V^(re)isionary"},
		`EQ \f(a+1,2)`:                                              {Text: "(a+1)/(2)"},
		`EQ \r(3,x)\b\bc\[(a\,b)`:                                   {Text: "[3]√(x)[a,b]"},
		`EQ \r(,x) \i(0,1,f(x)) \x(a)`:                              {Text: "√(x) ∫0, 1, f(x) a"},
		`eq \o(`:                                                    {Text: ""},
		` MERGEFIELD 氏名 `:                                           {Text: "{MERGEFIELD 氏名}", Remarks: formulas},
		` PAGE `:                                                    {Text: "(page)"},
		` XE "索引" `:                                                 {},
		` LISTNUM `:                                                 {Remarks: numbers},
		"eq " + strings.Repeat(`\o(`, 200):                          {Text: ""},
	} {
		want.Form, want.Text = filetext.Document, "前"+want.Text+"後\n"
		expect.Same(t, want, word(t, `<p>`+run("前")+fieldOf(code)+run("後")+`</p>`))
	}
	got := word(t, `<p>`+run("前")+`<fldSimple instr=" EQ \o\ac(○,無) "/></p><p>`+strings.TrimSuffix(fieldOf("PAGE"),
		`<r><fldChar fldCharType="end"/></r>`)+run("後")+`</p>`)
	expect.Is(t, got.Text, "前○無\n\n{PAGE後}\n", "%+v", got)
}

// Nothing in a field's code is text: no result of another field in it, and no branch that is not taken.
func TestAFieldsCodeIsNoText(t *testing.T) {
	code := ` IF </instrText></r>` + fieldOf(" MERGEFIELD 社外 ", "全員へDM") +
		`<r><instrText> = "x" "</instrText></r>` +
		run("送る") + `<r><instrText>" "送らない" `
	got := word(t, `<p>`+fieldOf(code, "送らない")+fieldOf(" HYPERLINK ", "規程"+fieldOf(" PAGEREF ", "3"))+`</p>`)
	expect.Same(t, filetext.Text{Form: filetext.Document, Text: "送らない規程3\n"}, got)
}

// People circle a word by a shape, and cross out a line by another. What has no text is said, as pictures are.
func TestAShapeWithoutATextIsSaid(t *testing.T) {
	const text = `<txBody><p><r><t>案</t></r></p></txBody>`
	shape := func(name string) string {
		return `<` + name + `><spPr><prstGeom prst="ellipse"/></spPr></` + name + `>`
	}
	said := func(what string, got filetext.Text, want bool) {
		t.Helper()
		expect.Is(t, slices.Contains(got.Remarks, filetext.Pictures), want, "%s: %+v", what, got)
	}
	for drawing, want := range map[string]bool{shape("sp"): true, shape("cxnSp"): true, `<contentPart id="r1"/>`: true,
		`<grpSp><sp>` + text + `</sp>` + shape("sp") + `</grpSp>`: true, `<sp>` + text + `</sp>`: false,
		`<sp><txBody><p/></txBody></sp>`: true, `<sp><nvSpPr><nvPr><ph type="title"/></nvPr></nvSpPr></sp>`: false} {
		drawn := `<wsDr><twoCellAnchor>` + drawing + `</twoCellAnchor></wsDr>`
		said(drawing, read(book(t, "", `<row><c><v>1</v></c></row>`, "xl/worksheets/_rels/sheet1.xml.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "drawing", "../d.xml")), "xl/d.xml", drawn), "a.xlsx", soon()), want)
		said(drawing, slide(t, `<sld>`+drawing+`</sld>`), want)
	}
	for drawing, want := range map[string]bool{`<drawing>` + shape("wsp") + `</drawing>`: true,
		`<pict><oval style="width:28pt"/></pict>`: true, `<pict><rect hr="t"/></pict>`: false,
		`<pict><shapetype id="a"/><shape><textbox><txbxContent>` +
			`<p><r><t>a</t></r></p></txbxContent></textbox></shape></pict>`: false,
		`<drawing><wsp><spPr><custGeom><rect l="0"/></custGeom></spPr><txbx><txbxContent>` +
			`<p><r><t>a</t></r></p></txbxContent></txbx></wsp></drawing>`: false} {
		said(drawing, word(t, `<p>`+run("承認 ・ 否認")+`<r>`+drawing+`</r></p>`), want)
	}
}

// slide reads a presentation of one slide, and of further parts.
func slide(t *testing.T, slide string, more ...string) filetext.Text {
	t.Helper()
	return read(zipped(t, append([]string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "p/main.xml")),
		"p/main.xml", `<presentation xmlns:r="` + kind + `"><sldId r:id="r2"/></presentation>`,
		"p/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "slide", "s1.xml")), "p/s1.xml", slide}, more...)),
		"a.pptx", soon())
}

// item is a paragraph of a list, with further properties.
func item(level int, text, props string) string {
	return fmt.Sprintf(`<p><pPr><numPr><ilvl val="%d"/><numId val="1"/></numPr>%s</pPr>%s</p>`, level, props, text)
}

func TestALevelGoesOnAsItsListSays(t *testing.T) {
	list := func(restart string) string {
		s := `<numbering><abstractNum abstractNumId="0">`
		for i, name := range []string{"章", "節", "条"} {
			s += fmt.Sprintf(`<lvl ilvl="%d"><start val="1"/><numFmt val="decimal"/><lvlText val="第%%%d%s"/>`, i, i+1, name)
			if i == 2 {
				s += restart
			}
			s += `</lvl>`
		}
		return s + `</abstractNum><num numId="1"><abstractNumId val="0"/></num></numbering>`
	}
	body := ""
	for _, level := range []int{0, 1, 2, 1, 2, 0, 1, 2} {
		body += item(level, "", "")
	}
	for restart, want := range map[string]string{"": "1 1 1",
		`<lvlRestart val="0"/>`: "1 2 3", `<lvlRestart val="1"/>`: "1 2 1",
		`<lvlRestart val="2"/>`: "1 1 1"} {
		got := strings.Fields(word(t, body, "numbering", list(restart)).Text)
		for i, n := range strings.Fields(want) {
			expect.Is(t, got[[]int{2, 4, 7}[i]], "第"+n+"条", "%s: %v", restart, got)
		}
	}
}

// Changes are read as if accepted: an item that was deleted has no number, one whose end was deleted is one with the
// next, and what properties were before is nothing.
func TestWhatIsDeletedIsNotCounted(t *testing.T) {
	const list = `<numbering><abstractNum abstractNumId="0"><lvl ilvl="0"><start val="1"/><numFmt val="decimal"/>` +
		`<lvlText val="%1."/></lvl></abstractNum><num numId="1"><abstractNumId val="0"/></num></numbering>`
	const gone = `<rPr><del id="1"/></rPr>`
	const was = `<p><pPr><pPrChange><pPr><numPr><ilvl val="0"/><numId val="1"/></numPr></pPr></pPrChange></pPr>`
	got := word(t, item(0, run("営業"), "")+item(0, `<del><r><delText>人事</delText></r></del>`, gone)+
		item(0, run("総務"), gone)+item(0, run("部"), "")+was+run("以上")+`</p>`+
		`<tbl><tr><trPr><del id="2"/></trPr><tc><p>`+run("鈴木")+`</p></tc></tr>`+
		`<tr><tc><p>`+run("田中")+`</p></tc></tr></tbl>`,
		"numbering", list)
	expect.Same(t, filetext.Text{Form: filetext.Document, Text: "1. 営業\n2. 総務部\n以上\n田中\n",
		Remarks: []filetext.Remark{filetext.Changes}}, got)
}
