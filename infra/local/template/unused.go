package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// granted returns the rights that roles grant: each action of a statement on each of its resources, each value of its
// conditions, and for each function each statement of its managed policies.
func granted(roles map[string]Role) map[Right]bool {
	all := map[Right]bool{}
	for owner, role := range roles {
		for _, p := range role.Policies {
			for _, s := range p.Statements {
				if s.Deny {
					continue
				}
				for _, a := range s.Actions {
					for _, r := range s.Resources {
						all[Right{p.Name, s.Sid, a, r.Name}] = true
					}
				}
				for _, c := range s.conditions {
					for _, v := range c.named() {
						all[value(p.Name, s.Sid, c.key, v)] = true
					}
				}
				if p.Managed {
					all[carries(owner, p.Name, s.Sid)] = true
				}
			}
		}
	}
	return all
}

// reason explains why a right is granted that no test uses.
type reason struct {
	line    string
	column  [4]string // policy, Sid, action and resource
	actions []string  // the actions in the third column
	chance  bool      // tests use the rights only by chance
}

func readReason(line string) (r reason, err error) {
	r.line = line
	pattern, why, _ := strings.Cut(line, ": ")
	column := strings.Fields(pattern)
	if len(column) > 0 && column[0] == "?" {
		r.chance, column = true, column[1:]
	}
	if len(column) != len(r.column) || why == "" {
		return r, fmt.Errorf("%q is no reason: policy Sid action resource: why", line)
	}
	copy(r.column[:], column)
	r.actions = strings.Split(column[2], ",")
	for _, a := range r.actions {
		if strings.Contains(a, "*") && !strings.Contains(a, "=") {
			return r, fmt.Errorf("%q is no reason: %s would be one for actions that are granted later, too", line, a)
		}
	}
	return r, nil
}

// about reports whether this reason, with one of its actions, applies to a right.
func (r reason) about(action string, x Right) bool {
	return action == x.Action && like(r.column[0], x.Policy) && like(r.column[1], x.Sid) && like(r.column[3], x.Resource)
}

func readReasons(text string) (list []reason, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		r, err := readReason(line)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func needless(action string, r reason) string {
	return fmt.Sprintf("no right needs the reason for %s: %s", action, r.line)
}

// Ungranted returns the reasons, as in Unused, for rights that no role grants. It needs no notes of tests.
func Ungranted(roles map[string]Role, reasons string) (wrong []string, err error) {
	list, err := readReasons(reasons)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Keys(granted(roles)))
	for _, r := range list {
		for _, action := range r.actions {
			if !slices.ContainsFunc(all, func(x Right) bool { return r.about(action, x) }) {
				wrong = append(wrong, needless(action, r))
			}
		}
	}
	return wrong, nil
}

// Unused compares the rights that roles grant with the rights that tests used, according to the notes in folder.
// packages are the folders with tests. Each line of reasons excuses unused rights; it has a policy, a Sid, actions
// separated by commas, a resource, a colon and the reason. A * stands for any text, except in actions. A line with a
// leading question mark is for rights that tests use only by chance. Unused returns rights without a reason, reasons
// that are no longer needed, and refused requests.
func Unused(roles map[string]Role, folder string, packages []string, reasons string) (wrong []string, err error) {
	was, wrong, err := used(folder, packages)
	if err != nil {
		return nil, err
	}
	all := granted(roles)
	excused := map[Right]bool{}
	list, err := readReasons(reasons)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		for _, action := range r.actions {
			needed := false
			for right := range all {
				if !r.about(action, right) {
					continue
				}
				if was[right] && !r.chance {
					wrong = append(wrong, fmt.Sprintf("is used, and has a reason why not: %s", right))
				}
				needed = needed || !was[right] || r.chance
				excused[right] = true
			}
			if !needed {
				wrong = append(wrong, needless(action, r))
			}
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
