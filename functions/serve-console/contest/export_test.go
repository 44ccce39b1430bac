package contest

// What the tests of the pages ask for beside them.
var DraftKey = draftKey
