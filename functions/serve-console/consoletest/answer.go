package consoletest

import (
	"cmp"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func (a Answer) String() string {
	says := cmp.Or(strings.TrimPrefix(a.Text(), "<main"), a.Body)
	return fmt.Sprintf("%s is answered %d %s: %s", a.Asked, a.Status, a.To, says)
}

// Says checks the status and that the page has these texts. Like the next three methods it returns the answer.
func (a Answer) Says(t *testing.T, status int, texts ...string) Answer {
	t.Helper()
	expect.That(t, a.Status == status, "want status %d: %v", status, a)
	for _, text := range texts {
		expect.That(t, strings.Contains(a.Text(), text), "does not say %q: %v", text, a)
	}
	return a
}

// Leads checks that the browser is redirected to this page.
func (a Answer) Leads(t *testing.T, to string) Answer {
	t.Helper()
	expect.That(t, a.To == to, "want to be led to %q: %v", to, a)
	return a
}

// between is the white space between the elements of a page.
var between = regexp.MustCompile(`>\s+<`)

func tight(source string) string { return between.ReplaceAllString(source, "><") }

// Holds checks that the page's source has these texts, whatever white space is between its elements.
func (a Answer) Holds(t *testing.T, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		expect.That(t, strings.Contains(tight(a.Body), tight(text)), "lacks %q: %v", text, a)
	}
	return a
}

// Lacks checks that the page's source has none of these texts, whatever white space is between its elements.
func (a Answer) Lacks(t *testing.T, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		expect.That(t, !strings.Contains(tight(a.Body), tight(text)), "has %q: %v", text, a)
	}
	return a
}

var linkForm = regexp.MustCompile(`href="([^"]*)"`)

// Link returns the address of the link with this rel or this text.
func (a Answer) Link(name string) string {
	for _, tag := range regexp.MustCompile(`<a [^>]*>[^<]*</a>`).FindAllString(a.Body, -1) {
		if strings.Contains(tag, `rel="`+name+`"`) || strings.Contains(tag, ">"+name+"<") {
			return strings.ReplaceAll(linkForm.FindStringSubmatch(tag)[1], "&amp;", "&")
		}
	}
	return ""
}

var titleForm = regexp.MustCompile(`<th scope="row"><a href="[^"]*"><bdi>([^<]*)</bdi>`)

func (a Answer) Titles() (out []string) {
	for _, m := range titleForm.FindAllStringSubmatch(a.Body, -1) {
		out = append(out, m[1])
	}
	return out
}

var hiddenForm = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// Hidden returns the hidden fields of the page's forms, but for the session's key, with other values put in: of several
// values each is behind a |.
func (a Answer) Hidden(values ...string) url.Values {
	f := url.Values{}
	for _, m := range hiddenForm.FindAllStringSubmatch(a.Body, -1) {
		if m[1] != "form" {
			f.Add(m[1], html.UnescapeString(m[2]))
		}
	}
	for i := 0; i+1 < len(values); i += 2 {
		f[values[i]] = strings.Split(values[i+1], "|")
	}
	return f
}
