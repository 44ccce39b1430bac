package web

// What the tests of the pages ask for beside them.
var (
	Apart = apart
	UI    = ui
)
