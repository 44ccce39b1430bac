package rules

func (e Empty) check(p *problems, at string) {
	one := func(t Then, at, last string) {
		p.unless(t == ThenUp || t == ThenSkip || string(t) == last, at, "must be up, skip or %s", last)
	}
	one(e.Vacant, at+".vacant", string(ThenRefuse))
	one(e.Own, at+".own", string(ThenRefuse))
	one(e.Twice, at+".twice", string(ThenAgain))
}

func (s Stage) check(p *problems, at string) {
	p.words(s.Name, at+".name", MaxName)
	s.Who.check(p, at+".who")
	switch {
	case s.Who.Kind == WhoChannel:
		p.unless(s.Need == 1, at+".need", "must be 1 of a channel")
		p.unless(s.Empty == Empty{}, at+".empty", "must be absent of a channel, which is never empty")
		p.unless(!s.Others, at+".others", "must be absent of a channel")
		return
	default:
		p.between(s.Need, 0, s.Who.most(), at+".need")
	}
	s.Empty.check(p, at+".empty")
}

func (w Who) check(p *problems, at string) {
	switch only := (Who{Kind: w.Kind}); w.Kind {
	case WhoPeople:
		only.People = w.People
		p.unless(len(w.People) > 0, at+".people", "must have 1 to %d entries", MaxPeople)
		p.users(w.People, at+".people", MaxPeople)
		w.alone(p, only, at)
	case WhoGroup:
		only.Group = w.Group
		p.group(w.Group, at+".group")
		w.alone(p, only, at)
	case WhoManager:
		only.Level = w.Level
		p.between(w.Level, 1, MaxLevel, at+".level")
		w.alone(p, only, at)
	case WhoPosition:
		only.Position, only.Department = w.Position, w.Department
		p.words(w.Position, at+".position", MaxValue)
		p.words(w.Department, at+".department", MaxValue)
		w.alone(p, only, at)
	case WhoChannel:
		w.alone(p, only, at)
	default:
		p.add(at+".kind", "must be people, group, manager, position or channel")
	}
}

// alone reports fields of other kinds, which would look as if they counted.
func (w Who) alone(p *problems, only Who, at string) {
	p.unless(len(w.People) == len(only.People) && w.Group == only.Group && w.Level == only.Level &&
		w.Position == only.Position && w.Department == only.Department, at,
		"must have no fields of another kind than %s", w.Kind)
}
