package kafka

import (
	"context"
	"net"
	"sync"
)

// gate holds back what a client writes to brokers while it is locked. The client has no way to buffer records without sending them: one that was just flushed
// may go on to send what is buffered next.
type gate struct{ sync.RWMutex }

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// through makes connections whose writes pass the gate. A nil gate is open.
func (g *gate) through(dial dialer) dialer {
	if g == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return gated{conn, g}, nil
	}
}

type gated struct {
	net.Conn
	gate *gate
}

// Write does not keep the gate from being locked, as a broker that hangs may let it take long; what it writes then was buffered before.
func (c gated) Write(b []byte) (int, error) {
	c.gate.RLock()
	c.gate.RUnlock() //nolint:staticcheck // only waits until it is open
	return c.Conn.Write(b)
}
