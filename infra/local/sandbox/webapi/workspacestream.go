package webapi

// AppendStream adds text to a streaming message of user. It returns MessageNotFound or NotStreaming.
func (w *Workspace) AppendStream(channelID, ts, user, text string) (Message, error) {
	return w.stream(channelID, ts, user, func(m *Message) { m.Text += text })
}

// StopStream ends a streaming message. It appends the patch's text and sets its blocks and metadata unless they are nil.
func (w *Workspace) StopStream(channelID, ts, user string, p Patch) (Message, error) {
	return w.stream(channelID, ts, user, func(m *Message) {
		m.Streaming = false
		if p.Text != nil {
			m.Text += *p.Text
		}
		if p.Blocks != nil {
			m.Blocks = w.fill(p.Blocks)
		}
		if len(p.Metadata) > 0 {
			m.Metadata = p.Metadata
		}
	})
}

func (w *Workspace) stream(channelID, ts, user string, change func(m *Message)) (Message, error) {
	return w.edit(channelID, ts, user, func(m Message) error {
		switch {
		case m.User != user:
			return MessageNotFound
		case !m.Streaming:
			return NotStreaming
		}
		return nil
	}, change)
}

// StopStreams ends the streaming messages of a thread, as Slack does when a person presses stop, and returns their
// timestamps.
func (w *Workspace) StopStreams(channelID, thread string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	stopped := []string{}
	c, err := w.channel(channelID)
	if err != nil {
		return stopped
	}
	for i, m := range c.messages {
		if m.Streaming && m.ThreadTS == thread {
			c.messages[i].Streaming = false
			stopped = append(stopped, m.TS)
		}
	}
	return stopped
}
