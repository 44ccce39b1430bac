// Package filetext says how the text of a file is asked of the function read-file, and what it answers. A file comes from
// anybody, so nothing in an answer's text can be trusted.
package filetext

const (
	// MaxFile limits a file that is read, in bytes.
	MaxFile = 8 << 20
	// MaxText limits its text, in bytes of UTF-8.
	MaxText = 256 << 10
)

// Order asks for a file's text. The function has no rights: the order brings the address of this one object.
type Order struct {
	Address string `json:"address"` // presigned GET
	SHA256  string `json:"sha256"`  // of the file
	Name    string `json:"name"`    // its file name, of which only the ending matters
}

// Form is what a file turned out to be, whatever its name says.
type Form string

const (
	Sheets   Form = "xlsx"
	Document Form = "docx"
	Slides   Form = "pptx"
	Plain    Form = "text"
)

// Why says why a file has no text.
type Why string

const (
	Encrypted  Why = "encrypted"  // it asks for a password
	OldOffice  Why = "old_office" // xls, doc or ppt
	PDF        Why = "pdf"
	OtherType  Why = "other_type"  // nothing that is read here
	Encoding   Why = "encoding"    // text whose encoding can't be told
	Broken     Why = "broken"      // not in the form that it begins like
	TooComplex Why = "too_complex" // unpacked it is too large or too deep, or reading takes too long
)

// Whys lists all reasons.
var Whys = []Why{Encrypted, OldOffice, PDF, OtherType, Encoding, Broken, TooComplex}

// Remark says what a text doesn't show.
type Remark string

const (
	Cut      Remark = "cut"      // only the beginning, MaxText bytes
	Macros   Remark = "macros"   // there are macros, which are not read
	Formulas Remark = "formulas" // there are formulas or fields, which stand there themselves, without a value that counts
	Ending   Remark = "ending"   // it is another form than its name says
	Hidden   Remark = "hidden"   // there are hidden sheets, rows, columns, slides, shapes or texts, which are there, too
	Changes  Remark = "changes"  // there are changes that nobody has accepted, which are there as if somebody had
	Pictures Remark = "pictures" // there are pictures, charts, shapes without text, controls or files, which are not read
	Numbers  Remark = "numbers"  // there are lists whose numbers or bullets are not known, and not in the text
	Colors   Remark = "colors"   // there are colors that seem to say something, which are not read
	Struck   Remark = "struck"   // there are texts that are struck out, which stand between ~~ and ~~
	Torn     Remark = "torn"     // it begins or ends within a character, or has damaged ones
)

// Text is a file's text. Either Form or Why is set.
type Text struct {
	Text     string   `json:"text,omitempty"`
	Form     Form     `json:"form,omitempty"`
	Encoding string   `json:"encoding,omitempty"` // of a plain text, as charset names it
	Remarks  []Remark `json:"remarks,omitempty"`
	Why      Why      `json:"why,omitempty"`
}
