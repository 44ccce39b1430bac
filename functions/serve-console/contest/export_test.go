package contest

// Exported for the tests of the pages.
var DraftKey = draftKey
