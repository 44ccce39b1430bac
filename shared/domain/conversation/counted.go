package conversation

import (
	"fmt"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

// Tests counts the tests that a command says it ran. It reads the last lines that pytest, Jest, Vitest, cargo and go
// test print, so it is as true as the output is.
type Tests struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// Packages says that these are packages of Go, which names its tests only with -v or if they fail.
	Packages bool `json:"packages,omitempty"`
	unbuilt  bool // some could not run, since what they test is not built or they can't be read
}

var (
	escapes = language.Regexp{Text: `\x1b\[[0-9;]*m`}
	// listed is a line of counts with their words: of pytest with its time, of Jest and Vitest after a heading.
	listed = language.Regexp{Text: `^(?:=+ )?((?:\d{1,9} [a-z ]+, )*\d{1,9} [a-z ]+) in [\d.]+s\b[^=]*=*$|` +
		`^Tests:? +((?:\d{1,9} [a-z ]+(?:, | \| )?)+)(?: \(\d+\))?$`}
	one   = language.Regexp{Text: `(\d+) ([a-z]+(?: [a-z]+)?)`}
	cargo = language.Regexp{
		Text: `^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored`}
	// ofGo is a package of Go. One without tests, or of whose tests none was to run, counts as none.
	ofGo = language.Regexp{Text: `^(ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))`}
	// unbuilt says of tests that they could not run: of a package of Go, of pytest's, Jest's and Vitest's files.
	unbuilt = language.Regexp{Text: `^(?:FAIL\s+\S+\s+\[(?:build|setup) failed\]|` +
		`!+ Interrupted: \d+ errors? during collection !+|● +Test suite failed to run|⎯+ Failed Suites \d+ ⎯+)$`}
)

// add counts so many by a runner's word; false: by none that is known.
func (t *Tests) add(word, n string) bool {
	count, _ := strconv.Atoi(n) // of digits, at most nine
	switch word {
	case "passed":
		t.Passed += count
	case "failed", "error", "errors":
		t.Failed += count
	case "skipped", "todo", "xfailed", "expected fail":
		t.Skipped += count
	case "subtests passed", "deselected", "warning", "warnings", "total", "xpassed", "rerun":
	default:
		return false
	}
	return true
}

// Read takes the counts of a line of output in place of earlier ones. The lines of cargo, one for each of its programs,
// and of go test, one for each package, are added up.
func (t *Tests) Read(line string) {
	line = strings.TrimSpace(escapes.Get().ReplaceAllString(line, ""))
	t.unbuilt = t.unbuilt || unbuilt.Get().MatchString(line)
	if m := listed.Get().FindStringSubmatch(line); m != nil {
		n := Tests{unbuilt: t.unbuilt}
		for _, x := range one.Get().FindAllStringSubmatch(m[1]+m[2], -1) {
			if !n.add(x[2], x[1]) {
				return
			}
		}
		*t = n
		return
	}
	if m := cargo.Get().FindStringSubmatch(line); m != nil {
		t.add("passed", m[1])
		t.add("failed", m[2])
		t.add("skipped", m[3])
		return
	}
	if m := ofGo.Get().FindStringSubmatch(line); m != nil && !strings.HasSuffix(line, "[no tests to run]") {
		if !t.Packages {
			*t = Tests{Packages: true, unbuilt: t.unbuilt}
		}
		t.add(map[string]string{"ok": "passed", "FAIL": "failed"}[m[1]], "1")
	}
}

// Counted returns the tests that were counted; nil: none, some could not run, or the exit code says otherwise.
func (t Tests) Counted(exit *int) *Tests {
	if t.Passed+t.Failed+t.Skipped == 0 || t.unbuilt || exit == nil || (*exit == 0) != (t.Failed == 0) {
		return nil
	}
	return &t
}

// Said says how many tests passed, failed and were skipped; empty if none were counted.
func (t *Tests) Said(locale string) string {
	if t == nil {
		return ""
	}
	w := wordsOf.In(locale).Tests
	text := fmt.Sprintf(w.Tests, t.Passed)
	if t.Packages {
		text = fmt.Sprintf(w.Packages, t.Passed)
	}
	if t.Failed > 0 {
		text += fmt.Sprintf(w.Failed, t.Failed)
	}
	if t.Skipped > 0 {
		text += fmt.Sprintf(w.Skipped, t.Skipped)
	}
	return text
}

// sum is the text of the column result_summary: the tests that were counted, the files that changed and the exit code.
func (r Result) sum(locale string) string {
	w, said := wordsOf.In(locale), []string{}
	if text := r.Tests.Said(locale); text != "" {
		said = append(said, text)
	}
	if d := r.Changed; d != nil && d.Files > 0 {
		text := fmt.Sprintf(w.Tests.Files, strings.Join(d.Names, ", "))
		if more := d.Files - len(d.Names); more > 0 {
			text += fmt.Sprintf(w.Tests.More, more)
		}
		said = append(said, text)
	}
	if r.ExitCode != nil {
		said = append(said, fmt.Sprintf(w.Exit, *r.ExitCode))
	}
	return strings.Join(said, " · ")
}
