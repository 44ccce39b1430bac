package organisation

import (
	"slices"
	"strings"
)

// Called returns the posts that a text names: the name or code of a department of the day and, behind it, a position
// that the organisation has there on any day, such as 営業部 部長. Blanks and widths don't matter.
func (o *Organisation) Called(c *Chart, text string) (posts []Post) {
	tight := func(text string) string { return strings.ReplaceAll(Posted(text), " ", "") }
	text = tight(text)
	for _, p := range o.posts {
		d, there := c.departments[p.Department]
		if p.Position == "" || !there {
			continue
		}
		named := text == tight(d.Name)+tight(p.Position) || text == tight(d.Code)+tight(p.Position)
		if post := (Post{Department: p.Department, Position: p.Position}); named && !slices.Contains(posts, post) {
			posts = append(posts, post)
		}
	}
	return posts
}
