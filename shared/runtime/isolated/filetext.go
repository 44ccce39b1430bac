package isolated

const (
	// MaxFile limits a file that is read, in bytes.
	MaxFile = 8 << 20
	// MaxText limits its text, in bytes of UTF-8.
	MaxText = 256 << 10
)

// Order asks for a file's text. The function has no rights: the order brings the address of this one object.
type FileOrder struct {
	Address string `json:"address"` // presigned GET
	SHA256  string `json:"sha256"`  // of the file
	Name    string `json:"name"`    // its file name, of which only the ending matters
}

// Form is what a file turned out to be, whatever its name says.
type FileForm string

const (
	Sheets    FileForm = "xlsx"
	Document  FileForm = "docx"
	Slides    FileForm = "pptx"
	PlainText FileForm = "text"
)

// Why says why a file has no text.
type Unreadable string

const (
	Encrypted  Unreadable = "encrypted"  // it asks for a password
	OldOffice  Unreadable = "old_office" // xls, doc or ppt
	PDF        Unreadable = "pdf"
	OtherType  Unreadable = "other_type"  // nothing that is read here
	Encoding   Unreadable = "encoding"    // text whose encoding can't be told
	Broken     Unreadable = "broken"      // not in the form that it begins like
	TooComplex Unreadable = "too_complex" // unpacked it is too large or too deep, or reading takes too long
)

// Whys lists all reasons.
var AllUnreadable = []Unreadable{Encrypted, OldOffice, PDF, OtherType, Encoding, Broken, TooComplex}

// Remark says what a text doesn't show.
type FileRemark string

const (
	FileCut     FileRemark = "cut"      // only the beginning, MaxText bytes
	HasMacros   FileRemark = "macros"   // there are macros, which are not read
	HasFormulas FileRemark = "formulas" // there are formulas or fields, which stand there themselves, without a value that counts
	HasEnding   FileRemark = "ending"   // it is another form than its name says
	HasHidden   FileRemark = "hidden"   // there are hidden sheets, rows, columns, slides, shapes or texts, which are there, too
	HasChanges  FileRemark = "changes"  // there are changes that nobody has accepted, which are there as if somebody had
	HasPictures FileRemark = "pictures" // there are pictures, charts, shapes without text, controls or files, which are not read
	HasNumbers  FileRemark = "numbers"  // there are lists whose numbers or bullets are not known, and not in the text
	HasColors   FileRemark = "colors"   // there are colors that seem to say something, which are not read
	HasStruck   FileRemark = "struck"   // there are texts that are struck out, which stand between ~~ and ~~
	Torn        FileRemark = "torn"     // it begins or ends within a character, or has damaged ones
)

// Text is a file's text. Either Form or Why is set.
type FileText struct {
	Text     string       `json:"text,omitempty"`
	Form     FileForm     `json:"form,omitempty"`
	Encoding string       `json:"encoding,omitempty"` // of a plain text, as charset names it
	Remarks  []FileRemark `json:"remarks,omitempty"`
	Why      Unreadable   `json:"why,omitempty"`
}
