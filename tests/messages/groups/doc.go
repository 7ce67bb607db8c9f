// Package groups tries to break what a consumer group guarantees: crowds of consumers and publishers, and random
// operations against a model that knows what may be delivered to whom.
package groups
