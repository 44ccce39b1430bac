package demo

import (
	"fmt"
	"time"

	"ringi/shared/words/legible"
)

// Tools of the local stack's MCP server. An administrator has to allow them first.
const (
	listRooms = "rooms.list_rooms"
	bookRoom  = "rooms.book_room"
)

// meet adds the steps that look for a room and book it, and returns the notice's details.
func (p *planner) meet() []object {
	t := p.reading.words.Topics["meeting"]
	s := p.reading.slot
	when := object{"date": s.day.Format(time.DateOnly), "start": clock(s.start), "end": clock(s.end)}
	free := p.add(p.reading.words.Steps["listRooms"], listRooms, when)
	booked := p.add(p.reading.words.Steps["bookRoom"], bookRoom, object{
		"date": when["date"], "start": when["start"], "end": when["end"], "title": p.reading.booked(),
		"room_id": ref(free + "rooms.0.id"),
	})
	if free == "" || booked == "" {
		return nil
	}
	at := fmt.Sprintf("%s %s–%s", s.day.Format(time.DateOnly), clock(s.start), clock(s.end))
	return []object{{"label": t["labelTime"], "value": at}, {"label": t["labelRoom"], "value": ref(free + "rooms.0.name")},
		{"label": t["labelNumber"], "value": ref(booked + "booking_id")}}
}

// booked is a booking's title: the one that the request quotes, or else what it is for.
func (r reading) booked() string {
	if len(r.quotes) > 0 {
		return legible.Clip(oneLine(r.quotes[0]), 100)
	}
	return r.words.Topics["meeting"]["untitled"]
}

// meetingPolicy returns the first lines of a policy about a meeting room.
func (r reading) meetingPolicy() []string {
	t, s := r.words.Topics["meeting"], r.slot
	lines := []string{fmt.Sprintf(t["when"], s.day.Format(time.DateOnly), clock(s.start), clock(s.end))}
	for _, a := range []struct {
		missing bool
		text    string
	}{{s.noDay, t["assumedDay"]}, {s.noTime, t["assumedTime"]}, {!s.noTime && s.noEnd, t["assumedEnd"]}} {
		if a.missing {
			lines = append(lines, a.text)
		}
	}
	return lines
}
