package rules

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/explain/auditlog"
	"ringi/shared/words/charset"
)

// textOf returns the uploaded file as UTF-8 with the name of its encoding, or the text that the page kept of it. A file
// that is in no encoding is returned as it is, and refused for that when it is read. So are damaged
// characters, by their rows.
func textOf(r *http.Request) (text []byte, encoding string, err error) {
	file, err := web.Uploaded(r)
	if err != nil {
		return nil, "", err
	}
	if file != nil {
		decoded, encoding, torn := charset.Decode(file)
		switch {
		case encoding == "" || torn && encoding == charset.UTF8: // its rows are told from the bytes
			return file, "", nil
		case torn && !strings.ContainsRune(decoded, utf8.RuneError):
			decoded += string(utf8.RuneError) // it ends within a character
		}
		return []byte(decoded), encoding, nil
	}
	if packed := r.PostFormValue("packed"); packed != "" {
		if text, err = web.Unpacked(packed, organisation.MaxBytes); err != nil {
			return nil, "", aggregate.ErrField{Field: "file", Limit: "can't be read"}
		}
	}
	return text, charset.UTF8, nil
}

// download sends what stands.
func (c *OrganisationPages) download(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, err := c.Organisations.Standing(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	if is.Organisation == nil {
		return web.ErrNoPage
	}
	return web.Attach(w, web.KindCSV, "organisation.csv", web.CSVOf(is.Organisation.Rows(v.Locale), auditlog.Cell))
}

// template sends a file with two rows as an example: a manager, and somebody in a department below.
func (c *OrganisationPages) template(w http.ResponseWriter, _ *http.Request, v *web.Viewer) error {
	t := v.Texts("organisation")
	rows := [][]string{organisation.Header(v.Locale), t.List("example", "manager"), t.List("example", "member")}
	return web.Attach(w, web.KindCSV, "organisation-template.csv", web.CSVOf(rows, auditlog.Cell))
}
