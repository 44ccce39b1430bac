package main

import (
	"os"
	"sync"
	"time"
)

// printed are the streams of one command.
type printed struct {
	streams []*os.File
	readers sync.WaitGroup
}

// drain waits until all output of a command is read, or two seconds: a process that survives its box would keep the
// pipes open.
func (p *printed) drain() {
	read := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(2 * time.Second):
		p.close()
		<-read
	}
}

func (p *printed) close() {
	for _, f := range p.streams {
		if f != nil {
			f.Close()
		}
	}
}
