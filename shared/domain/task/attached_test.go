package task

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// A file is what its content says, whatever its name.
func TestAFileIsWhatItsContentSays(t *testing.T) {
	office := func(name string) string { return "PK\x03\x04..[Content_Types].xml.." + name }
	for content, want := range map[string]FileKind{
		"%PDF-1.7\n...": KindPDF, "\x89PNG\r\n\x1a\n...": KindPNG, "\xff\xd8\xff\xe0..": KindJPEG,
		"名前,金額\n田中,298000\n": KindText, "\x8c\xa9\x90\xcf\x8f\x91,\x8b\xe0\x8az\r\n\x93\x63\x92\x86,1\r\n": KindText,
		office("xl/workbook.xml"): KindXLSX, office("word/document.xml"): KindDOCX,
		office("word/document.xml..word/vbaProject.bin"): "", office("ppt/presentation.xml"): "",
		"PK\x03\x04readme.txt": "", "MZ\x90\x00\x03": "", "\x00\x01\x02": "", "": "", "text\x00more": "",
		"\xff\xfea\x00,\x00B0\n\x00":      "", // UTF-16, which nothing else reads either
		"<html><script>alert(1)</script>": KindText, " %PDF-": KindText,
	} {
		expect.Is(t, KindOf([]byte(content)), want, "%.30q", content)
	}
	expect.Is(t, KindText.MediaType(), "text/plain; charset=utf-8")
	expect.That(t, KindPDF.Previewed() && !KindText.Previewed() && !KindXLSX.Previewed(), "what browsers show")
}

// A file is saved under an ending of what it is: no text is opened as a program because somebody called it so.
func TestAFileIsSavedAsWhatItIs(t *testing.T) {
	for name, want := range map[string]string{"見積.csv": "見積.csv", "memo.TXT": "memo.TXT", "quote.hta": "quote.hta.txt",
		"a.bat": "a.bat.txt", "見積": "見積.txt", "x.pdf": "x.pdf.txt", "a.csv.js": "a.csv.js.txt", "run.bat.": "run.bat..txt"} {
		f := ReadFile{SharedFile: aggregate.SharedFile{Name: name}}
		f.Take([]byte("a,b\n"), 0)
		expect.Is(t, f.SavedAs(), want)
	}
	f := ReadFile{SharedFile: aggregate.SharedFile{Name: "book.xlsm"}}
	f.Take([]byte("PK\x03\x04[Content_Types].xml xl/workbook.xml xl/renamed.bin"), 0)
	expect.Is(t, f.SavedAs(), "book.xlsm.xlsx")
}

// withFile gives a request one file that was read.
func withFile(a *Aggregate, f ReadFile) {
	r := *a.Request
	r.Files = []aggregate.SharedFile{{ID: f.ID}}
	a.Request, a.Files = &r, &Files{Files: []ReadFile{f}}
}

func quotation() (f ReadFile) {
	f.ID, f.Name = "F1", "見積書.pdf"
	f.Take([]byte("%PDF-1.7"), 0)
	return f
}

// What people stamp names the very bytes of each file, with or without a rule.
func TestAStampIsOnTheFiles(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	bare := a.sum(a.Prompt())
	withFile(a, quotation())
	sums := map[string]bool{bare: true, a.sum(a.Prompt()): true}
	for _, change := range []func(f *ReadFile){
		func(f *ReadFile) { f.Name = "見積書2.pdf" }, func(f *ReadFile) { f.Bytes++ }, func(f *ReadFile) { f.Kind = KindPNG },
		func(f *ReadFile) { f.SHA256 = aggregate.HashOf("x") }, func(f *ReadFile) { f.Left = LeftType },
	} {
		f := quotation()
		change(&f)
		withFile(a, f)
		sum := a.sum(a.Prompt())
		expect.That(t, !sums[sum], "%+v has the stamp of another file", f)
		sums[sum] = true
	}
	_, _, about := a.onRoute(a.Prompt())
	expect.That(t, about["enclosed"] == aggregate.HashOf(a.Enclosed()), "the entry seals them: %v", about)
}

// What isn't attached is told from what is, and is had by nobody's hash.
func TestWhatIsNotAttachedIsTold(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	var other, gone ReadFile
	other.ID, gone.ID, gone.Why = "F2", "F3", "it is gone"
	other.Take([]byte("MZ\x00"), 1)
	r := *a.Request
	r.Files = []aggregate.SharedFile{{ID: "F1"}, {ID: "F2"}, {ID: "F3"}}
	a.Request, a.Files = &r, &Files{Files: []ReadFile{quotation(), other, gone}}
	attached, left := a.Attached()
	expect.That(t, len(attached) == 1 && len(left) == 2 && left[0].Left == LeftType, "%+v, %+v", attached, left)
	expect.That(t, a.AttachedAs(quotation().SHA256) != nil && a.AttachedAs(other.SHA256) == nil && a.AttachedAs("") == nil,
		"a file is found by its hash")
	var late ReadFile
	late.Take([]byte("%PDF-"), MaxAttached)
	expect.Is(t, late.Left, LeftMany)
}
