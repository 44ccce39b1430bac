package task

// Exported for the tests of the pages.
const (
	WaitingOfPage = waitingOfPage
	OwedOfPage    = owedOfPage
	MaxSearch     = maxSearch
	RowsOfPage    = rowsOfPage
)
