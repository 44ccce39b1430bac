package outbound_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"ringi/shared/runtime/expect"
)

// nameserver answers successive questions for an IPv4 address with successive answers, repeating the last one. It knows
// no IPv6 addresses. asked counts the questions.
func nameserver(t *testing.T, answers ...string) (r *net.Resolver, asked *atomic.Int32) {
	t.Helper()
	c := expect.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	asked = new(atomic.Int32)
	done := make(chan struct{})
	t.Cleanup(func() { c.Close(); <-done })
	go func() {
		defer close(done)
		for buffer := make([]byte, 1500); ; {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			reply, address := question(buffer[:n])
			if address {
				to := netip.MustParseAddr(answers[min(int(asked.Add(1)), len(answers))-1]).As4()
				binary.BigEndian.PutUint16(reply[6:], 1) // one answer: the same name, type A, class IN, TTL 0
				reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), to[:]...)
			}
			_, _ = c.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", c.LocalAddr().String())
	}}, asked
}

// question makes a reply, without an answer yet, to a message's question, and reports whether it asks for an IPv4
// address.
func question(m []byte) (reply []byte, address bool) {
	end := 12
	for m[end] != 0 {
		end += 1 + int(m[end])
	}
	end += 5
	reply = append([]byte{m[0], m[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, m[12:end]...)
	return reply, binary.BigEndian.Uint16(m[end-4:]) == 1
}
