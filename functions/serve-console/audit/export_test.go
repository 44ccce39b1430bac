package audit

// Exported for the tests of the pages.
const PageSize = auditPage

type Choice = choice

var Actors = (*Pages).actors
