package task

// Exported for the tests of the pages.
const (
	WaitingOfPage = waitingOfPage
	MaxSearch     = maxSearch
	RowsOfPage    = rowsOfPage
)
