package audit

// What the tests of the pages ask for beside them.
const PageSize = auditPage

type Choice = choice

var Actors = (*Pages).actors
