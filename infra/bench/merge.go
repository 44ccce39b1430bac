package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// withOld is a table with the parts that only the one in the file has, so that a
// part can be measured alone.
func withOld(path, table string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the old table: %w", err)
	}
	_, rest, _ := strings.Cut(string(b), begin)
	old, _, _ := strings.Cut(rest, end)
	return merged(strings.TrimPrefix(old, "\n"), table), nil
}

// merged keeps the order of the old table; what it lacks comes last.
func merged(old, table string) string {
	now := pieces(table)
	out := now[0].rows
	for _, p := range pieces(old)[1:] {
		if i := slices.IndexFunc(now, func(x piece) bool { return x.name == p.name }); i >= 0 {
			p = now[i]
			now = slices.Delete(now, i, i+1)
		}
		out += p.rows
	}
	for _, p := range now[1:] {
		out += p.rows
	}
	return out
}

// piece is a part of a table as it is written; what stands before the first has no name.
type piece struct{ name, rows string }

func pieces(table string) []piece {
	all := []piece{{}}
	for line := range strings.Lines(table) {
		if title, ok := strings.CutPrefix(line, "| **"); ok {
			all = append(all, piece{name: title[:strings.IndexAny(title, ":,*")]}) // what follows says how often it was measured
		}
		all[len(all)-1].rows += line
	}
	return all
}
