package subject

import (
	"strconv"

	"ringi/functions/serve-console/web"
)

// Successors returns where an administrator names who takes a person's place at a stage of a gate, on a page below that
// of what the gate belongs to.
func Successors(path, gate string) func(stage int, user string) string {
	return func(stage int, user string) string {
		return web.At(path+"/successor", map[string]string{"gate": gate, "stage": strconv.Itoa(stage), "for": user})
	}
}
