package task

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/large"
)

// mostServed is the largest file that the console serves itself, in bytes: Lambda limits answers to 6 MB, in which a
// third more stands for bytes that are no text. A larger one is fetched from the bucket by a link of a minute.
const mostServed = 4 << 20

// shielded is the policy of a file that browsers show by themselves: it runs nothing, loads nothing, and has no origin.
const shielded = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// sendFile sends a file of the request, to be saved or, if it is asked for and browsers can, to be looked at.
func (c *Pages) sendFile(w http.ResponseWriter, r *http.Request, _ *web.Viewer, a *task.Aggregate) error {
	f := a.AttachedAs(r.PathValue("sum"))
	if f == nil {
		return aggregate.ErrNotFound
	}
	if f.Bytes > mostServed {
		address, err := c.Results.AttachedAddress(r.Context(), a.Ref(), f.SHA256, f.SavedAs())
		if err != nil {
			return err
		}
		http.Redirect(w, r, address, http.StatusSeeOther)
		return nil
	}
	body, err := c.Results.Attached(r.Context(), a.Ref(), f.SHA256)
	if errors.Is(err, large.ErrExpired) {
		return fmt.Errorf("%w: %w: %w", web.ErrExpired, aggregate.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	kept := large.Attachment(f.SavedAs())
	if r.URL.Query().Has("view") && f.Kind.Previewed() {
		kept = "inline" + strings.TrimPrefix(kept, "attachment")
	}
	w.Header().Set("Content-Security-Policy", shielded)
	w.Header().Set("Content-Disposition", kept)
	w.Header().Set("Content-Type", f.Kind.MediaType())
	_, err = w.Write(body)
	return err
}
