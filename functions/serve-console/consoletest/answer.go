package consoletest

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func (a Answer) String() string {
	says := cmp.Or(strings.TrimPrefix(a.Text(), "<main"), a.Body)
	return fmt.Sprintf("%s is answered %d %s: %s", a.Asked, a.Status, a.To, says)
}

// Says wants a page with this status that says these texts. It returns the answer, as the next three methods do.
func (a Answer) Says(t *testing.T, status int, texts ...string) Answer {
	t.Helper()
	expect.That(t, a.Status == status, "want status %d: %v", status, a)
	for _, text := range texts {
		expect.That(t, strings.Contains(a.Text(), text), "does not say %q: %v", text, a)
	}
	return a
}

// Leads wants the browser led to another page.
func (a Answer) Leads(t *testing.T, to string) Answer {
	t.Helper()
	expect.That(t, a.To == to, "want to be led to %q: %v", to, a)
	return a
}

// Holds wants texts in the page's source.
func (a Answer) Holds(t *testing.T, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		expect.That(t, strings.Contains(a.Body, text), "lacks %q: %v", text, a)
	}
	return a
}

// Lacks wants none of these texts in the page's source.
func (a Answer) Lacks(t *testing.T, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		expect.That(t, !strings.Contains(a.Body, text), "has %q: %v", text, a)
	}
	return a
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

// Titles are the titles of the listed requests.
func (a Answer) Titles() (out []string) {
	for _, m := range titleForm.FindAllStringSubmatch(a.Body, -1) {
		out = append(out, m[1])
	}
	return out
}
