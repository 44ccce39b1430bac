package demo

import (
	"fmt"
	"time"
)

// The tools of the local stack's MCP server, which somebody has to allow first.
const (
	listRooms = "rooms.list_rooms"
	bookRoom  = "rooms.book_room"
)

// meetingWords are one language's about meeting rooms.
type meetingWords struct {
	title, purpose, find, book, privacy string
	listTitle, bookTitle                step
	done, labelRoom, labelNumber        string
	sum                                 string
}

var japaneseMeeting = meetingWords{
	title: "会議室の予約", purpose: "目的: ご依頼「%s」のため、明日 10:00–11:00 の会議室を予約します。",
	find: "空いている会議室を調べます。", book: "最初に見つかった会議室を予約します。どの部屋かは、予約の直前に確認していただきます。",
	privacy:   "取り扱う情報: 会議室の一覧と、予約の件名・日時のみ。",
	listTitle: step{"空いている会議室を調べる", "会議室サーバーから、空いている会議室の一覧を取得する", "会議室のリスト"},
	bookTitle: step{"会議室を予約", "最初に見つかった会議室を予約する", "予約番号"},
	done:      "会議室の予約について、結果をお知らせします。", labelRoom: "会議室", labelNumber: "予約番号",
	sum: "会議室 %v を %v %v–%v に予約しました(予約番号 %v)。",
}

var englishMeeting = meetingWords{
	title: "Book a meeting room", purpose: "Purpose: for the request “%s”, book a meeting room for tomorrow, 10:00–11:00.",
	find: "Look which meeting rooms are free.", book: "Book the first that is found. Which one it is is shown to you right before.",
	privacy:   "Information handled: the list of meeting rooms; subject and time of the booking only.",
	listTitle: step{"Find free meeting rooms", "Fetch the list of free meeting rooms from the server of rooms", "A list of rooms"},
	bookTitle: step{"Book a meeting room", "Book the first room that was found", "The booking's number"},
	done:      "About the meeting room:", labelRoom: "Room", labelNumber: "Booking",
	sum: "The room %v is booked for %v, %v–%v (booking %v).",
}

// meet looks for a room and books it. It returns what the notice says of it.
func (p *planner) meet(now time.Time) []object {
	t := p.wish.words.meeting
	at := object{"date": now.AddDate(0, 0, 1).Format(time.DateOnly), "start": "10:00", "end": "11:00"}
	free := p.add(t.listTitle, listRooms, at)
	booked := p.add(t.bookTitle, bookRoom, object{
		"date": at["date"], "start": at["start"], "end": at["end"], "title": cut(oneLine(p.wish.text), 100), "room_id": ref(free + "rooms.0.id"),
	})
	return []object{{"label": t.labelRoom, "value": ref(booked + "room_id")}, {"label": t.labelNumber, "value": ref(booked + "booking_id")}}
}

// meetingPolicy is the beginning of a policy about a meeting room, and how it goes on.
func (w wish) meetingPolicy() (lines, how []string) {
	t := w.words.meeting
	return []string{fmt.Sprintf(t.purpose, oneLine(w.text))}, []string{t.find, t.book}
}
