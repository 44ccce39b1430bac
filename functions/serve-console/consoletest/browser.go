package consoletest

import (
	"slices"

	dom "golang.org/x/net/html"

	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

// Send sends a form, or no form, as browsers do.
func (b *Browser) Send(method, path string, form url.Values) Answer {
	kind := ""
	if form != nil {
		kind = "application/x-www-form-urlencoded"
	}
	asked := fmt.Sprintf("%s %s %.300s by %s in %s", method, path, form.Encode(), b.user, b.Locale)
	return b.send(method, path, kind, strings.NewReader(form.Encode()), asked)
}

// Upload sends a form with a file.
func (b *Browser) Upload(path string, form url.Values, file []byte) Answer {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			expect.NoError(b.World.T, parts.WriteField(name, value))
		}
	}
	part := expect.Value(parts.CreateFormFile("file", "file.csv"))(b.World.T)
	expect.Value(part.Write(file))(b.World.T)
	expect.NoError(b.World.T, parts.Close())
	asked := fmt.Sprintf("POST %s with a file of %d bytes by %s in %s", path, len(file), b.user, b.Locale)
	return b.send("POST", path, parts.FormDataContentType(), &body, asked)
}

// Serve answers a real browser as this browser's user, until the test is over. It returns its address.
func (b *Browser) Serve() (address string) {
	s := expect.Server(b.World.T, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: web.SessionCookie, Value: b.Cookies["__Host-ringi"]})
		b.handler().ServeHTTP(w, r)
	}))
	return s.URL
}

func (b *Browser) handler() http.Handler {
	if b.Over != nil {
		return b.Over
	}
	return b.World.Console.Handler()
}

func (b *Browser) send(method, path, kind string, body io.Reader, asked string) Answer {
	r := httptest.NewRequestWithContext(b.World.T.Context(), method, "https://"+b.host+path, body)
	r.Host, r.RemoteAddr = b.host, "192.0.2.7"
	r.Header.Set("Accept-Language", b.Locale)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Sec-Fetch-Site", cmp.Or(b.Site, "same-origin"))
	}
	for name, value := range b.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	b.handler().ServeHTTP(rec, r)
	out := rec.Result()
	for _, c := range out.Cookies() {
		if c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
		} else {
			b.Cookies[c.Name] = c.Value
		}
	}
	return Answer{Asked: asked, Status: out.StatusCode, To: out.Header.Get("Location"), Body: rec.Body.String(),
		Header: out.Header}
}

func (a Answer) String() string {
	says := cmp.Or(strings.TrimPrefix(a.Text(), "<main"), a.Body)
	return fmt.Sprintf("%s is answered %d %s: %s", a.Asked, a.Status, a.To, says)
}

// Says checks the status and that the page has these texts. Like the next three methods it returns the answer.
func (a Answer) Says(t testing.TB, status int, texts ...string) Answer {
	t.Helper()
	expect.That(t, a.Status == status, "want status %d: %v", status, a)
	for _, text := range texts {
		expect.That(t, strings.Contains(a.Text(), text), "does not say %q: %v", text, a)
	}
	return a
}

// Leads checks that the browser is redirected to this page.
func (a Answer) Leads(t testing.TB, to string) Answer {
	t.Helper()
	expect.That(t, a.To == to, "want to be led to %q: %v", to, a)
	return a
}

// between is the white space between the elements of a page.
var between = regexp.MustCompile(`>\s+<`)

func tight(source string) string { return between.ReplaceAllString(source, "><") }

// Holds checks that the page's source has these texts, whatever white space is between its elements.
func (a Answer) Holds(t testing.TB, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		expect.That(t, strings.Contains(tight(a.Body), tight(text)), "lacks %q: %v", text, a)
	}
	return a
}

// Lacks checks that the page's source has none of these texts, whatever white space is between its elements.
func (a Answer) Lacks(t testing.TB, texts ...string) Answer {
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

var (
	titleForm = regexp.MustCompile(`(?s)<th scope="row"[^>]*><a [^>]*>(?:<span class="kind">[^<]*</span>)?(.*?)</a>`)
	tagForm   = regexp.MustCompile(`<[^>]*>`)
)

// Titles returns what the links of the page's rows say, without the kind before it.
func (a Answer) Titles() (out []string) {
	for _, m := range titleForm.FindAllStringSubmatch(a.Body, -1) {
		out = append(out, tagForm.ReplaceAllString(m[1], ""))
	}
	return out
}

var hiddenForm = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// Hidden returns the hidden fields of the page's forms, with other values put in: of several values each is behind a |.
func (a Answer) Hidden(values ...string) url.Values {
	f := url.Values{}
	for _, m := range hiddenForm.FindAllStringSubmatch(a.Body, -1) {
		f.Add(m[1], html.UnescapeString(m[2]))
	}
	put(f, values)
	return f
}

func put(f url.Values, values []string) {
	for i := 0; i+1 < len(values); i += 2 {
		f[values[i]] = strings.Split(values[i+1], "|")
	}
}

// Sent returns what a browser sends of the form with this address as it is shown, with other values put in as Hidden
// does.
func (a Answer) Sent(t testing.TB, to string, values ...string) url.Values {
	t.Helper()
	f := url.Values{}
	var in *dom.Node
	for n := range expect.Value(dom.Parse(strings.NewReader(a.Body)))(t).Descendants() {
		if n.Data == "form" && Attr(n, "action") == to && in == nil {
			in = n
		}
	}
	expect.Must(t, in != nil, "no form to %s: %v", to, a)
	for n := range in.Descendants() {
		kind := Attr(n, "type")
		switch name := Attr(n, "name"); {
		case name == "" || n.Data == "button" || (kind == "checkbox" || kind == "radio") && !Has(n, "checked"):
		case n.Data == "input":
			f.Add(name, Attr(n, "value"))
		case n.Data == "textarea" && n.FirstChild != nil:
			f.Add(name, n.FirstChild.Data)
		case n.Data == "select":
			chosen := (*dom.Node)(nil)
			for o := range n.Descendants() {
				if o.Data == "option" && (chosen == nil || Has(o, "selected")) {
					chosen = o
				}
			}
			f.Add(name, Attr(chosen, "value"))
		}
	}
	put(f, values)
	return f
}

// Has reports whether an element has an attribute.
func Has(n *dom.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a dom.Attribute) bool { return a.Key == name })
}

// Attr returns the value of an element's attribute, "" without it.
func Attr(n *dom.Node, name string) string {
	if i := slices.IndexFunc(n.Attr, func(a dom.Attribute) bool { return a.Key == name }); i >= 0 {
		return n.Attr[i].Val
	}
	return ""
}
