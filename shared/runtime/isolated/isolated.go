// Package isolated is the protocol between Ringi and the sandbox where a command runs: one order, then a stream of
// frames, one JSON object per line. Nothing in the stream can be trusted, because code in a sandbox can forge all of
// it.
package isolated

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The limits of an order and of its answer.
const (
	MaxTimeout = 600       // seconds
	MaxScript  = 64 << 10  // bytes of a script
	MaxArgv    = 128 << 10 // bytes of all arguments
	MaxArgs    = 256       // arguments
	MaxLine    = 8 << 10   // bytes of a line; a longer one is cut and marked
	maxFrame   = 64 << 10  // the longest line has only control characters, each six bytes in JSON
	maxStream  = 128 << 20 // bytes of an answer; a genuine one has at most a third of that
)

// The actions that run in a sandbox.
const (
	TestRun      = "test_run"
	ShellCommand = "shell_command"
)

// Order is a command to be run. The command can reach only the addresses in the order, each of which is valid for this
// action alone.
type Order struct {
	Action         string    `json:"action"` // id; no environment serves two
	Type           string    `json:"type"`   // test_run or shell_command
	Argv           []string  `json:"argv,omitempty"`
	Script         string    `json:"script,omitempty"`
	TimeoutSeconds int       `json:"timeout_seconds"`
	Deadline       time.Time `json:"deadline"`            // by then everything has ended and is uploaded
	Workspace      string    `json:"workspace,omitempty"` // presigned GET of the archive; empty for an empty workspace
	// the same of what lies beside it, read-only; empty for nothing
	Attachments string `json:"attachments,omitempty"`
	// presigned GET of an object that is there once somebody cancelled
	Cancel string `json:"cancel,omitempty"`
	Upload Form   `json:"upload"`
}

// Form is where the changed files are uploaded: a POST with fields of a signed policy. Without a URL the files are not
// saved.
type Form struct {
	URL    string            `json:"url,omitempty"`
	Fields map[string]string `json:"fields,omitempty"`
}

// Values of End.Limit. An end has EndedEarly until everything is done. NotKept is followed by the reason.
const (
	EndedEarly    = "the sandbox ended before its work was done"
	EndedByMemory = "the command's processes used more memory together than they may"
	NotKept       = "the changed workspace was not kept"
)

// Line is a line of the command's output. Unfinished means that the output ended without a line end.
type Line struct {
	// Number is the line's number in the whole output, from 1. Lines that were dropped count, too. Read corrects numbers
	// that are missing or don't ascend.
	Number     int    `json:"number,omitempty"`
	Text       string `json:"text"`
	Unfinished bool   `json:"unfinished,omitempty"`
}

// End is how a command ended.
type End struct {
	ExitCode  int    `json:"exit_code"` // -1 when a signal ended it
	Signal    string `json:"signal,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Missing   string `json:"missing,omitempty"` // the tool that is not installed
	Dropped   int    `json:"dropped,omitempty"` // lines that came faster than they could be sent; the oldest went
	// what kept the workspace from being kept, or ended the command: one of the sentences above
	Limit   string   `json:"limit,omitempty"`
	Left    []string `json:"left,omitempty"`    // what is in the workspace and can't be kept
	Version string   `json:"version,omitempty"` // sha256 of the uploaded workspace; empty if none was uploaded
	Held    []string `json:"held,omitempty"`    // the isolation that held, strongest first
}

// Runner runs an order and calls onLine for each line of output. It returns an error wrapping ErrNotBegun if nothing of
// the command has run; the error also wraps ErrCannot if retrying is useless. After any other error, including one of
// onLine, it is unknown what the command did.
type Runner interface {
	Run(ctx context.Context, o Order, onLine func(Line) error) (End, error)
}

// ErrNotBegun means that nothing of an order was run.
var ErrNotBegun = errors.New("the command has not begun")

// ErrCannot means that nothing of an order was run and retrying is useless.
var ErrCannot = errors.New("the sandbox can't run this")

// Validate returns an error that names a field which is missing or over its limit.
func (o Order) Validate() error {
	wrong := func(format string, args ...any) error { return fmt.Errorf("order: "+format, args...) }
	switch size := 0; {
	case o.Action == "":
		return wrong("action is missing")
	case o.TimeoutSeconds < 1 || o.TimeoutSeconds > MaxTimeout:
		return wrong("timeout_seconds is %d, it must be 1 to %d", o.TimeoutSeconds, MaxTimeout)
	case o.Deadline.IsZero():
		return wrong("deadline is missing")
	case o.Type == TestRun:
		for _, a := range o.Argv {
			size += len(a) + 1
		}
		if len(o.Argv) == 0 || o.Argv[0] == "" || o.Script != "" {
			return wrong("test_run takes argv, and argv only")
		}
		if len(o.Argv) > MaxArgs || size > MaxArgv {
			return wrong("argv has %d elements and %d bytes, the limits are %d and %d", len(o.Argv), size, MaxArgs, MaxArgv)
		}
	case o.Type == ShellCommand:
		if o.Script == "" || len(o.Argv) > 0 {
			return wrong("shell_command takes script, and script only")
		}
		if len(o.Script) > MaxScript {
			return wrong("script has %d bytes, the limit is %d", len(o.Script), MaxScript)
		}
	default:
		return wrong("type %q runs in no sandbox", o.Type)
	}
	return nil
}

const (
	// MaxFile limits a file that is read, in bytes.
	MaxFile = 10 << 20
	// MaxText limits its text, in bytes of UTF-8.
	MaxText = 256 << 10
)

// FileOrder asks for a file's text. The file comes from anybody, so nothing in an answer's text can be trusted. The
// function has no rights: the order brings the address of this one object.
type FileOrder struct {
	Address string `json:"address"` // presigned GET
	SHA256  string `json:"sha256"`  // of the file
}

// FileForm is what a file turned out to be, whatever its name says.
type FileForm string

const (
	Sheets    FileForm = "xlsx"
	Document  FileForm = "docx"
	Slides    FileForm = "pptx"
	PlainText FileForm = "text"
)

// Unreadable says why a file has no text.
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

// AllUnreadable lists all reasons.
var AllUnreadable = []Unreadable{Encrypted, OldOffice, PDF, OtherType, Encoding, Broken, TooComplex}

// FileRemark says what a text doesn't show.
type FileRemark string

const (
	FileCut   FileRemark = "cut"    // only the beginning, MaxText bytes
	HasMacros FileRemark = "macros" // there are macros, which are not read
	// there are formulas, which stand there themselves, without a value that counts
	HasFormulas FileRemark = "formulas"
	// there are hidden sheets, rows, columns, slides or texts, which are there, too
	HasHidden  FileRemark = "hidden"
	HasChanges FileRemark = "changes" // there are changes that nobody has accepted, which are there as if somebody had
	// there are pictures, charts, drawings or files, which are not read
	HasPictures FileRemark = "pictures"
	HasStruck   FileRemark = "struck" // there are texts that are struck out, which stand between ~~ and ~~
)

// FileText is a file's text. Either Form or Why is set.
type FileText struct {
	Text     string       `json:"text,omitempty"`
	Form     FileForm     `json:"form,omitempty"`
	Encoding string       `json:"encoding,omitempty"` // of a plain text, as language.Decode names it
	Remarks  []FileRemark `json:"remarks,omitempty"`
	Why      Unreadable   `json:"why,omitempty"`
}

// Runtime is the managed runtime in which commands run in Lambda. It provides the tools that they find there.
const Runtime = "nodejs24.x"

// Searched are the folders in which commands find programs; the last has Lambda's runtime.
const Searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin:/var/lang/bin"

// Beside is a folder beside the sandbox's binary in Lambda, in which commands find Python, too.
const Beside = "python"

// python tells a model what the Python in Lambda is and lacks; see functions/run-sandbox/python.
const python = "python3 (CPython 3.14 in WebAssembly, which takes seconds to start: the standard library without " +
	"pip, " +
	"other packages such as numpy, subprocesses, threads, sockets and asyncio.run)"

// Tools are the folders of a machine that commands can read in each form of isolation. They contain no home folders,
// configuration or services' data.
var Tools = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives",
	"/var/lang"}

// Installed tells a model which tools commands find: in Lambda those of Runtime, elsewhere the programs of that machine
// (see Programs), separated by commas.
func Installed(programs string) string {
	if programs == "" {
		programs = "Node.js 24 with npm and npx, " + python
	}
	return "sh, the usual small programs of Linux, and " + programs +
		". There is no network: nothing can be downloaded or installed. A result says which tool is missing."
}

// asked are the programs that Programs looks for.
var asked = []string{"bash", "gcc", "git", "go", "java", "jq", "make", "node", "npm", "npx", "perl", "php", "pip3",
	"python3", "ruby", "rustc", "sqlite3"}

// Programs returns which of the programs that agents look for commands find on this machine, separated by commas.
func Programs() string {
	var found []string
	for _, name := range asked {
		if path, err := filepath.EvalSymlinks(find(name)); err == nil && readable(path) {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

func readable(path string) bool {
	return slices.ContainsFunc(Tools, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
}

// find returns the path of a program in the folders that are searched, or "" if there is none.
func find(name string) string {
	for _, folder := range filepath.SplitList(Searched) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// frame is one line of an answer, with one field set.
type frame struct {
	Begun    *struct{} `json:"begun,omitempty"`
	NotBegun *notBegun `json:"not_begun,omitempty"`
	Line     *Line     `json:"line,omitempty"`
	End      *End      `json:"end,omitempty"`
}

type notBegun struct {
	Why     string `json:"why"`
	Lasting bool   `json:"lasting,omitempty"`
}

// Writer writes an answer. Its methods may be called concurrently.
type Writer struct {
	mu  sync.Mutex
	out *json.Encoder
}

// NewWriter returns a Writer that writes each frame to w at once.
func NewWriter(w io.Writer) *Writer { return &Writer{out: json.NewEncoder(w)} }

// Begun reports that the command is about to start. From then on nothing can claim that the command was not run.
func (w *Writer) Begun() error { return w.write(frame{Begun: new(struct{})}) }

// NotBegun ends the answer to an order that was not run. lasting means that retrying is useless.
func (w *Writer) NotBegun(why string, lasting bool) error {
	return w.write(frame{NotBegun: &notBegun{why, lasting}})
}

// Line writes one line of output.
func (w *Writer) Line(l Line) error { return w.write(frame{Line: &l}) }

// End writes how the command ended, as the last frame.
func (w *Writer) End(e End) error { return w.write(frame{End: &e}) }

func (w *Writer) write(f frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Encode(f)
}

// maxLines is the largest number of a line that Read believes.
const maxLines = 1e9

// Read reads an answer to its end and calls onLine for each line. It treats the answer as untrusted: it cuts lines,
// bounds the total, and accepts only in the first frame that nothing has begun.
func Read(r io.Reader, onLine func(Line) error) (End, error) {
	in := bufio.NewReaderSize(r, maxFrame)
	read, number := 0, 0
	for first := true; ; first = false {
		text, err := in.ReadSlice('\n')
		if read += len(text); read > maxStream {
			return End{}, fmt.Errorf("sandbox: the answer has more than %d bytes", maxStream)
		}
		switch {
		case errors.Is(err, io.EOF):
			return End{}, fmt.Errorf("sandbox: the answer ended without an end: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return End{}, fmt.Errorf("sandbox: read the answer: %w", err)
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return End{}, fmt.Errorf("sandbox: the answer can't be read: %w", err)
		}
		switch {
		case f.NotBegun != nil && !first:
			return End{}, errors.New("sandbox: the answer takes back that the command began")
		case f.NotBegun != nil && f.NotBegun.Lasting:
			return End{}, fmt.Errorf("sandbox: %s: %w: %w", Cut(f.NotBegun.Why), ErrCannot, ErrNotBegun)
		case f.NotBegun != nil:
			return End{}, fmt.Errorf("sandbox: %s: %w", Cut(f.NotBegun.Why), ErrNotBegun)
		case f.Line != nil:
			if f.Line.Number <= number || f.Line.Number > maxLines {
				f.Line.Number = number + 1
			}
			number, f.Line.Text = f.Line.Number, Cut(f.Line.Text)
			if err := onLine(*f.Line); err != nil {
				return End{}, fmt.Errorf("sandbox: hand over a line: %w", err)
			}
		case f.End != nil:
			return *f.End, nil
		}
	}
}

// Cut shortens a text to at most MaxLine bytes of whole characters, and adds how much is missing.
func Cut(s string) string { return CutMore(s, 0) }

// CutMore is Cut for a text of which more bytes are already missing.
func CutMore(s string, more int) string {
	if len(s) <= MaxLine && more == 0 {
		return s
	}
	end := min(len(s), MaxLine-64)
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s … (+%d bytes)", s[:end], len(s)-end+more)
}
