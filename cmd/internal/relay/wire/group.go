package wire

import (
	"strings"
	"sync"
)

// begun are the groups that sources of this process have opened.
var begun sync.Map

// Group is the identity of a consumer group of a broker.
type Group string

// GroupOf makes the identity of a group: the kind of broker, its address, and the names that the group has there.
func GroupOf(kind string, names ...string) Group {
	return Group(kind + "\x00" + strings.Join(names, "\x00"))
}

// Begin notes that a source has opened the group.
func (g Group) Begin() { begun.Store(g, true) }

// HasBegun reports whether a source of this process has opened the group before. If the broker does not have it any more, it was deleted, such as with its
// stream: a new one then begins at the earliest event, whatever the configuration says of a first one. Otherwise events published meanwhile would be lost.
func (g Group) HasBegun() bool {
	_, has := begun.Load(g)
	return has
}
