package consoletest

import (
	"regexp"
	"strings"
	"testing"
)

func (a Answer) Says(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("it is answered %d, want %d: %s", a.Status, status, a.Text())
	}
	for _, text := range texts {
		if !strings.Contains(a.Text(), text) {
			t.Errorf("it does not say %q: %s", text, a.Text())
		}
	}
}

func (a Answer) SaysNot(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("it says %q", text)
		}
	}
}

var linkForm = regexp.MustCompile(`href="([^"]*)"`)

// Link is where the link with a rel leads, or the one whose text is this.
func (a Answer) Link(name string) string {
	for _, tag := range regexp.MustCompile(`<a [^>]*>[^<]*</a>`).FindAllString(a.Body, -1) {
		if strings.Contains(tag, `rel="`+name+`"`) || strings.Contains(tag, ">"+name+"<") {
			return strings.ReplaceAll(linkForm.FindStringSubmatch(tag)[1], "&amp;", "&")
		}
	}
	return ""
}

var titleForm = regexp.MustCompile(`<th scope="row"><a href="[^"]*"><bdi>([^<]*)</bdi>`)

// Titles are those of the requests that are listed.
func (a Answer) Titles() (out []string) {
	for _, m := range titleForm.FindAllStringSubmatch(a.Body, -1) {
		out = append(out, m[1])
	}
	return out
}
