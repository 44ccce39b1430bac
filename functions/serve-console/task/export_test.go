package task

// What the tests of the pages ask for beside them.
const (
	WaitingOfPage = waitingOfPage
	MaxSearch     = maxSearch
	RowsOfPage    = rowsOfPage
)
