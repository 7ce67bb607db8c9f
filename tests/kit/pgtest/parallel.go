package pgtest

import (
	"strings"
	"sync"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// servers are those of the tests that run side by side. A test has one for itself, as roles, transaction numbers and the sessions that a test looks
// at are those of the whole server.
var servers struct {
	sync.Mutex
	idle []*commandtest.Server
	used map[string]*commandtest.Server // by the name of the test
}

// Parallel lets a test run side by side with others, on a server that no other test uses until it ends. Call it in the place of t.Parallel,
// before anything else.
func Parallel(t *testing.T) {
	t.Helper()
	t.Parallel()
	s, err := take(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { giveBack(t.Name(), s) })
}

func take(test string) (*commandtest.Server, error) {
	s, err := idle()
	if err != nil {
		return nil, err
	}
	servers.Lock()
	defer servers.Unlock()
	if servers.used == nil {
		servers.used = map[string]*commandtest.Server{}
	}
	servers.used[test] = s
	return s, nil
}

// idle is a server that no parallel test uses. It is never the shared one: a test that counts on what its parent made there would pass by luck.
func idle() (*commandtest.Server, error) {
	servers.Lock()
	if last := len(servers.idle) - 1; last >= 0 {
		s := servers.idle[last]
		servers.idle = servers.idle[:last]
		servers.Unlock()
		return s, nil
	}
	servers.Unlock()
	return start()
}

func giveBack(test string, s *commandtest.Server) {
	servers.Lock()
	defer servers.Unlock()
	delete(servers.used, test)
	servers.idle = append(servers.idle, s)
}

// serverOf is the server of a parallel test or of the parallel test that a test is part of, or nil.
func serverOf(test string) *commandtest.Server {
	servers.Lock()
	defer servers.Unlock()
	for {
		if s := servers.used[test]; s != nil {
			return s
		}
		last := strings.LastIndexByte(test, '/')
		if last < 0 {
			return nil
		}
		test = test[:last]
	}
}
