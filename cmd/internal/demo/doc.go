// Package demo shows Sluice at work: it starts a throw-away server, installs
// the sample shop, and drives traffic of the unpleasant kind through its
// inboxes: redeliveries, arrivals out of order, delayed and late messages,
// poison, passing failures, and workers that die between effect and mark.
// With each effect the workers publish an event to an outbox, which a group of
// consumers reads, one of which is killed. Then it compares what happened with what was sent.
//
// The traffic is a Plan, made from a seed before anything is sent. What the
// database holds in the end is an Observation. Verify compares the two, and
// knows neither the server nor the traffic.
package demo
