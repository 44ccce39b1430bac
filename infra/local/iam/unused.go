package iam

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// granted are the rights that roles give: each action of a statement on each of its resources, and each managed policy to
// each function.
func granted(roles map[string]Role) map[Right]bool {
	all := map[Right]bool{}
	for owner, role := range roles {
		for _, p := range role.Policies {
			for _, s := range p.Statements {
				for _, a := range s.Actions {
					for _, r := range s.Resources {
						if !s.Deny {
							all[Right{p.Name, s.Sid, a, r.Name}] = true
						}
					}
				}
			}
			if p.Managed {
				all[carries(owner, p.Name)] = true
			}
		}
	}
	return all
}

// Unused compares what roles grant with what the notes of a folder say was used. reasons has a line for each right that
// nothing uses: policy, Sid, action and resource, in which * stands for any text, a colon, and why it is granted. A line
// that begins with a question mark is for rights that chance uses, or doesn't. It returns what is wrong: rights without a
// reason, reasons that no right needs any more, and what was refused.
func Unused(roles map[string]Role, folder, reasons string) (wrong []string, err error) {
	was, wrong, err := used(folder)
	if err != nil {
		return nil, err
	}
	all := granted(roles)
	excused := map[Right]bool{}
	for line := range strings.Lines(reasons) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		pattern, why, _ := strings.Cut(line, ": ")
		column := strings.Fields(pattern)
		chance := len(column) > 0 && column[0] == "?"
		if chance {
			column = column[1:]
		}
		if len(column) != 4 || why == "" {
			return nil, fmt.Errorf("%q is no reason: policy Sid action resource: why", line)
		}
		needed := false
		for right := range all {
			if !right.like(column) {
				continue
			}
			if was[right] && !chance {
				wrong = append(wrong, fmt.Sprintf("is used, and has a reason why not: %s", right))
			}
			needed = needed || !was[right] || chance
			excused[right] = true
		}
		if !needed {
			wrong = append(wrong, fmt.Sprintf("no right needs the reason: %s", line))
		}
	}
	for right := range maps.Keys(all) {
		if !was[right] && !excused[right] {
			wrong = append(wrong, fmt.Sprintf("is granted, and nothing used it: %s", right))
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

func (r Right) like(column []string) bool {
	return like(column[0], r.Policy) && like(column[1], r.Sid) && like(column[2], r.Action) && like(column[3], r.Resource)
}
