package task

import (
	"net/http"

	"ringi/functions/serve-console/web"
	"ringi/shared/slack/card"
)

// unreadRow is something that a stand-in stamped for the viewer, and they are to read (後閲).
type unreadRow struct{ Path, ID, Kind, Title string }

// unread returns the first of what the viewer is to read.
func (c *Pages) unread(r *http.Request, v *web.Viewer) (rows []unreadRow, err error) {
	page, err := c.Store.Unread(r.Context(), v.Tenant, v.User, "", owedOfPage)
	if err != nil {
		return nil, err
	}
	all, err := c.known(r, v, page.Items)
	for _, x := range all {
		rows = append(rows, unreadRow{x.path(), x.ID, string(x.Kind), card.OneLine(x.title)})
	}
	return rows, err
}
