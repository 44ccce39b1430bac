package web

// Exported for the tests of the pages.
var (
	Apart = apart
	UI    = ui
)

var Ago = ago
