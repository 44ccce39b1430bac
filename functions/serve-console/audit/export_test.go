package audit

// Exported for the tests of the pages.
const PageSize = auditPage

var Actors = (*Pages).actors
