package web

// Exported for the tests of the pages.
var (
	Apart  = apart
	UI     = ui
	Parsed = page
)

var Ago = ago
