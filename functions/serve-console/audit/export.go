package audit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store/large"
)

// Exporter starts exports of the audit log and links to the finished files.
type Exporter interface {
	Begin(ctx context.Context, tenant, export string) error
	Link(ctx context.Context, x auditlog.Export) (string, error)
}

// exportAudit calls the Lambda function that writes the files, and signs links to its bucket.
type exportAudit struct {
	function *outbound.Function
	bucket   *large.Bucket
}

// Function returns the function with that name, which writes into that bucket.
func Function(cfg aws.Config, name, in string) Exporter {
	return exportAudit{outbound.FunctionAt(cfg, name), large.BucketAt(cfg, in)}
}

// Begin invokes the function asynchronously; it returns before the file is written.
func (e exportAudit) Begin(ctx context.Context, tenant, export string) error {
	err := e.function.Begin(ctx, map[string]string{"tenant": tenant, "export": export})
	if err != nil {
		return fmt.Errorf("begin export %s: %w", export, err)
	}
	return nil
}

// Link returns an address that serves the file without a session for auditlog.LinkLasts.
func (e exportAudit) Link(ctx context.Context, x auditlog.Export) (string, error) {
	as := large.Served{Disposition: `attachment; filename="` + x.Name() + `"`}
	link, err := e.bucket.AddressAs(ctx, x.Key, as, auditlog.LinkLasts)
	if err != nil {
		return "", fmt.Errorf("link to export %s: %w", x.ID, err)
	}
	return link, nil
}

func (c *Pages) beginExport(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	form, filter := auditFormOf(r.PostForm, c.Now())
	if form.Problem != "" {
		return aggregate.ErrField{Field: form.Problem, Limit: "selects nothing"}
	}
	now := c.Now()
	x, err := auditlog.New(
		aggregate.NewID(), v.Tenant, v.User, auditlog.Form(r.PostFormValue("as")), filter, v.Locale, now,
	)
	if err != nil {
		return err
	}
	if err = c.Store.BeginExport(r.Context(), x, now); err != nil {
		return err
	}
	if err = c.Exports.Begin(r.Context(), v.Tenant, x.ID); err != nil {
		return errors.Join(err, c.Store.FailExport(r.Context(), x, auditlog.Broken, now))
	}
	http.Redirect(w, r, "/console/audit/exports/"+x.ID, http.StatusSeeOther)
	return nil
}

type exportData struct {
	auditlog.Export
	Path    string
	Open    bool // somebody works on it
	Problem string
	Note    string // how long the link is valid, and how long the file is stored
}

func (c *Pages) showExport(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	x, err := c.Store.Export(r.Context(), v.Tenant, r.PathValue("id"))
	if err != nil {
		return err
	}
	words := v.Texts("export")
	x = x.Seen(c.Now())
	d := exportData{
		Export: x, Path: "/console/audit/exports/" + x.ID, Open: x.Open(c.Now()),
		Problem: words.In("problems", x.Problem),
		Note:    words.Say("link_note", "minutes", int(auditlog.LinkLasts.Minutes()), "hours", int(auditlog.Kept.Hours())),
	}
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "audit", Data: d}, "export.html")
}

// fetchExport redirects to a short-lived link. Anyone who has the link can fetch the file, so it first asks the store
// whether the viewer is still an administrator.
func (c *Pages) fetchExport(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	if err := c.StillAdmin(r.Context(), v); err != nil {
		return err
	}
	x, err := c.Store.Export(r.Context(), v.Tenant, r.PathValue("id"))
	if err != nil {
		return err
	}
	if x.Status != auditlog.Done || !x.Own() {
		return fmt.Errorf("export %s is %s: %w", x.ID, x.Status, aggregate.ErrNotFound)
	}
	link, err := c.Exports.Link(r.Context(), x)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, link, http.StatusSeeOther)
	return nil
}
