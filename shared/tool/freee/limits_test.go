package freee

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestAListMayBeAsLongAsTheCatalogSays(t *testing.T) {
	c := expect.Value(tool.Builtin())(t)
	for name, most := range map[string]int{
		"list_employees": maxPages * pageSize, "list_departments": maxDepartments, "list_positions": maxPositions,
	} {
		s, _ := c.Lookup(name)
		expect.Is(t, most, s.MaxRows, name)
	}
}
