package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock takes an exclusive lock on the file at path, waiting for other processes, and returns a function that releases
// it. The kernel releases it if the process dies.
func Lock(path string) (unlock func(), err error) { return flock(path, syscall.LOCK_EX) }

// Share takes a shared lock on the file at path.
func Share(path string) (unlock func(), err error) { return flock(path, syscall.LOCK_SH) }

// TryLock is Lock without waiting. ok is false if another process holds a lock.
func TryLock(path string) (unlock func(), ok bool, err error) {
	unlock, err = flock(path, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, nil
	}
	return unlock, err == nil, err
}

func flock(path string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	return func() { f.Close() }, nil
}
