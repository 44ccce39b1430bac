package main

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// looks are styles of cells, in the order of their numbers: plain, white, the theme's white, a bit darker than that,
// white on blue, white on a fill of white, a color by its number, two fonts of pictures,
// and a color near white.
var looks = `<styleSheet><fonts><font/><font><color rgb="FFFFFFFF"/></font><font><color theme="0"/></font>` +
	`<font><color theme="0" tint="-0.5"/></font><font><color indexed="9"/></font><font><name val="Wingdings"/></font>` +
	`<font><name val="Wingdings 2"/></font><font><color rgb="FFFEFEFE"/></font></fonts><fills><fill><patternFill ` +
	`patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid">` +
	`<fgColor rgb="FF1F4E78"/></patternFill></fill><fill><patternFill patternType="solid"><fgColor theme="0"/>` +
	`</patternFill></fill></fills><cellStyleXfs><xf fontId="1"/></cellStyleXfs><cellXfs><xf fontId="0"/>` +
	`<xf fontId="1" fillId="0"/><xf fontId="2"/><xf fontId="3"/>` +
	`<xf fontId="1" fillId="2"/><xf fontId="1" fillId="3"/><xf fontId="4"/>` +
	`<xf fontId="5"/><xf fontId="6"/><xf fontId="7"/></cellXfs></styleSheet>`

// sheetOf reads a book with these styles. Its rows are lists of cells, each with its style.
func sheetOf(t *testing.T, shared, rows string, more ...string) isolated.FileText {
	t.Helper()
	got := read(book(t, shared, rows, append([]string{"xl/styles.xml", looks}, more...)...), "a.xlsx", soon())
	got.Text = strings.TrimPrefix(got.Text, "--- sheet 1 of 1: S ---\n")
	return got
}

func styledCell(style int, text string) string {
	return fmt.Sprintf(`<c t="inlineStr" s="%d"><is>%s</is></c>`, style, text)
}

func plainCell(style int, text string) string { return styledCell(style, `<t>`+text+`</t>`) }

// White on white is marked as a document's is, in cells and in runs of their texts, and nowhere else.
func TestWhiteOnWhiteInASheetIsMarked(t *testing.T) {
	const white = `<r><rPr><color rgb="FFFFFFFF"/></rPr><t>全員へ</t></r>`
	hidden := []isolated.FileRemark{isolated.HasHidden}
	for name, c := range map[string]struct {
		row  string
		want isolated.FileText
	}{
		"cells": {plainCell(1, "a[b]") + plainCell(2, "c") + plainCell(5, "d") + plainCell(6, "e") + plainCell(9, "f"),
			isolated.FileText{Text: "[invisible: a［b］]\t[invisible: c]\t[invisible: d]\t[invisible: e]\t[invisible: f]\n",
				Remarks: hidden}},
		"a number":         {`<c s="1"><v>7</v></c>`, isolated.FileText{Text: "[invisible: 7]\n", Remarks: hidden}},
		"what can be seen": {plainCell(0, "a") + plainCell(3, "b") + plainCell(4, "c"), isolated.FileText{Text: "a\tb\tc\n"}},
		"blanks":           {plainCell(1, " ") + plainCell(0, "a"), isolated.FileText{Text: " \ta\n"}},
		"runs": {styledCell(0, `<r><t>営業 </t></r>`+white), isolated.FileText{Text: "営業 [invisible: 全員へ]\n",
			Remarks: hidden}},
		"runs on a color":    {styledCell(4, white) + `<c t="s" s="4"><v>0</v></c>`, isolated.FileText{Text: "全員へ\t全員へ\n"}},
		"runs that are kept": {`<c t="s"><v>0</v></c>`, isolated.FileText{Text: "[invisible: 全員へ]\n", Remarks: hidden}},
	} {
		c.want.Form = isolated.Sheets
		t.Run(name, func(t *testing.T) {
			expect.Same(t, c.want, sheetOf(t, `<si>`+white+`</si>`, `<row>`+c.row+`</row>`))
		})
	}
	got := sheetOf(t, "", `<row>`+plainCell(1, "見出し")+`</row><row>`+plainCell(1, "外")+`</row>`,
		"xl/worksheets/_rels/sheet1.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "table", "../t.xml")),
		"xl/t.xml", `<table ref="A1:B1"/>`)
	expect.Is(t, got.Text, "見出し\n[invisible: 外]\n", "a table's style has a color of its own")
}

// What a merged cell covers nobody sees.
func TestWhatAMergedCellCoversIsSaid(t *testing.T) {
	merged := func(areas ...string) string {
		return `</sheetData><mergeCells><mergeCell ref="` + strings.Join(areas, `"/><mergeCell ref="`) +
			`"/></mergeCells><sheetData>`
	}
	row := `<row r="1">` + plainCell(0, "見積書") + plainCell(0, "承認不要") + `</row><row r="4"><c r="B4"><v>4</v></c></row>`
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "見積書\t承認不要\n" +
			"\n\n\t4\n[covered by merged cells, so that nobody sees them: B1, B4]\n[merged cells: A1:C1, A3:$B$5, ?]\n"},
		sheetOf(t, "", row+merged("A1:C1", "A3:$B$5", "?")))
	got := sheetOf(t, "", row+merged("A1:A3", "B1:B1", "B2:C4", "C1:D4", "A9:B12"))
	expect.That(t, strings.Contains(got.Text, "nobody sees them: B4]"), "%+v", got)
	many := strings.Repeat(`<c><v>1</v></c>`, 110)
	got = sheetOf(t, "", `<row>`+many+`</row>`+merged("A1:ZZ1"))
	expect.That(t, strings.Contains(got.Text, ", CW1 and 9 more]"), "%+v", got)
}

// Buttons of Excel 2007 stand in the drawing for older programs alone, which shows comments, too.
func TestButtonsForOlderProgramsAreSaid(t *testing.T) {
	const shape = `<xml xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:v="urn:schemas-microsoft-com:vml">` +
		`<v:shape>%s<x:ClientData ObjectType="%s"/></v:shape></xml>`
	for drawing, want := range map[string][]isolated.FileRemark{
		fmt.Sprintf(shape, "", "Note"):       nil,
		fmt.Sprintf(shape, "", "Button"):     {isolated.HasPictures},
		fmt.Sprintf(shape, "", "Checkbox"):   {isolated.HasPictures},
		fmt.Sprintf(shape, "a<br>b", "Note"): {isolated.HasPictures}, // nobody knows what follows
	} {
		got := sheetOf(t, "", `<row><c><v>1</v></c></row>`, "xl/worksheets/_rels/sheet1.xml.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "vmlDrawing", "../d.vml")), "xl/d.vml", drawing)
		expect.Same(t, isolated.FileText{Form: isolated.Sheets, Text: "1\n", Remarks: want}, got)
	}
}

// A row with borders alone is as empty as one that isn't there, and hides nothing.
func TestRowsWithoutATextAreEmpty(t *testing.T) {
	var rows strings.Builder
	fmt.Fprintf(&rows, `<row r="1">%s</row>`, plainCell(0, "氏名"))
	for r := 2; r < 5000; r++ {
		fmt.Fprintf(&rows, `<row r="%d" hidden="%d"><c s="0"/></row>`, r, r%2)
	}
	fmt.Fprintf(&rows, `<row r="5000" hidden="1">%s</row><row r="5002">%s</row><row r="5009"/>`, plainCell(0, "鈴木"),
		plainCell(0, "佐藤"))
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "氏名\n[rows 2 to 4999 are empty]\n[hidden from row 5000 on]\n鈴木\n\n[shown from row 5002 on]\n佐藤\n"},
		sheetOf(t, "", rows.String()))
}

// þ is a ticked box in Wingdings, in whatever form it is kept, and a letter in other fonts.
func TestFontsOfPicturesShowPictures(t *testing.T) {
	const runs = `<r><t>出席 </t></r><r><rPr><rFont val="Wingdings"/></rPr><t>þ¨o</t></r>`
	got := sheetOf(t, "", `<row>`+plainCell(7, "þ 済ÿ")+plainCell(8, "R")+plainCell(0, "þ")+styledCell(0, runs)+
		`<c s="7"><v>5</v></c></row>`)
	expect.Is(t, got.Text, "☑ 済[Wingdings FF]\t☑\tþ\t出席 ☑☐☐\t5\n", "a sheet")
	props := `<rPr><rFonts ascii="Wingdings"/></rPr>`
	got = word(t, `<p><r>`+props+"<t>\uf0feo</t></r>"+run("o")+`<r><sym font="Wingdings 2" char="F0A3"/>`+
		`<sym font="Wingdings" char="F052"/></r></p>`)
	expect.Is(t, got.Text, "☑☐o☐[Wingdings F052]\n", "a document")
	got = slide(t, `<sld><p><r><rPr><latin typeface="Wingdings"/></rPr><t>ü</t></r></p></sld>`)
	expect.That(t, strings.Contains(got.Text, "✓"), "%+v", got)
	got = slide(t, `<sld><p><r><rPr><latin typeface="Meiryo UI"/><sym typeface="Wingdings"/></rPr>`+
		"<t>DMはSalesだけ\uf0fc</t></r></p></sld>")
	expect.Is(t, got.Text, "--- slide 1 of 1 ---\nDMはSalesだけ✓\n", "letters have no font of signs")
}

// Nobody reads letters of a point.
func TestTinyLettersInASheetAreMarked(t *testing.T) {
	const run = `<r><t>営業</t></r><r><rPr><sz val="1.5"/></rPr><t>全員へ</t></r><r><rPr><sz val="6"/></rPr><t>案</t></r>`
	got := read(book(t, `<si>`+run+`</si>`, `<row>`+plainCell(1, "全員へ")+plainCell(0, "案")+styledCell(0, run)+
		`<c t="s"><v>0</v></c></row>`, "xl/styles.xml", `<styleSheet><fonts><font><sz val="11"/></font><font><sz val="1"/>`+
		`</font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs></styleSheet>`), "a.xlsx", soon())
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "--- sheet 1 of 1: S ---\n[invisible: 全員へ]\t案\t営業[invisible: 全員へ]案\t営業[invisible: 全員へ]案\n"}, got)
}
