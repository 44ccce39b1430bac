package conversation

// Exported for the tests of the pages.
const (
	SaidOfPage = saidOfPage
	RowsOfPage = rowsOfPage
)

var SourceOf = sourceOf
