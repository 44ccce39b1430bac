package model

// Source is a page that a vendor's own search found.
type Source struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}
