package conversation

// What the tests of the pages ask for beside them.
const (
	SaidOfPage = saidOfPage
	RowsOfPage = rowsOfPage
)
