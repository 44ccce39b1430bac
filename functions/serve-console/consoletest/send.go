package consoletest

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

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
	expect.NoError(b.World.T, parts.WriteField("form", b.Form))
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

func (b *Browser) send(method, path, kind string, body io.Reader, asked string) Answer {
	r := httptest.NewRequestWithContext(b.World.T.Context(), method, "https://"+b.host+path, body)
	r.Host, r.RemoteAddr = b.host, "192.0.2.7"
	r.Header.Set("Accept-Language", b.Locale)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	to := b.Over
	if to == nil {
		to = b.World.Console.Handler()
	}
	to.ServeHTTP(rec, r)
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
